import { expect, test } from "vitest";
import { WaitingPlaces } from "../../../src/engine/reading/waiting-places.ts";

function placesOf(maxCount: number, maxCountOf: (organizationId: string) => number = () => maxCount) {
  const places = new WaitingPlaces({ maxCount, maxCountOf });
  /** Takes all available places. Returns them, and the error that the next attempt gets. */
  const takeAll = (organizationId: string) => {
    const taken: (() => void)[] = [];
    for (;;) {
      try {
        taken.push(places.take(organizationId));
      } catch (error) {
        return { taken, error };
      }
    }
  };
  return { places, takeAll };
}

test("after an organization has taken as many places as it can, places are left for the next one, and for the one after that", () => {
  const { places, takeAll } = placesOf(20);
  const counts = ["a", "b", "c", "d"].map((organizationId) => takeAll(organizationId).taken.length);
  expect(counts).toEqual([10, 5, 3, 1]);
  expect(places.count).toBe(19);
  expect(() => places.take("a")).toThrow(
    expect.objectContaining({
      code: "RateLimitError",
      message: expect.stringContaining("STEPWELL_MAX_WAITING_REQUESTS"),
    }),
  );
});

test("an organization can have only its own maximum of places, and the error names the maximum", () => {
  const { takeAll } = placesOf(20, (organizationId) => (organizationId === "small" ? 2 : 20));
  const { taken, error } = takeAll("small");
  expect(taken).toHaveLength(2);
  expect(error).toMatchObject({
    code: "RateLimitError",
    message: expect.stringMatching(
      /^2 requests .*--max waitingRequests=NUMBER.*STEPWELL_MAX_WAITING_REQUESTS_PER_ORGANIZATION/,
    ),
  });
});

test("a place that is returned twice is free only once, and a node without a free place reports that", () => {
  const { places } = placesOf(1);
  const leave = places.take("a");
  expect(() => places.take("b")).toThrow(expect.objectContaining({ code: "UnavailableError" }));
  leave();
  leave();
  expect([places.count, places.countOf("a")]).toEqual([0, 0]);
  places.take("b");
  expect(() => places.take("a")).toThrow(expect.objectContaining({ code: "UnavailableError" }));
});
