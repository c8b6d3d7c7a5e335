import { GeneratedClient } from "@stepwell/testing/api/generated-client.ts";
import { HttpProxy, type Way } from "@stepwell/testing/proxies/http-proxy.ts";
import { scope } from "@stepwell/testing/scope.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildWorld, type World } from "../authorization/authorization-rows.ts";
import { type Prepared, type RepetitionRow, repetitionRows } from "./repetition-rows.ts";

/** On each of these networks, the first two attempts of a call fail, and the third one succeeds. */
const badNetworks: readonly (readonly Way[])[] = [
  ["answer-lost", "answer-refused"],
  ["refused", "answer-lost"],
  ["lost", "refused"],
];
/** `npm test` tries only the first network. There, the service carries out the first attempt and its answer is lost, so the service gets each later attempt as a repetition. */
const triedNetworks = scope === "all" ? badNetworks : badNetworks.slice(0, 1);

/** Clients that are generated from a REST-JSON model repeat a call under the same id after a broken connection or a 503. */
onOneStore((home) => {
  const service = useService(home);
  let proxy: HttpProxy;
  let world: World;

  beforeAll(async () => {
    proxy = await HttpProxy.before(service.baseUrl);
    world = await buildWorld(service);
  }, 60_000);
  afterAll(() => proxy.stop());

  async function clientOf({ token }: Pick<Prepared, "token">): Promise<GeneratedClient> {
    return new GeneratedClient(proxy.url, token, await world.organization.api.document());
  }

  test("every POST of the document has its row, and every row its POST", async () => {
    const { operations } = await world.organization.api.document();
    const posts = operations.filter(({ method }) => method === "POST").map(({ operationId }) => operationId);
    expect(Object.keys(repetitionRows).sort()).toEqual(posts.sort());
  });

  describe.each(triedNetworks.map((ways) => [ways.join(", then "), ways] as const))("over a network: %s", (_, ways) => {
    test.each(Object.entries(repetitionRows))("%s has one effect", async (operationId, row) => {
      const { token, input, count, works } = await row.prepare(world, service);
      const client = await clientOf({ token });
      const before = await count();
      proxy.expect(...ways);
      const sending = client.send(operationId, input);
      const isGone = row.repetition === "not-found" && ways.some((way) => way.startsWith("answer"));
      if (isGone) await expect(sending).rejects.toMatchObject({ name: "NotFoundError", $metadata: { attempts: 3 } });
      const answer = isGone ? undefined : await sending;
      expect((await count()) - before).toBe(row.growth);
      const answered = proxy.exchanges.flatMap(({ answer: given }) => (given === undefined ? [] : [given]));
      if (isGone) return;
      expect(proxy.exchanges).toHaveLength(ways.length + 1);
      expectRepetition(row, answered, answer);
      if (works === undefined) return;
      const bodies = answered.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
      expect(bodies.at(-1)).toEqual(answer);
      for (const lost of bodies.slice(0, -1)) expect(await works(lost)).toBe(false);
      expect(await works(answer ?? {})).toBe(true);
    });
  });

  function expectRepetition(
    { repetition }: RepetitionRow,
    answered: readonly NonNullable<HttpProxy["exchanges"][number]["answer"]>[],
    answer: unknown,
  ): void {
    const marks = answered.map(({ headers }) => headers["idempotency-replayed"]);
    const [first] = answered;
    if (repetition === "replayed") {
      expect(marks).toEqual(answered.map((_, index) => (index === 0 ? undefined : "true")));
      expect(new Set(answered.map(({ status, headers }) => `${status} ${headers.location}`)).size).toBe(1);
      expect(answer).toEqual(first?.body === "" ? null : JSON.parse(first?.body ?? ""));
    } else expect(marks).toEqual(answered.map(() => undefined));
  }
});
