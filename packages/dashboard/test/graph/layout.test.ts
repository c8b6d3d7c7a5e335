import { describe, expect, test } from "vitest";
import { edgePath } from "../../src/graph/edge-path.ts";
import { graphOf, stepId } from "../../src/graph/graph.ts";
import { descriptionOfText, type GraphStep, stepsOf, stepsOfText } from "../../src/graph/graph-step.ts";
import { type Layout, layoutOf, type PlacedNode } from "../../src/graph/layout.ts";
import { lanesByStep, regionOf } from "../../src/graph/regions.ts";
import { stepsOfWay } from "../../src/graph/steps-of-way.ts";
import { follow } from "../../src/graph/way.ts";

const step = (name: string, next: string | null | undefined, onFailure?: string): GraphStep => ({
  name,
  type: "/service/noop",
  next: next === undefined ? [] : [{ step: next }],
  onFailure: onFailure === undefined ? [] : [{ step: onFailure, on: [] }],
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
  test("are read with their types and their transitions", () => {
    const steps = [
      { name: "a", integrationDetails: { type: "/service/noop" }, transitionToStep: "b", onFailure: "c" },
      { name: "b", integrationDetails: { type: "/service/waitForEventIds" }, transitionToStep: null },
    ];
    expect(stepsOf({ steps })).toEqual([
      { name: "a", type: "/service/noop", next: [{ step: "b" }], onFailure: [{ step: "c", on: [] }] },
      { name: "b", type: "/service/waitForEventIds", next: [{ step: null }], onFailure: [] },
    ]);
  });

  test("are read with the errors of their transitions, as far as they can be understood", () => {
    const onFailure = [{ on: ["Busy", 5], then: "wait" }, { on: ["Gone"] }, "x", { then: "tell" }];
    expect(stepsOf({ steps: [{ name: "a", onFailure }] })[0]?.onFailure).toEqual([
      { step: "wait", on: ["Busy"] },
      { step: "tell", on: [] },
    ]);
  });

  test("are read with the conditions of their transitions: a missing condition is read as “…”, and an option without a target is left out", () => {
    const choose = [{ if: "output.ok", then: "b" }, { then: null }, { if: "output.later" }, 4];
    const next = (transitionToStep: object) => stepsOf({ steps: [{ name: "a", transitionToStep }] })[0]?.next;
    expect(next({ choose, else: "c" })).toEqual([
      { step: "b", condition: "output.ok" },
      { step: null, condition: "…" },
      { step: "c", condition: "else" },
    ]);
    expect(next({ choose: "output.ok" })).toEqual([]);
  });

  test.each([
    ["no JSON at all", '{"steps": [', undefined],
    ["no object", "[1, 2]", []],
    ["no steps yet", "{}", []],
    ["steps that are no list", '{"steps": 3}', []],
    ["a step without a name", '{"steps": [{"transitionToStep": null}, 4, null]}', []],
    ["two steps of one name", '{"steps": [{"name": "a", "transitionToStep": null}, {"name": "a"}]}', [step("a", null)]],
  ])("a definition that is %s gives the steps that can be understood", (_name, text, steps) => {
    expect(stepsOfText(text)).toEqual(steps?.map((one) => ({ ...one, type: "" })));
  });

  test("the description of a definition is read, and is undefined if it is not a text or the definition is not JSON", () => {
    expect(descriptionOfText('{"description": "For orders.", "steps": []}')).toBe("For orders.");
    expect(descriptionOfText('{"description": 5}')).toBeUndefined();
    expect(descriptionOfText('{"description":')).toBeUndefined();
  });

  test("the steps are derived from a job's way if the definition cannot be read", () => {
    const statuses = ["succeeded", "failed", "succeeded", "running"] as const;
    const runs = ["a", "b", "a", "c"].map((name, index) => ({ name, type: "t", status: statuses[index] ?? "running" }));
    expect(stepsOfWay(runs)).toEqual([
      { name: "a", type: "t", next: [{ step: "b" }, { step: "c" }], onFailure: [] },
      { name: "b", type: "t", next: [], onFailure: [{ step: "a", on: [] }] },
      { name: "c", type: "t", next: [], onFailure: [] },
    ]);
  });

  test("the steps of a job's way are drawn with each transition that the job took, once", () => {
    const names = ["check", "wait", "check", "wait", "check", "ship"];
    const runs = names.map((name) => ({ name, type: "t", status: "succeeded" as const }));
    const { edges } = drawn(...stepsOfWay(runs));
    expect(edges.map(({ from, to }) => `${from} → ${to}`)).toEqual([
      "start → step check",
      "step check → step wait",
      "step check → step ship",
      "step wait → step check",
    ]);
  });
});

