import fc from "fast-check";
import { expect, test } from "vitest";
import { JsonText } from "../../../src/core/json/json-text.ts";
import { jsonInTurns } from "../../../src/http/door/answers/large-answer.ts";

/** A tree of JSON values. Some values are already JSON text, and some members are undefined. */
const body = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.jsonValue(),
    fc.jsonValue().map((value) => new JsonText(JSON.stringify(value))),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(fc.string(), fc.oneof(tie("value"), fc.constant(undefined)), { maxKeys: 5, noNullPrototype: true }),
  ),
})).value;

test("a body that is written in pieces has the same bytes as one that is written at once", async () => {
  await fc.assert(
    fc.asyncProperty(body, fc.integer({ min: 1, max: 30 }), async (value, maxPiece) => {
      const written = await jsonInTurns(value, maxPiece);
      expect(Buffer.concat(written).toString()).toBe(JSON.stringify(value));
    }),
  );
});

test("other work runs between two pieces, however many bodies are written", async () => {
  const large = Array.from({ length: 20 }, () => "x".repeat(100));
  let isWritten = false;
  let turns = 0;
  const written = Promise.all([jsonInTurns(large, 100), jsonInTurns(large, 100), jsonInTurns(large, 100)]).then(() => {
    isWritten = true;
  });
  while (!isWritten) {
    await new Promise((resolve) => setImmediate(resolve));
    turns += 1;
  }
  await written;
  expect(turns).toBeGreaterThanOrEqual(60);
});
