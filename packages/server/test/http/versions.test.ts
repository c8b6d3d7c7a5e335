import { expect, test } from "vitest";
import { definitionOf, noopStep, straightDefinition, waitStep } from "../support/definitions.ts";
import { registerVersion } from "../support/flow.ts";
import { useService } from "../support/service.ts";
import { onEveryStore } from "../support/stores.ts";

interface Step {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** One step that is valid but for what `changes` says. */
function stepWith(changes: object): string {
  return definitionOf({ ...(noopStep("a", null) as Step), ...changes });
}

function definitionsWith(definitions: object): string {
  return JSON.stringify({ ...JSON.parse(straightDefinition), definitions });
}

/** Reliability and security, group D. The definition's own rules have their tables of cases in `test/core`. */
onEveryStore((home) => {
  const service = useService(home);

  async function newWorkflow() {
    const { api } = await service.newOrganization();
    const { body } = await api.call<{ workflowId: string }>("RegisterWorkflow", { body: { name: "w" } });
    return { api, params: { workflowId: body.workflowId } };
  }

  test("versions are numbered from 1, kept byte for byte, and listed newest first without their definitions", async () => {
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

  test("parallel registrations get numbers without gaps", async () => {
    const { api, params } = await newWorkflow();
    const versions = await Promise.all(
      Array.from({ length: 10 }, () => registerVersion(api, params.workflowId, straightDefinition)),
    );
    expect(versions.map((version) => version.versionNumber).sort((a, b) => a - b)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
    ]);
  });

  test("D41 a definition that is an object and not a string is 400", async () => {
    const { api, params } = await newWorkflow();
    const body = { definition: JSON.parse(straightDefinition) };
    const { body: problem } = await api.refused("RegisterWorkflowVersion", "ValidationError", { params, body });
    expect(problem.errors).toEqual([{ pointer: "/definition", detail: "must be a string" }]);
  });

  test.each([
    ["D42 text that is not JSON", "{", ""],
    ["D43 JSON in a string in JSON", JSON.stringify(straightDefinition), ""],
    ["D44 no steps", definitionOf(), "/steps"],
    ["D45 a name that two steps have", definitionOf(noopStep("a", "a2"), noopStep("a", null)), "/steps/1/name"],
    ["D46 a transition to nowhere", definitionOf(noopStep("a", "b")), "/steps/0/transitionToStep"],
    ["D48 a step that is never reached", definitionOf(noopStep("a", null), noopStep("b", null)), "/steps/1"],
    [
      "D49 a type that nobody carries out",
      stepWith({ integrationDetails: { type: "/service/xyz" } }),
      "/steps/0/integrationDetails/type",
    ],
    ["D51 no event ids", definitionOf(waitStep("a", [], null)), "/steps/0/integrationDetails/config/eventIds"],
    ["D51 an empty event id", definitionOf(waitStep("a", [""], null)), "/steps/0/integrationDetails/config/eventIds/0"],
    [
      "D51 an event id twice",
      definitionOf(waitStep("a", ["x", "x"], null)),
      "/steps/0/integrationDetails/config/eventIds/1",
    ],
    [
      "D52 a $ref out into the network",
      definitionsWith({ any: { $ref: "http://169.254.169.254/" } }),
      "/definitions/any",
    ],
    ["D52 a $ref into a file", definitionsWith({ any: { $ref: "file:///etc/passwd" } }), "/definitions/any"],
    ["D53 a $ref that leads to itself", definitionsWith({ any: { $ref: "#/definitions/any" } }), "/definitions/any"],
    ["D54 $data", definitionsWith({ any: { type: "string", maxLength: { $data: "1/x" } } }), "/definitions/any"],
    ["D56 a type that is none", definitionsWith({ any: { type: "int" } }), "/definitions/any"],
  ])("%s is 400 with a pointer into the definition", async (_name, definition, pointer) => {
    const { api, params } = await newWorkflow();
    const options = { params, body: { definition } };
    const { body: problem } = await api.refused("RegisterWorkflowVersion", "ValidationError", options);
    expect(problem.errors?.some((error) => error.pointer.startsWith(pointer))).toBe(true);
    const checked = await api.call("ValidateWorkflowVersion", options);
    expect(checked.body).toMatchObject({ valid: false, errors: problem.errors });
    expect((await api.call("ListWorkflowVersions", { params })).body).toEqual({ versions: [] });
  });

  test("every problem is told at once", async () => {
    const { api, params } = await newWorkflow();
    const definition = definitionOf(noopStep("a", "nowhere"), waitStep("b", [], "elsewhere"));
    const options = { params, body: { definition } };
    const { body: problem } = await api.refused("RegisterWorkflowVersion", "ValidationError", options);
    expect(problem.errors?.length).toBeGreaterThanOrEqual(3);
  });

  test("D57 a definition over 512 KiB is 400 at once", async () => {
    const { api, params } = await newWorkflow();
    const startedAt = performance.now();
    const definition = `${straightDefinition}${" ".repeat(512 * 1024)}`;
    await api.refused("RegisterWorkflowVersion", "ValidationError", { params, body: { definition } });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test("a check says that a valid definition is valid, and keeps nothing", async () => {
    const { api, params } = await newWorkflow();
    const checked = await api.call("ValidateWorkflowVersion", { params, body: { definition: straightDefinition } });
    expect(checked.body).toMatchObject({ valid: true, errors: [] });
    expect((await api.call("ListWorkflowVersions", { params })).body).toEqual({ versions: [] });
  });

  test("a version of another workflow is unknown under this one", async () => {
    const { api, params } = await newWorkflow();
    const { body: other } = await api.call<{ workflowId: string }>("RegisterWorkflow", { body: { name: "other" } });
    const { versionId } = await registerVersion(api, other.workflowId, straightDefinition);
    await api.refused("GetWorkflowVersion", "NotFoundError", { params: { ...params, versionId } });
  });
});