describe("the graph", () => {
  test("has a start and an end, and runs from the top down", () => {
    const layout = drawn(step("a", "b"), step("b", null));
    const heights = ["start", "a", "b", "end"].map((name) => placeOf(layout, name).y);
    expect(heights).toEqual(heights.toSorted((one, other) => one - other));
    expect(layout.edges.map(({ id }) => id)).toEqual([
      "start transition step a",
      "step a transition step b",
      "step b transition end",
    ]);
  });

  test("distinguishes transitions after failures, and transitions back", () => {
    const { edges } = drawn(step("a", "b", "mend"), step("b", null), step("mend", "a"));
    const found = (from: string, to: string) => edges.find((edge) => edge.from === from && edge.to === to);
    expect(found("step a", "step mend")).toMatchObject({ kind: "failure", isBack: false });
    expect(found("step mend", "step a")).toMatchObject({ kind: "transition", isBack: true });
  });

  test("draws one line to each step for failures, with their errors", () => {
    const onFailure = [
      { step: "mend", on: ["Busy"] },
      { step: "tell", on: ["Gone"] },
      { step: "mend", on: ["Timeout"] },
      { step: "tell", on: [] },
    ];
    const { edges } = drawn({ ...step("a", null), onFailure }, step("mend", null), step("tell", null));
    const failures = edges.filter(({ kind }) => kind === "failure").map(({ to, on }) => [to, on]);
    expect(failures).toEqual([
      ["step mend", ["Busy", "Timeout"]],
      ["step tell", []],
    ]);
  });

  test("draws one line to each target of a choice, and no labels overlap", () => {
    const when = (step: string | null, condition: string) => ({ step, condition });
    const steps = ["b", "c", "d"].map((name) => step(name, "a"));
    const long = "output.total > 1000 && input.customer.isKnown";
    const ways = [when("b", long), when("c", "output.total > 100"), when("b", "input.isTest"), when("d", "true")];
    const layout = drawn({ ...step("a", null), next: [...ways, when(null, "else")] }, ...steps);
    const chosen = layout.edges.filter(({ from }) => from === stepId("a"));
    expect(chosen.map(({ to, on, label }) => [to.replace("step ", ""), on, label?.text])).toEqual([
      ["b", [long, "input.isTest"], "output.total > 1000 && in… +1"],
      ["c", ["output.total > 100"], "output.total > 100"],
      ["d", ["true"], "true"],
      ["end", ["else"], "else"],
    ]);
    const places = layout.edges.flatMap(({ label }) => label ?? []).toSorted((one, other) => one.x - other.x);
    for (const [index, { text, x, y }] of places.entries()) {
      const next = places[index + 1];
      if (next === undefined || Math.abs(next.y - y) >= 20) continue;
      expect(next.x - x).toBeGreaterThanOrEqual(((text.length + next.text.length) / 2) * 7);
    }
  });

  test("puts the labels of the outer lines of a step one below the other", () => {
    const names = Array.from({ length: 200 }, (_, index) => `s${index}`);
    const [first, ...others] = names.map((name, index) => step(name, names[index + 1] ?? null));
    const far = [150, 160, 170, 180].map((index) => ({ step: `s${index}`, condition: `input.n == ${index}` }));
    const { edges } = drawn(
      { ...(first ?? step("", null)), next: [...far, { step: "s1", condition: "else" }] },
      ...others,
    );
    const led = edges.filter(
      ({ from, to, points }) => from === stepId("s0") && to !== stepId("s1") && points.length <= 4,
    );
    const heights = led.map(({ label }) => label?.y ?? 0).toSorted((one, other) => one - other);
    expect(heights).toHaveLength(3);
    expect(heights.slice(1).map((y, index) => y - (heights[index] ?? 0))).toEqual([20, 20]);
  });

  test("shows a step that leads to itself, and a missing step", () => {
    const layout = drawn(step("a", "a", "nowhere"), step("b", undefined));
    expect(layout.edges.find(({ from, to }) => from === to)).toMatchObject({ isBack: true });
    expect(placeOf(layout, "nowhere")).toMatchObject({ kind: "missing", label: "nowhere" });
  });

  test("an empty definition has an empty graph", () => {
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
      "whose failures lead to the next and whose successes lead to the last",
      (index: number) =>
        step(name(index), index === many - 1 ? null : name(many - 1), index < many - 2 ? name(index + 1) : undefined),
    ],
    [
      "with a loop back from every tenth",
      (index: number) => step(name(index), nextOf(index), index % 10 === 9 ? name(index - 5) : undefined),
    ],
    [
      "each with a choice among three",
      (index: number) => ({
        ...step(name(index), null),
        next: [nextOf(index), name((index * 31) % many), null].map((to) => ({
          step: to,
          condition: `output.n == ${index}`,
        })),
      }),
    ],
    [
      "whose failures lead to steps all over",
      (index: number) => step(name(index), nextOf(index), name((index * 7919) % many)),
    ],
  ])("%s are laid out in time, and none overlap", (_name, sketch) => {
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
    // On an idle machine this takes 150 to 300 ms; the bound leaves room for other work on the machine.
    expect(tookMs).toBeLessThan(10_000);
  });
});

