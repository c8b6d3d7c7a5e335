import type { ApiDocument } from "@stepwell/testing/api/document.ts";
import { type TestService, type TestUser, useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test } from "vitest";
import { hashAlone } from "../../../src/auth/passwords/password-hasher.ts";
import { examples } from "../../../src/http/examples/examples.ts";
import { ids } from "../../../src/http/examples/story.ts";
import { setPassword } from "../../../src/store/people/user-credentials.ts";
import { insertUser } from "../../../src/store/people/users.ts";
import { type Scene, type Stage, story } from "./example-story.ts";

onOneStore((home) => {
  const service = useService(home);

  test("every operation has an example of each body, and each example fits its schema", async () => {
    const document = await service.client(undefined).document();
    const shown = new Set<string>();
    for (const { operationId, declaration } of document.operations) {
      const { requestBody } = declaration;
      if (requestBody !== undefined) {
        const { example } = requestBody.content["application/json"] ?? {};
        expect(example, `${operationId} has no example of a request`).toBeDefined();
        expect(document.errorsOfRequest(operationId, example), `the request of ${operationId}`).toEqual([]);
        shown.add(operationId);
      }
      const answer = exampleOfAnswer(document, operationId);
      if (answer === undefined) continue;
      const { status, mediaType, example } = answer;
      expect(example, `${operationId} has no example of an answer`).toBeDefined();
      const errors = document.errorsOfAnswer(operationId, status, mediaType, example);
      expect(errors, `the answer of ${operationId}`).toEqual([]);
      shown.add(operationId);
    }
    expect(Object.keys(examples).filter((operationId) => !shown.has(operationId))).toEqual([]);
  });

  test("the examples tell one story, with every operation once", async () => {
    const { operations } = await service.client(undefined).document();
    const played = story.map(({ operationId }) => operationId as string);
    expect(played.toSorted()).toEqual(operations.map(({ operationId }) => operationId).toSorted());
  });

  test("a service answers the requests of the examples with the documented answers", async () => {
    const values = new Map<string, string>();
    const cast = { ada: await newPerson(service, "Ada"), grace: await newPerson(service, "Grace") };
    const document = await cast.ada.client.document();
    for (const scene of story) {
      const { operationId } = scene;
      const stage = stageOf(service, cast.ada, values);
      await scene.before?.(stage);
      const { requestBody } = document.operation(operationId).declaration;
      const { client } = cast[scene.caller ?? "ada"];
      const { body, status } = await client.call<unknown>(operationId, {
        params: realIn({ organizationId: ids.organization, ...scene.params }, stage),
        query: realIn(scene.query ?? {}, stage),
        ...(requestBody && { body: bodyOf(requestBody.content["application/json"]?.example, scene, stage) }),
      });
      const expected = exampleOfAnswer(document, operationId);
      expect(String(status), operationId).toBe(expected?.status ?? "204");
      if (expected === undefined) continue;
      learn(expected.example, body, values);
      // The answer may have more fields than the example, because some appear only after a while, such as the time at which a worker polled.
      expect(fieldsOf(body), operationId).toEqual(expect.arrayContaining(fieldsOf(expected.example)));
    }
  });
});

interface AnswerExample {
  readonly status: string;
  readonly mediaType: string;
  readonly example: unknown;
}

/** Returns the example of the operation's successful answer; undefined if that answer has no body. */
function exampleOfAnswer(document: ApiDocument, operationId: string): AnswerExample | undefined {
  const { responses } = document.operation(operationId).declaration;
  const found = Object.entries(responses).filter(([status, { content }]) => status < "300" && content !== undefined);
  const [status, { content }] = found.at(-1) ?? ["", { content: undefined }];
  const [mediaType, media] = Object.entries(content ?? {})[0] ?? [];
  return media === undefined || mediaType === undefined ? undefined : { status, mediaType, example: media.example };
}

const password = "correct horse battery staple";

async function newPerson(service: TestService, name: string): Promise<TestUser> {
  const { database, engine } = service.running;
  const [userId, createdAt] = [engine.newId(), engine.now()];
  const email = `${name.toLowerCase()}@acme.example`;
  await insertUser(database, { userId, email, displayName: name, createdAt });
  await setPassword(database, userId, await hashAlone(password), createdAt);
  const made = await service.newUserToken(userId);
  return { userId, ...made, client: service.client(made.token) };
}

function stageOf(service: TestService, ada: TestUser, values: Map<string, string>): Stage {
  const real = (value: string) => values.get(value) ?? value;
  const api = ada.client.bind({ organizationId: real(ids.organization) });
  return { service, ada, api, real, replace: (value, other) => void values.set(value, other) };
}

function bodyOf(example: unknown, scene: Scene, stage: Stage): unknown {
  return realIn({ ...(example as object), ...scene.body?.(stage) }, stage);
}

/** Replaces the ids and secrets of the examples by those of the service. */
function realIn<Value>(value: Value, stage: Stage): Value {
  const text = JSON.stringify(value).replace(/[\w-]{16,}/g, (part) => stage.real(part));
  return JSON.parse(text) as Value;
}

/** Returns the names of an object's fields, or the name of the type of any other value. */
function fieldsOf(body: unknown): string[] {
  return typeof body === "object" && body !== null ? Object.keys(body) : [typeof body];
}

/** Records the service's value for each id or secret that the example shows for the first time. */
function learn(example: unknown, found: unknown, values: Map<string, string>): void {
  if (typeof example === "string" && typeof found === "string") {
    if (/^[\w-]{16,}$/.test(example) && !values.has(example)) values.set(example, found);
  } else if (typeof example === "object" && typeof found === "object" && example !== null && found !== null) {
    for (const [key, item] of Object.entries(example)) learn(item, (found as Record<string, unknown>)[key], values);
  }
}
