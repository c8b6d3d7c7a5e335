import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parser } from "@prometheus-io/lezer-promql";
import { definitionOf, failingDefinition, straightDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { findFreePort } from "@stepwell/testing/free-port.ts";
import { TestService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { PlainWorker, taskStep } from "../tasks/tasks.ts";

const root = resolve(import.meta.dirname, "../../../../..");

interface Query {
  /** The name of the alert or the panel that contains the query. */
  readonly place: string;
  readonly text: string;
}

interface Selection {
  readonly metric: string;
  /** The labels that the selection uses, with the values that it names. */
  readonly labels: ReadonlyMap<string, readonly string[]>;
}

interface AlertFile {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

interface Board {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
}

const alerts = parse(readFileSync(`${root}/deploy/prometheus/alerts.yaml`, "utf8")) as AlertFile;
const board = JSON.parse(readFileSync(`${root}/deploy/grafana/stepwell.json`, "utf8")) as Board;
const queries: readonly Query[] = [
  ...alerts.groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ place: alert, text: expr }))),
  ...board.panels.flatMap(({ title, targets = [] }) =>
    // Where PromQL needs a duration, the board has Grafana's variable `$__rate_interval`.
    targets.map(({ expr }) => ({ place: title, text: expr.replaceAll("$__rate_interval", "5m") })),
  ),
];

onOneStore((home) => {
  let service: TestService;
  /** The labels of each series of a metric, by the metric's name. */
  let series: ReadonlyMap<string, readonly Readonly<Record<string, string>>[]>;

  beforeAll(async () => {
    const metricsPort = await findFreePort();
    service = new TestService(home, {
      STEPWELL_METRICS_PORT: String(metricsPort),
      STEPWELL_ORGANIZATION_REQUESTS_PER_MINUTE: "300",
    });
    await service.start();
    await workALittle(service);
    series = readSeries(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text());
  }, 60_000);
  afterAll(() => service.stop());

  test.each(queries)("$place uses only metrics and labels that a service really reports", ({ text }) => {
    const selections = selectionsOf(text);
    expect(selections.length).toBeGreaterThan(0);
    for (const { metric, labels } of selections) {
      const found = series.get(metric) ?? [];
      expect(found.length, metric).toBeGreaterThan(0);
      for (const [label, values] of labels) {
        const there = found.flatMap((one) => one[label] ?? []);
        expect(there.length, `${label} of ${metric}`).toBeGreaterThan(0);
        expect(there, `${label} of ${metric}`).toEqual(expect.arrayContaining([...values]));
      }
    }
  });

  test("the documents name only metrics that a service reports", () => {
    const named = globSync("docs/**/*.md", { cwd: root }).flatMap((file) =>
      [...readFileSync(`${root}/${file}`, "utf8").matchAll(/`((?:stepwell|process|nodejs)_[a-z0-9_]+)[`{]/g)].map(
        ([, name = ""]) => name,
      ),
    );
    const told = new Set([...series.keys()].flatMap((name) => [name, name.replace(/_(bucket|sum|count)$/, "")]));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !told.has(name))).toEqual([]);
  });
});

/** Does a little of everything that is counted: a counter has a series only after its first count. */
async function workALittle(service: TestService): Promise<void> {
  const { api } = await service.newOrganization();
  const straight = await deploy(api, straightDefinition);
  await submitAndWait(api, straight.workflowId);
  const { body } = await api.call<{ jobId: string }>("GetJob", {
    params: { jobId: (await submitAndWait(api, straight.workflowId)).jobId },
  });
  await api.call("ListJobs");
  const failing = await deploy(api, failingDefinition);
  expect((await submitAndWait(api, failing.workflowId)).status).toBe("FAILED");
  const tasks = await deploy(api, definitionOf(taskStep("work", { queue: "q" }, null)));
  await api.call("SubmitJob", { body: { workflowId: tasks.workflowId } });
  await new PlainWorker(api).next();
  await api.callAny("SendJobEvent", { params: { jobId: body.jobId }, body: { eventId: "late" } });
  await fetch(`${service.baseUrl}/health/ready`);
  // Each request counts as ten. Even if a new minute begins meanwhile, one of the two minutes gets more than its limit.
  const ask = async () => await api.callAny("GetMetrics", { query: { metric: "jobs_failed" } });
  const answers = await Promise.all(Array.from({ length: 80 }, ask));
  expect(answers.map(({ status }) => status)).toContain(429);
}

function selectionsOf(query: string): readonly Selection[] {
  const selections: { metric: string; labels: Map<string, readonly string[]> }[] = [];
  const groupings: string[] = [];
  const textOf = ({ from, to }: { from: number; to: number }) => query.slice(from, to);
  parser.parse(query).iterate({
    enter: ({ name, type, node }) => {
      if (type.isError) throw new Error(`This is not PromQL at ${node.from}: ${query}`);
      if (name === "VectorSelector") {
        const metric = node.getChild("Identifier");
        if (metric !== null) selections.push({ metric: textOf(metric), labels: new Map() });
      }
      if (name === "UnquotedLabelMatcher") {
        const [, label = "", value = ""] = /^(\w+)\s*[=!~]+\s*"(.*)"$/.exec(textOf(node)) ?? [];
        if (!outsideLabels.includes(label)) selections.at(-1)?.labels.set(label, namesIn(label, value));
      }
      if (name === "LabelName" && node.parent?.name === "GroupingLabels") {
        if (!outsideLabels.includes(textOf(node))) groupings.push(textOf(node));
      }
    },
  });
  // Every query of the alerts and the board groups all its selections by the same labels.
  for (const { labels } of selections) {
    for (const label of groupings) if (!labels.has(label)) labels.set(label, []);
  }
  return selections;
}

/** Prometheus itself adds these labels to each series. */
const outsideLabels = ["job", "instance"];

/** Returns the values that a matcher names. HTTP statuses are left out, since one such as 503 occurs only after a failure. */
function namesIn(label: string, value: string): readonly string[] {
  return label !== "status" && /^\w+(\|\w+)*$/.test(value) ? value.split("|") : [];
}

/** Reads the text format of Prometheus, and adds `up`, as Prometheus does for each target. */
function readSeries(text: string): ReadonlyMap<string, readonly Readonly<Record<string, string>>[]> {
  const found = new Map<string, Record<string, string>[]>([["up", [{}]]]);
  for (const [, name = "", labels = ""] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = "", value = ""]) => [
      label,
      value,
    ]);
    found.set(name, [...(found.get(name) ?? []), Object.fromEntries(pairs)]);
  }
  return found;
}