test("arrow keys follow the transitions between steps, and stop where there is none", () => {
  const layout = drawn(step("a", "b", "mend"), step("b", null), step("mend", "a"));
  const keys = (from: string) =>
    ["ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft"].map((key) => follow(layout, stepId(from), key)?.slice(5));
  expect(keys("a")).toEqual(["b", "mend", "mend", "mend"]);
  expect(keys("b")).toEqual([undefined, undefined, "a", "a"]);
  expect(keys("mend")).toEqual(["a", undefined, "a", "a"]);
  const choice = { ...step("a", null), next: ["b", "c", null].map((one) => ({ step: one, condition: "true" })) };
  const choosing = drawn(choice, step("b", null), step("c", null));
  const down = (cameFrom?: string) => follow(choosing, stepId("a"), "ArrowDown", cameFrom && stepId(cameFrom));
  expect([down(), down("b"), down("c")]).toEqual([stepId("b"), stepId("c"), stepId("b")]);
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

describe("branches", () => {
  const fork = (name: string, branches: Readonly<Record<string, string>>, next: string | null): GraphStep => ({
    ...step(name, next),
    branches: Object.entries(branches).map(([branch, first]) => ({ name: branch, step: first })),
  });
  const loop = (name: string, body: string, next: string | null): GraphStep => ({
    ...step(name, next),
    branches: [{ name: undefined, step: body }],
  });
  const steps = [
    loop("each", "check", "report"),
    fork("check", { price: "price", stock: "stock" }, "line"),
    step("price", null),
    step("stock", "reorder", "line"),
    step("reorder", null),
    step("line", null),
    step("report", null),
  ];

  test("are read from the config of their step", () => {
    const integrationDetails = { type: "/service/parallel", config: { branches: { left: "a", right: 5 } } };
    const each = { type: "/service/forEach", config: { items: [], step: "b" } };
    const read = stepsOf({
      steps: [
        { name: "split", integrationDetails },
        { name: "each", integrationDetails: each },
      ],
    });
    expect(read.map(({ branches }) => branches)).toEqual([
      [{ name: "left", step: "a" }],
      [{ name: undefined, step: "b" }],
    ]);
  });

  test("contain the steps that their first step leads to", () => {
    const lanes = lanesByStep(regionOf(steps.map((one) => (one.name === "stock" ? step("stock", "reorder") : one))));
    const found = [...lanes].map(([name, { fork: from, name: branch }]) => `${name}: ${branch ?? "body"} of ${from}`);
    expect(found.sort()).toEqual([
      "check: body of each",
      "line: body of each",
      "price: price of check",
      "reorder: stock of check",
      "stock: stock of check",
    ]);
  });

  test("are drawn in lanes side by side within the frame of their step, and no two steps overlap", () => {
    const layout = drawn(...steps);
    const lanes = layout.frames.filter(({ kind }) => kind === "lane");
    expect(lanes.map(({ label }) => label)).toEqual([undefined, "price", "stock"]);
    const [body, price, stock] = lanes;
    if (body === undefined || price === undefined || stock === undefined) throw new Error("Lanes are missing.");
    const isIn = (frame: typeof body, { x, y, width, height }: typeof body | PlacedNode) =>
      x >= frame.x && y >= frame.y && x + width <= frame.x + frame.width && y + height <= frame.y + frame.height;
    expect(isIn(price, placeOf(layout, "price"))).toBe(true);
    for (const name of ["stock", "reorder"]) expect(isIn(stock, placeOf(layout, name)), name).toBe(true);
    for (const inner of [price, stock, placeOf(layout, "check"), placeOf(layout, "line")])
      expect(isIn(body, inner)).toBe(true);
    expect(price.x + price.width).toBeLessThanOrEqual(stock.x);
    expect(isIn(body, placeOf(layout, "report"))).toBe(false);
    for (const [index, one] of layout.nodes.entries()) {
      for (const other of layout.nodes.slice(index + 1)) expect(overlaps(one, other), one.id + other.id).toBe(false);
    }
    expect(
      layout.edges
        .filter(({ kind }) => kind === "branch")
        .map(({ id }) => id)
        .sort(),
    ).toEqual(["step check branch step price", "step check branch step stock", "step each branch step check"]);
    expect(new Set(layout.nodes.map(({ id }) => id)).size).toBe(layout.nodes.length);
    expect(new Set(layout.edges.map(({ id }) => id)).size).toBe(layout.edges.length);
  });

  test("report a transition to a step of another branch", () => {
    const layout = drawn(
      fork("split", { left: "a", right: "b" }, null),
      step("a", "b"),
      step("b", null),
      step("c", "a"),
    );
    const outside = layout.nodes.filter(({ kind }) => kind === "outside").map(({ label }) => label);
    // `a` and `b` are drawn in the branch `left`, which comes first. A node of the kind `outside` stands for `b` in `right`, and for `a` after `c`.
    expect(outside).toEqual(["b", "a"]);
  });

  test("a branch whose first step is missing is drawn with a node for that step", () => {
    const layout = drawn(fork("split", { left: "a" }, null));
    expect(layout.nodes.filter(({ kind }) => kind === "missing").map(({ label }) => label)).toEqual(["a"]);
  });

  test("can be walked by keys: down into the first, and into the next after coming back", () => {
    const layout = drawn(...steps);
    expect(follow(layout, stepId("check"), "ArrowDown")).toBe(stepId("price"));
    expect(follow(layout, stepId("price"), "ArrowUp")).toBe(stepId("check"));
    expect(follow(layout, stepId("check"), "ArrowDown", stepId("price"))).toBe(stepId("stock"));
    expect(follow(layout, stepId("check"), "ArrowDown", stepId("stock"))).toBe(stepId("line"));
  });

  test("are derived from a job's way if the definition cannot be read", () => {
    const runs = [
      { name: "each", branch: "", hasItems: true },
      { name: "a", branch: "each:1[0]" },
      { name: "a", branch: "each:1[1]" },
      { name: "b", branch: "each:1[0]" },
      { name: "end", branch: "" },
    ].map((run) => ({ ...run, type: "t", status: "succeeded" as const }));
    expect(stepsOfWay(runs)).toEqual([
      { name: "each", type: "t", next: [{ step: "end" }], onFailure: [], branches: [{ name: undefined, step: "a" }] },
      { name: "a", type: "t", next: [{ step: "b" }], onFailure: [] },
      { name: "b", type: "t", next: [], onFailure: [] },
      { name: "end", type: "t", next: [], onFailure: [] },
    ]);
  });
});
