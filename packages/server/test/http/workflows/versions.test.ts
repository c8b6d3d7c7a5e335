import { rowsOfRequest } from "@stepwell/testing/audit-rows.ts";
import {
  definitionOf,
  failingDefinition,
  noopStep,
  straightDefinition,
  waitStep,
} from "@stepwell/testing/definitions.ts";
import { registerVersion } from "@stepwell/testing/flow.ts";
import { said } from "@stepwell/testing/notes.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { timeLimit } from "@stepwell/testing/time-limit.ts";
import { expect, test } from "vitest";

interface NewVersion {
  readonly versionId: string;
  readonly versionNumber: number;
  readonly created: boolean;
  readonly warnings: readonly Position[];
}

interface Position {
  readonly line: number;
  readonly column: number;
  readonly offset: number;
}

interface Step {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** Makes a definition with one step that is valid except for `changes`. */
function stepWith(changes: object): string {
  return definitionOf({ ...(noopStep("a", null) as Step), ...changes });
}

function definitionsWith(definitions: object): string {
  return JSON.stringify({ ...JSON.parse(straightDefinition), definitions });
}

interface CheckedDefinition {
  readonly valid: boolean;
  readonly errors: readonly Position[];
  readonly warnings: readonly Position[];
  readonly messages: readonly string[];
}

/** The number stands in the text exactly as it is given. */
function definitionWithBound(minimum: string): string {
  const text = JSON.stringify({ any: { type: "object", properties: { count: { type: "number", minimum: 0 } } } });
  return straightDefinition.replace(JSON.stringify({ any: { type: "object" } }), text.replace(":0}", `:${minimum}}`));
}

function readable(definition: string): string {
  return JSON.stringify(JSON.parse(definition), undefined, 2);
}

function reordered(definition: string): string {
  return JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(definition)).reverse()), undefined, 2);
}

