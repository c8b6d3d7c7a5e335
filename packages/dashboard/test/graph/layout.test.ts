import { describe, expect, test } from "vitest";
import { edgePath } from "../../src/graph/edge-path.ts";
import { graphOf, stepId } from "../../src/graph/graph.ts";
import { type GraphStep, stepsOf, stepsOfText, stepsOfWay } from "../../src/graph/graph-step.ts";
import { type Layout, layoutOf, type PlacedNode } from "../../src/graph/layout.ts";
import { follow } from "../../src/graph/way.ts";

const step = (name: string, next: GraphStep["next"], onFailure?: string): GraphStep => ({
  name,
  type: "/service/noop",
  next,
  onFailure,
});

function drawn(...steps: GraphStep[]): Layout {
  return layoutOf(graphOf(steps));
}

function placeOf(layout: Layout, name: string): PlacedNode {
  const place = layout.nodes.find(({ id }) => id === stepId(name) || id === name);
  if (place === undefined) throw new Error(`${name} is not drawn`);
  return place;
}

function overlaps(one: PlacedNode, other: PlacedNode): boolean {
  const apart = one.x + one.width <= other.x || other.x + other.width <= one.x;
  return !apart && one.y < other.y + other.height && other.y < one.y + one.height;
}

describe("the steps of a definition", () => {
  test("are read with their type and where they lead", () => {
    const steps = [
      { name: "a", integrationDetails: { type: "/service/noop" }, transitionToStep: "b", onFailure: "c" },
      { name: "b", integrationDetails: { type: "/service/waitForEventIds" }, transitionToStep: null },
    ];
    expect(stepsOf({ steps })).toEqual([
      { name: "a", type: "/service/noop", next: "b", onFailure: "c" },
      { name: "b", type: "/service/waitForEventIds", next: null, onFailure: undefined },
    ]);
  });

  test.each([
    ["no JSON at all", '{"steps": [', undefined],
    ["no object", "[1, 2]", []],
    ["no steps yet", "{}", []],
    ["steps that are no list", '{"steps": 3}', []],
    ["a step without a name", '{"steps": [{"transitionToStep": null}, 4, null]}', []],
    ["two steps of one name", '{"steps": [{"name": "a", "transitionToStep": null}, {"name": "a"}]}', [step("a", null)]],
  ])("of %s are what can be understood", (_name, text, steps) => {
    expect(stepsOfText(text)).toEqual(steps?.map((one) => ({ ...one, type: "" })));
  });

  test("follow from a job's way where the definition may not be seen", () => {
    const runs = ["a", "b", "a", "c"].map((name) => ({ name, type: "t" }));
    expect(stepsOfWay(runs).map(({ name, next }) => [name, next])).toEqual([
      ["a", "b"],
      ["b", "a"],
      ["c", undefined],
    ]);
  });
});

describe("the graph", () => {
  test("begins and ends, and goes from the top down", () => {
    const layout = drawn(step("a", "b"), step("b", null));
    const heights = ["start", "a", "b", "end"].map((name) => placeOf(layout, name).y);
    expect(heights).toEqual(heights.toSorted((one, other) => one - other));
    expect(layout.edges.map(({ id }) => id)).toEqual([
      "start transition step a",
      "step a transition step b",
      "step b transition end",
    ]);
  });

  test("tells ways that failures take, and ways back", () => {
    const { edges } = drawn(step("a", "b", "mend"), step("b", null), step("mend", "a"));
    const found = (from: string, to: string) => edges.find((edge) => edge.from === from && edge.to === to);
    expect(found("step a", "step mend")).toMatchObject({ kind: "failure", isBack: false });
    expect(found("step mend", "step a")).toMatchObject({ kind: "transition", isBack: true });
  });

  test("shows a step that leads to itself, and one that is missing", () => {
    const layout = drawn(step("a", "a", "nowhere"), step("b", undefined));
    expect(layout.edges.find(({ from, to }) => from === to)).toMatchObject({ isBack: true });
    expect(placeOf(layout, "nowhere")).toMatchObject({ kind: "missing", label: "nowhere" });
  });

  test("of nothing is nothing", () => {
    expect(layoutOf(graphOf([]))).toMatchObject({ nodes: [], edges: [] });
  });

  test("is the same each time", () => {
    const steps = [step("a", "b", "c"), step("b", "a"), step("c", null)];
    expect(drawn(...steps)).toEqual(drawn(...steps));
  });
});

const many = 500;
const name = (index: number) => `s${index}`;
const nextOf = (index: number) => (index === many - 1 ? null : name(index + 1));

describe("500 steps", () => {
  test.each([
    ["in a row", (index: number) => step(name(index), nextOf(index))],
    [
      "whose failures all lead to the last",
      (index: number) => step(name(index), nextOf(index), index < many - 1 ? name(many - 1) : undefined),
    ],
    ["whose failures all lead back to the first", (index: number) => step(name(index), nextOf(index), name(0))],
    [
      "of which each fails to the next and succeeds to the last",
      (index: number) =>
        step(name(index), index === many - 1 ? null : name(many - 1), index < many - 2 ? name(index + 1) : undefined),
    ],
    [
      "with a loop back from every tenth",
      (index: number) => step(name(index), nextOf(index), index % 10 === 9 ? name(index - 5) : undefined),
    ],
    ["of which each leads anywhere", (index: number) => step(name(index), nextOf(index), name((index * 7919) % many))],
  ])("%s are laid out in time, and none lies over another", (_name, sketch) => {
    const steps = Array.from({ length: many }, (_, index) => sketch(index));
    const graph = graphOf(steps);
    const began = performance.now();
    const layout = layoutOf(graph);
    const tookMs = performance.now() - began;
    expect(layout.nodes).toHaveLength(many + 2);
    expect(layout.edges).toHaveLength(graph.edges.length);
    expect(layout.edges.filter(({ points }) => points.length < 2)).toEqual([]);
    const rows = layout.nodes.toSorted((one, other) => one.y - other.y);
    const overlapping = rows.filter((node, index) =>
      rows.slice(index + 1, index + 40).some((other) => overlaps(node, other)),
    );
    expect(overlapping).toEqual([]);
    // Alone it takes 150 to 300 ms; the machine may have other things to do.
    expect(tookMs).toBeLessThan(10_000);
  });
});

test("arrow keys follow the ways between steps, and stay where none leads on", () => {
  const layout = drawn(step("a", "b", "mend"), step("b", null), step("mend", "a"));
  const keys = (from: string) =>
    ["ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft"].map((key) => follow(layout, stepId(from), key)?.slice(5));
  expect(keys("a")).toEqual(["b", "mend", "mend", "mend"]);
  expect(keys("b")).toEqual([undefined, undefined, "a", "a"]);
  expect(keys("mend")).toEqual(["a", undefined, "a", "a"]);
  expect(follow(layout, stepId("b"), "Home")).toBe(stepId("a"));
  expect(follow(layout, stepId("a"), "End")).toBe(stepId("mend"));
  expect(follow(layout, stepId("a"), "x")).toBeUndefined();
});

test("a line has rounded corners", () => {
  const corner = [
    { x: 0, y: 0 },
    { x: 100, y: 0 },
    { x: 100, y: 100 },
  ];
  expect(edgePath(corner)).toBe("M0,0L86,0Q100,0 100,14L100,100");
  expect(edgePath([])).toBe("");
});
