import { once } from "node:events";
import { Readable } from "node:stream";
import { rowsOfAction } from "@stepwell/testing/audit-rows.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import type { FastifyRequest } from "fastify";
import { pino } from "pino";
import { expect, test } from "vitest";
import { ServiceError } from "../../../src/core/service-error.ts";
import { AuditDenials } from "../../../src/http/door/audit-denials.ts";

onOneStore((home) => {
  const service = useService(home);

  test("a denial is recorded even if the client hung up before its body was read", async () => {
    const { organizationId } = await service.newOrganization();
    const { database, engine } = service.running;
    const raw = new Readable({ read() {} });
    raw.destroy();
    await once(raw, "close");
    const request = {
      method: "POST",
      id: "hung-up",
      ip: "192.0.2.1",
      headers: {},
      params: { organizationId },
      routeOptions: { schema: { operationId: "CreateRole" }, config: {}, bodyLimit: 1_000 },
      caller: { principal: { type: "user", id: engine.newId() } },
      server: { engine },
      raw,
    } as unknown as FastifyRequest;
    const denied = new ServiceError("AuthorizationError", "no");
    await new AuditDenials(database, pino({ level: "silent" })).record(denied, request);
    expect(await rowsOfAction(service, organizationId, "CreateRole")).toMatchObject([{ outcome: "denied" }]);
  });
});
