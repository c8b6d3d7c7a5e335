import { expect, test } from "vitest";
import { readTaskId, taskIdOf } from "../../../src/core/job/task-id.ts";

const task = { jobId: "0190b1f0-0000-7000-8000-000000000001", branch: "", step: "work", visit: 1, epoch: 1 };

test("the id of a task names exactly one call", () => {
  const name = {
    jobId: "01980c3e-8f7a-7b52-9d2f-5e1c6a3b7d90",
    branch: "fan-out:1[2]",
    step: "schön",
    visit: 2,
    epoch: 7,
  };
  const id = taskIdOf(name);
  expect(readTaskId(id)).toEqual(name);
  expect(id).toMatch(/^[A-Za-z0-9_-]+$/);
  const json = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const wrong = [
    "",
    "x",
    `${id}=`,
    json({}),
    json(null),
    json([name.jobId, 7.5, 2, "s", ""]),
    json([name.jobId, 7, 2 ** 31, "s", ""]),
  ];
  for (const text of [
    ...wrong,
    json(["a", 7, 2, "s", ""]),
    json([name.jobId, 7, 2, "s"]),
    json([name.jobId, 7, 2, "s", "", 1]),
  ])
    expect(readTaskId(text), text).toBeUndefined();
});

test.each([
  ["a branch with NUL", { branch: "each:1[\u0000]" }],
  ["a step with NUL", { step: "wo\u0000rk" }],
  ["a branch with a line break", { branch: "a\nb" }],
  ["a branch with half a character", { branch: "each:1[\ud800]" }],
  ["a step with half a character", { step: "\udc00" }],
])("an id with %s names no task, since the store cannot hold such text", (_name, part) => {
  expect(readTaskId(taskIdOf({ ...task, ...part }))).toBeUndefined();
});

test("a task id can be read back, whatever valid step and branch it was made from", () => {
  const named = { ...task, step: "Prüfen 注文 🙂", branch: "für alle:1[0]/zweig%2F:2[ä]" };
  expect(readTaskId(taskIdOf(named))).toEqual(named);
});