/** The rules for definitions are tested in `test/core`. */
onOneStore((home) => {
  const service = useService(home);

  async function newWorkflow() {
    const { api } = await service.newOrganization();
    const { body } = await api.call<{ workflowId: string }>("RegisterWorkflow", { body: { name: "test" } });
    return { api, params: { workflowId: body.workflowId } };
  }

  test("versions are numbered from 1, stored byte for byte, and listed newest first without their definitions", async () => {
    const { api, params } = await newWorkflow();
    const spaced = `${JSON.stringify(JSON.parse(straightDefinition), undefined, 3)}\r\n  `;
    const first = await registerVersion(api, params.workflowId, spaced);
    const second = await registerVersion(api, params.workflowId, straightDefinition);
    expect([first.versionNumber, second.versionNumber]).toEqual([1, 2]);
    const read = await api.call("GetWorkflowVersion", { params: { ...params, versionId: first.versionId } });
    expect(read.body).toMatchObject({ versionNumber: 1, definition: spaced, tags: [] });
    const { body } = await api.call<{ versions: { versionNumber: number }[] }>("ListWorkflowVersions", { params });
    expect(body.versions.map((version) => version.versionNumber)).toEqual([2, 1]);
    expect(body.versions.every((version) => !("definition" in version))).toBe(true);
  });

  test("simultaneous registrations get numbers without gaps", async () => {
    const { api, params } = await newWorkflow();
    const versions = await Promise.all(
      Array.from({ length: 10 }, () => registerVersion(api, params.workflowId, straightDefinition)),
    );
    expect(versions.map((version) => version.versionNumber).sort((a, b) => a - b)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ]);
  });

  test("a registration creates a version each time, also of the same text", async () => {
    const { api, params } = await newWorkflow();
    for (const versionNumber of [1, 2]) {
      const options = { params, body: { definition: straightDefinition } };
      const { status, body } = await api.call("RegisterWorkflowVersion", options);
      expect({ status, body }).toMatchObject({ status: 201, body: { versionNumber, created: true } });
    }
  });

  test("with ifChanged a definition that equals that of the newest version registers nothing, and adds no audit entry", async () => {
    const { api, params } = await newWorkflow();
    const register = (definition: string) =>
      api.call<NewVersion>("RegisterWorkflowVersion", { params, query: { ifChanged: true }, body: { definition } });
    const first = await register(definitionWithBound("1"));
    expect(first).toMatchObject({ status: 201, body: { versionNumber: 1, created: true } });
    expect(await rowsOfRequest(first, service)).toHaveLength(1);

    for (const same of [definitionWithBound("1"), definitionWithBound("1.0"), reordered(definitionWithBound("1"))]) {
      const again = await register(same);
      expect(again).toMatchObject({ status: 200, body: { ...first.body, created: false } });
      expect(await rowsOfRequest(again, service)).toEqual([]);
    }
    expect((await register(definitionWithBound("2"))).body).toMatchObject({ versionNumber: 2, created: true });
    // Only the newest version counts: going back to an earlier definition is a change.
    expect((await register(definitionWithBound("1"))).body).toMatchObject({ versionNumber: 3, created: true });
  });

  test("if many requests register with ifChanged at the same moment, one creates a version, and all answer with it", async () => {
    const { api, params } = await newWorkflow();
    const options = { params, query: { ifChanged: true }, body: { definition: straightDefinition } };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => api.call<NewVersion>("RegisterWorkflowVersion", options)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(7).fill(200), 201]);
    expect(new Set(answers.map(({ body }) => body.versionId)).size).toBe(1);
  });

  test("with ifChanged a repetition under one Idempotency-Key gets the first answer", async () => {
    const { api, params } = await newWorkflow();
    const headers = { "idempotency-key": "k" };
    const options = { params, query: { ifChanged: true }, headers, body: { definition: straightDefinition } };
    const first = await api.call("RegisterWorkflowVersion", options);
    expect(await api.call("RegisterWorkflowVersion", options)).toMatchObject({ status: 201, body: first.body });
  });

  test("with ifChanged an invalid definition is rejected with the same errors as without ifChanged", async () => {
    const { api, params } = await newWorkflow();
    await registerVersion(api, params.workflowId, straightDefinition);
    for (const definition of ["{", definitionOf(noopStep("a", "nowhere"))]) {
      const body = { definition };
      const plain = await api.refused("RegisterWorkflowVersion", "ValidationError", { params, body });
      const query = { ifChanged: true };
      const { body: problem } = await api.refused("RegisterWorkflowVersion", "ValidationError", {
        params,
        query,
        body,
      });
      expect(problem.errors).toEqual(plain.body.errors);
    }
  });

  test("with ifChanged an unchanged definition is not rejected by a check that is newer than its registration", async () => {
    const { api, params } = await newWorkflow();
    const { versionId } = await registerVersion(api, params.workflowId, straightDefinition);
    const definition = definitionOf(noopStep("a", "nowhere"));
    await service.running.database.query(said("UPDATE workflow_version SET definition = $2 WHERE version_id = $1"), [
      versionId,
      definition,
    ]);
    const options = { params, query: { ifChanged: true }, body: { definition } };
    expect((await api.call("RegisterWorkflowVersion", options)).body).toMatchObject({ versionId, created: false });
  });

  test("a definition that is an object and not a string is 400", async () => {
    const { api, params } = await newWorkflow();
    const body = { definition: JSON.parse(straightDefinition) };
    const { body: problem } = await api.refused("RegisterWorkflowVersion", "ValidationError", { params, body });
    expect(problem.errors).toEqual([{ pointer: "/definition", detail: "must be a string" }]);
  });

  test.each([
    ["text that is not JSON", "{", ""],
    ["JSON in a string in JSON", JSON.stringify(straightDefinition), ""],
    ["no steps", definitionOf(), "/steps"],
    ["a name that two steps have", definitionOf(noopStep("a", "a2"), noopStep("a", null)), "/steps/1/name"],
    ["a transition to an unknown step", definitionOf(noopStep("a", "b")), "/steps/0/transitionToStep"],
    ["a step that is never reached", definitionOf(noopStep("a", null), noopStep("b", null)), "/steps/1"],
    [
      "a type without an executor",
      stepWith({ integrationDetails: { type: "/service/xyz" } }),
      "/steps/0/integrationDetails/type",
    ],
    ["no event ids", definitionOf(waitStep("a", [], null)), "/steps/0/integrationDetails/config/eventIds"],
    ["an empty event id", definitionOf(waitStep("a", [""], null)), "/steps/0/integrationDetails/config/eventIds/0"],
    [
      "an event id twice",
      definitionOf(waitStep("a", ["x", "x"], null)),
      "/steps/0/integrationDetails/config/eventIds/1",
    ],
    ["a $ref out into the network", definitionsWith({ any: { $ref: "http://169.254.169.254/" } }), "/definitions/any"],
    ["a $ref into a file", definitionsWith({ any: { $ref: "file:///etc/passwd" } }), "/definitions/any"],
    ["a $ref that leads to itself", definitionsWith({ any: { $ref: "#/definitions/any" } }), "/definitions/any"],
    ["$data", definitionsWith({ any: { type: "string", maxLength: { $data: "1/x" } } }), "/definitions/any"],
    ["an invalid type", definitionsWith({ any: { type: "int" } }), "/definitions/any"],
  ])("%s is 400 with a pointer into the definition", async (_name, definition, pointer) => {
    const { api, params } = await newWorkflow();
    const options = { params, body: { definition } };
    const { body: problem } = await api.refused("RegisterWorkflowVersion", "ValidationError", options);
    expect(problem.errors?.some((error) => error.pointer.startsWith(pointer))).toBe(true);
    const checked = await api.call("ValidateWorkflowVersion", options);
    expect(checked.body).toMatchObject({ valid: false, errors: problem.errors });
    expect((await api.call("ListWorkflowVersions", { params })).body).toEqual({ versions: [] });
  });

  test("all problems are reported at once", async () => {
    const { api, params } = await newWorkflow();
    const definition = definitionOf(noopStep("a", "nowhere"), waitStep("b", [], "elsewhere"));
    const options = { params, body: { definition } };
    const { body: problem } = await api.refused("RegisterWorkflowVersion", "ValidationError", options);
    expect(problem.errors?.length).toBeGreaterThanOrEqual(3);
  });

  test("each error and each warning has its line, its column and its offset in the text of the definition", async () => {
    const { api, params } = await newWorkflow();
    const errorsOf = async (definition: string) => {
      const options = { params, body: { definition } };
      const { body: problem } = await api.refused("RegisterWorkflowVersion", "ValidationError", options);
      const { body } = await api.call<CheckedDefinition>("ValidateWorkflowVersion", options);
      expect(body.errors).toEqual(problem.errors);
      return body.errors;
    };
    expect(await errorsOf('{\n  "workflowName": nobody\n}')).toMatchObject([{ line: 2, column: 19, offset: 20 }]);
    const nowhere = readable(definitionOf(noopStep("a", "nowhere")));
    const [error] = await errorsOf(nowhere);
    expect(nowhere.slice(error?.offset)).toMatch(/^"transitionToStep": "nowhere"/);
    expect(nowhere.split("\n")[(error?.line ?? 0) - 1]?.slice((error?.column ?? 0) - 1)).toMatch(/^"transitionToStep"/);

    const definition = readable(failingDefinition);
    const { body } = await api.call<NewVersion>("RegisterWorkflowVersion", { params, body: { definition } });
    expect(body.warnings.length).toBeGreaterThan(0);
    for (const { line, column, offset } of body.warnings) {
      const before = definition.slice(0, offset).split("\n");
      expect({ line, column }).toEqual({ line: before.length, column: (before.at(-1)?.length ?? 0) + 1 });
    }
  });

  test("a definition over 512 KiB is 400 at once", async () => {
    const { api, params } = await newWorkflow();
    const startedAt = performance.now();
    const definition = `${straightDefinition}${" ".repeat(512 * 1024)}`;
    await api.refused("RegisterWorkflowVersion", "ValidationError", { params, body: { definition } });
    expect(performance.now() - startedAt).toBeLessThan(timeLimit(5_000));
  });

  test("a check accepts a valid definition, and stores nothing", async () => {
    const { api, params } = await newWorkflow();
    const checked = await api.call("ValidateWorkflowVersion", { params, body: { definition: straightDefinition } });
    expect(checked.body).toEqual({ valid: true, errors: [], warnings: [], messages: [] });
    expect((await api.call("ListWorkflowVersions", { params })).body).toEqual({ versions: [] });
  });

  test("a check also gives each problem as a sentence, first the errors and then the warnings", async () => {
    const { api, params } = await newWorkflow();
    const check = async (definition: string) => {
      const { body } = await api.call<CheckedDefinition>("ValidateWorkflowVersion", { params, body: { definition } });
      expect(body.messages).toHaveLength(body.errors.length + body.warnings.length);
      return body;
    };
    const wrong = await check(definitionOf(noopStep("a", "b"), noopStep("a", "c")));
    expect(wrong.messages[0]).toMatch(
      /^Error at \/steps\/0\/transitionToStep \(line 1, column \d+\): there is no step `b`.*[.?]$/,
    );
    expect((await check("{")).messages).toEqual([expect.stringMatching(/^Error: .*\.$/)]);
    const { valid, errors, warnings, messages } = await check(failingDefinition);
    expect({ valid, errors }).toEqual({ valid: true, errors: [] });
    expect(warnings.length).toBeGreaterThan(0);
    expect(messages[0]).toMatch(/^Warning at \/steps\/1[^ ]* \(line 1, column \d+\): .*\.$/);
  });

  test("a definition with a different name than its workflow is valid, with a warning at that name", async () => {
    const { api, params } = await newWorkflow();
    const definition = readable(straightDefinition).replace('"workflowName": "test"', '"workflowName": "tset"');
    const remark = { pointer: "/workflowName", detail: expect.stringContaining("which is `test`"), line: 2, column: 3 };
    for (const operation of ["ValidateWorkflowVersion", "RegisterWorkflowVersion"]) {
      const { body } = await api.call<CheckedDefinition>(operation, { params, body: { definition } });
      expect(body.warnings).toEqual([expect.objectContaining(remark)]);
    }
  });

  test("a version of another workflow is unknown under this workflow", async () => {
    const { api, params } = await newWorkflow();
    const { body: other } = await api.call<{ workflowId: string }>("RegisterWorkflow", { body: { name: "other" } });
    const { versionId } = await registerVersion(api, other.workflowId, straightDefinition);
    await api.refused("GetWorkflowVersion", "NotFoundError", { params: { ...params, versionId } });
  });
});
