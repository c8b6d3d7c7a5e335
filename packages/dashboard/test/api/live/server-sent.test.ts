import fc from "fast-check";
import { expect, test } from "vitest";
import { ServerSentReader } from "../../../src/api/live/server-sent.ts";

const text =
  ': the history follows\n\nid: 1\nevent: job.submitted\ndata: {"a": "ä: b"}\n\n: still here\n\nid: 2\r\ndata: one\r\ndata: two\r\n\r\nid: 3\ndata: unfinished\n';

const events = [
  { type: "job.submitted", data: '{"a": "ä: b"}' },
  { type: "", data: "one\ntwo" },
];

test("only complete events are returned, comments are skipped, and the rest is kept for later", () => {
  expect(new ServerSentReader().read(text)).toEqual(events);
});

test("events are read correctly wherever the text is cut", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: text.length })), (cuts) => {
      const places = [0, ...cuts.toSorted((one, other) => one - other), text.length];
      const reader = new ServerSentReader();
      const read = places.flatMap((place, index) => reader.read(text.slice(places[index - 1] ?? 0, place)));
      expect(read).toEqual(events);
    }),
  );
});
