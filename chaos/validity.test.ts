import { expect, test } from "vitest";
import { finished, info, soundOperations, submissionOf, submit } from "./check/sound-campaign.ts";
import { reasonsWhyVoid, tallyOf } from "./validity.ts";

test("a campaign is void if some of the situations that it should provoke did not occur", () => {
  const reasons = reasonsWhyVoid(tallyOf(soundOperations()), 0);
  expect(reasons).toEqual(["no key was replayed", "no event came early", "no fault occurred during a request"]);
});

test("a campaign in which too few operations succeeded is void", () => {
  const lost = Array.from({ length: 9 }, (_, at) => submit(submissionOf(finished), info, at));
  expect(reasonsWhyVoid(tallyOf([...soundOperations(), ...lost]), 1)).toContain(
    "only 42 % of the operations succeeded",
  );
});

test("a campaign without any operation is void", () => {
  expect(reasonsWhyVoid(tallyOf([]), 1)).toContain("no operation was recorded");
});
