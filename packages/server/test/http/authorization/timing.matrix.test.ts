import { randomUUID } from "node:crypto";
import { attemptOf, newPerson, signInAt } from "@stepwell/testing/people.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { canBeToldApart, type Question } from "@stepwell/testing/time/timing.ts";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { createInvitationCode, createToken } from "../../../src/auth/credentials/token-form.ts";
import { setDisabled } from "../../../src/store/people/user-credentials.ts";
import { buildWorld, rows, unknownId, type World } from "./authorization-rows.ts";

// A comparison of two requests takes three rounds, each of hundreds of answers.
vi.setConfig({ testTimeout: 600_000 });

/** Answers about existing people and things must take as long as answers about missing ones. */
onOneStore((home) => {
  const service = useService(home, {
    STEPWELL_MAX_REFUSALS_PER_MINUTE: "0",
    STEPWELL_ORGANIZATION_REQUESTS_PER_MINUTE: "0",
    STEPWELL_TOKEN_REQUESTS_PER_MINUTE: "0",
  });

  describe("at the sign-in", () => {
    const wrong = { password: "some other password" };
    const hashCount = 120;
    /**
     * This clock is far from the clocks of other tests, and advances with each attempt, so that wrong passwords never block an account.
     */
    let now = Date.UTC(2031, 0, 1);
    const later = () => {
      now += 24 * 60 * 60_000;
      return now;
    };

    function attemptAt(email: () => string, changes = wrong): Question {
      const signIn = signInAt(service, later);
      return () => signIn.attempt(attemptOf({ email: email() }, changes));
    }

    const nobody = () => `${randomUUID()}@example.org`;

    test.each<[string, () => Promise<string>]>([
      ["a user whose password is another", async () => (await newPerson(service)).email],
      ["a user without a password", async () => (await newPerson(service, null)).email],
      [
        "a disabled user",
        async () => {
          const { userId, email } = await newPerson(service);
          await setDisabled(service.running.database, userId, now);
          return email;
        },
      ],
    ])("%s cannot be distinguished from an unknown account", async (_name, make) => {
      const email = await make();
      expect(
        await canBeToldApart(
          attemptAt(() => email),
          attemptAt(nobody),
          hashCount,
        ),
      ).toBe(false);
    });

    test("the test detects a rejection without a hash, so it would find a check that ends early", async () => {
      const early = attemptAt(nobody, { password: "" });
      expect(await canBeToldApart(early, attemptAt(nobody), hashCount)).toBe(true);
    });
  });

  describe("at operations that take an id", () => {
    const count = 600;
    let own: World;
    let foreign: World;

    beforeAll(async () => {
      own = await buildWorld(service);
      foreign = await buildWorld(service);
    }, 60_000);

    const named = Object.entries(rows).filter(([, row]) => row.names === undefined);
    const questions = [
      "GetWorkflow",
      "GetWorkflowVersion",
      "GetJob",
      "SendJobEvent",
      "GetApiToken",
      "GetMember",
      "GetRole",
      "GetInvitation",
    ];

    test.each(questions)(
      "%s takes the same time for another organization's resources as for none",
      async (operationId) => {
        const row = named.find(([name]) => name === operationId)?.[1];
        if (row === undefined) throw new Error(`${operationId} names nothing.`);
        const unknownIds = Object.fromEntries(Object.keys(own.ids).map((name) => [name, unknownId])) as World["ids"];
        const ask = (ids: World["ids"]): Question => {
          const options = { ...row.call(ids), status: 404 };
          return () => own.organization.api.call(operationId, options);
        };
        expect(await canBeToldApart(ask(foreign.ids), ask(unknownIds), count)).toBe(false);
      },
    );

    test("another organization cannot be distinguished from one that does not exist", async () => {
      const ask = (organizationId: string): Question => {
        const there = own.organization.api.bind({ organizationId });
        return () => there.call("GetOrganization", { status: 404 });
      };
      expect(await canBeToldApart(ask(foreign.ids.organizationId), ask(unknownId), count)).toBe(false);
    });

    test("a token with an existing organization's or user's id and a wrong secret cannot be distinguished from one with an unknown id", async () => {
      const ask = (kind: "organization" | "user", ownerId: string): Question => {
        return () => service.client(createToken(kind, ownerId).token).call("WhoAmI", { status: 401 });
      };
      const { organizationId, owner } = own.organization;
      expect(await canBeToldApart(ask("organization", organizationId), ask("organization", unknownId), count)).toBe(
        false,
      );
      expect(await canBeToldApart(ask("user", owner.userId), ask("user", unknownId), count)).toBe(false);
    });

    test("an invitation's link with an existing organization's id and a wrong secret cannot be distinguished from one with an unknown id", async () => {
      const { client } = await service.newUser();
      const ask = (organizationId: string): Question => {
        return () =>
          client.call("AcceptInvitation", {
            body: { invitation: createInvitationCode(organizationId).code },
            status: 404,
          });
      };
      expect(await canBeToldApart(ask(own.ids.organizationId), ask(unknownId), count)).toBe(false);
    });

    test("the test detects an id that is rejected without a look-up in the store", async () => {
      const { api } = own.organization;
      const look = () => api.call("GetJob", { params: { jobId: unknownId }, status: 404 });
      const early = () => api.call("GetJob", { params: { jobId: "no-id" }, status: 404 });
      expect(await canBeToldApart(early, look, count)).toBe(true);
    });
  });
});
