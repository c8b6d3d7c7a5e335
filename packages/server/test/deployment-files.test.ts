import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readConfig, settings } from "../src/config.ts";
import { describeUnknownVariables } from "../src/environment.ts";

const root = resolve(import.meta.dirname, "../../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");
const release = (JSON.parse(read("packages/cli/package.json")) as { version: string }).version;
const drainSeconds = Number(settings.drainSeconds.fallback);

/** A start with these variables must give no warning. Secrets are left out, since they come from files that are missing here. */
function expectGoodSettings(environment: Readonly<Record<string, string>>): void {
  expect(Object.keys(environment).length).toBeGreaterThan(0);
  expect(describeUnknownVariables(environment)).toEqual([]);
  const withoutFiles = Object.entries(environment).filter(([name]) => !name.endsWith("_FILE"));
  expect(() => readConfig(Object.fromEntries(withoutFiles))).not.toThrow();
  const fileVariables = Object.values(settings).map(({ fileVariable }) => fileVariable);
  for (const name of Object.keys(environment)) if (name.endsWith("_FILE")) expect(fileVariables).toContain(name);
}

describe("deploy/Dockerfile", () => {
  const stages = read("deploy/Dockerfile")
    .replaceAll("\\\n", " ")
    .split(/^FROM /m)
    .slice(1);
  const last = stages.at(-1) ?? "";
  const copied = stages.flatMap((stage) =>
    [...stage.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, files = ""]) => files.split(" ")),
  );

  test("copies only files that exist and that .dockerignore does not exclude", () => {
    const letIn = [...read(".dockerignore").matchAll(/^!(.+)$/gm)].map(([, path = ""]) => path);
    for (const path of letIn) expect(existsSync(join(root, path)), path).toBe(true);
    for (const file of copied.filter((path) => path !== ".")) {
      expect(existsSync(join(root, file)), file).toBe(true);
      expect(
        letIn.some((path) => file === path || file.startsWith(`${path}/`)),
        file,
      ).toBe(true);
    }
  });

  test("builds with every folder that `npm run build` reads", () => {
    const letIn = [...read(".dockerignore").matchAll(/^!(.+)$/gm)].map(([, path = ""]) => path);
    expect(letIn).toEqual(expect.arrayContaining(["docs", "examples", "packages", "scripts"]));
  });

  test("installs with the manifest of every package, which `npm ci` requires", () => {
    const { workspaces } = JSON.parse(read("package.json")) as { workspaces: readonly string[] };
    expect(copied).toEqual(expect.arrayContaining(workspaces.map((name) => `${name}/package.json`)));
  });

  test("includes every package that the service needs at run time", () => {
    const taken = [...last.matchAll(/^COPY --from=build \/stepwell\/(\S+)\/dist/gm)].map(([, path = ""]) => path);
    const needed = new Set(["packages/cli"]);
    for (const path of needed) {
      const { dependencies = {} } = JSON.parse(read(`${path}/package.json`)) as { dependencies?: object };
      for (const name of Object.keys(dependencies)) {
        const ours = readdirSync(join(root, "packages")).find((folder) => name === `@stepwell/${folder}`);
        if (ours !== undefined) needed.add(`packages/${ours}`);
      }
    }
    expect(taken.toSorted()).toEqual([...needed].toSorted());
    const [, selected = ""] = /npm ci .*--omit=dev (.*?)&&/.exec(stages.join("")) ?? [];
    for (const path of needed) expect(selected).toContain(`--workspace ${path}`);
  });

  test("sets every required setting, and runs as a user without rights, by its numeric id", () => {
    const [, variables = ""] = /^ENV (.+)$/m.exec(last) ?? [];
    expectGoodSettings(Object.fromEntries(variables.split(/\s+/).map((pair) => pair.split("=") as [string, string])));
    expect(last).toMatch(/^USER 10001:10001$/m);
    expect(last.indexOf("\nUSER ")).toBeGreaterThan(last.lastIndexOf("\nRUN "));
  });
});

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly environment: Readonly<Record<string, string>>;
        readonly secrets: readonly string[];
        readonly volumes?: readonly string[];
        readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
        readonly stop_grace_period: string;
        readonly read_only?: boolean;
        readonly healthcheck?: object;
        readonly build?: { readonly context: string; readonly dockerfile: string };
      }
    >
  >;
  readonly volumes: object;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

describe("deploy/compose.yaml", () => {
  const { services, volumes, secrets } = parse(read("deploy/compose.yaml")) as Compose;
  const { stepwell, postgres } = services;

  test("passes every secret as a file that the operator creates", () => {
    for (const { environment, secrets: named } of Object.values(services)) {
      expect(Object.keys(secrets)).toEqual(expect.arrayContaining([...named]));
      for (const [name, value] of Object.entries(environment)) {
        if (/PASSWORD|SECRET|DATABASE_URL/.test(name)) expect(name).toMatch(/_FILE$/);
        if (name.endsWith("_FILE")) expect(named.map((secret) => `/run/secrets/${secret}`)).toContain(value);
      }
    }
    for (const { file } of Object.values(secrets)) expect(existsSync(join(root, "deploy", file)), file).toBe(false);
  });

  test("sets every required setting", () => {
    const plain = Object.entries(stepwell?.environment ?? {}).map(([name, value]) => [
      name,
      value.replace(/\$\{\w+:-(.*)\}/, "$1"),
    ]);
    expectGoodSettings(Object.fromEntries(plain));
  });

  test("starts the service when PostgreSQL is healthy, and gives the service time to drain", () => {
    expect(stepwell?.depends_on).toEqual({ postgres: { condition: "service_healthy" } });
    expect(postgres?.healthcheck).toBeDefined();
    expect(stepwell?.read_only).toBe(true);
    expect(Number(/^(\d+)s$/.exec(stepwell?.stop_grace_period ?? "")?.[1])).toBeGreaterThan(drainSeconds);
  });

  test("keeps PostgreSQL's data in a volume, and builds from existing files", () => {
    const [volume = ""] = (postgres?.volumes?.[0] ?? "").split(":");
    expect(Object.keys(volumes)).toContain(volume);
    const { context = "", dockerfile = "" } = stepwell?.build ?? {};
    expect(existsSync(join(root, "deploy", context, dockerfile))).toBe(true);
  });
});

test("deploy/stepwell.service sets every required setting, and gives the service time to drain", () => {
  const unit = read("deploy/stepwell.service");
  const variables = [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]);
  expectGoodSettings(Object.fromEntries(variables));
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(drainSeconds);
  const named = [...unit.matchAll(/%d\/(\w+)$/gm)].map(([, name]) => name);
  expect([...unit.matchAll(/^LoadCredential=(\w+):/gm)].map(([, name]) => name)).toEqual(named);
});

describe("deploy/helm/stepwell", () => {
  const chart = "deploy/helm/stepwell";
  const templates = globSync(`${chart}/templates/*`, { cwd: root }).map(read).join("\n");
  const values = parse(read(`${chart}/values.yaml`)) as Record<string, unknown>;

  test("has the version of the packages", () => {
    expect(parse(read(`${chart}/Chart.yaml`))).toMatchObject({ version: release, appVersion: release });
  });

  test("has values that fit its schema, which rejects mistyped ones", () => {
    const validate = new Ajv({ strict: false }).compile(JSON.parse(read(`${chart}/values.schema.json`)) as object);
    expect(validate(values), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ ...values, replica: 3 })).toBe(false);
    expect(validate({ ...values, settings: { STEPWELL_POLL_MS: 500 } })).toBe(false);
  });

  test("uses every value, and no other", () => {
    const used = new Set([...templates.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = ""]) => path));
    const there = pathsOf(values);
    for (const path of used) expect(there.has(path), `${path} is used`).toBe(true);
    const leaves = [...there].filter((path) => ![...there].some((other) => other.startsWith(`${path}.`)));
    const unused = leaves.filter((path) => ![...used].some((one) => path === one || path.startsWith(`${one}.`)));
    expect(unused).toEqual([]);
  });

  test("sets every required setting", () => {
    const named = [...templates.matchAll(/^\s+- name: ((?:STEPWELL|DATABASE)_\w+)$/gm)].map(([, name = ""]) => name);
    expectGoodSettings(Object.fromEntries(named.map((name) => [name, ""])));
  });

  test("keeps the environment variables of other Services out, and runs as the user of the image", () => {
    expect(templates).toMatch(/^ {6}enableServiceLinks: false$/m);
    const [, user] = /^USER (\d+):/m.exec(read("deploy/Dockerfile")) ?? [];
    expect(templates).toContain(`runAsUser: ${user}\n`);
    expect(templates).toMatch(/^ {12}readOnlyRootFilesystem: true$/m);
  });

  test("gives the series of a PodMonitor the `job` label that the alerts select", () => {
    const [, label = ""] = /^ {2}jobLabel: (.+)$/m.exec(read(`${chart}/templates/podmonitor.yaml`)) ?? [];
    const [, job] = new RegExp(`^${label}: (.+)$`, "m").exec(read(`${chart}/templates/_labels.tpl`)) ?? [];
    const jobs = [...read("deploy/prometheus/alerts.yaml").matchAll(/job="(\w+)"/g)].map(([, name]) => name);
    expect(new Set(jobs)).toEqual(new Set([job]));
  });

  test("gives a pod time until load balancers drop it, and time to drain", () => {
    const numberOf = (pattern: RegExp) => Number(pattern.exec(templates)?.[1]);
    const graceSeconds = numberOf(/terminationGracePeriodSeconds: (\d+)/);
    expect(graceSeconds).toBeGreaterThan(numberOf(/command: \[sleep, "(\d+)"\]/) + drainSeconds);
  });
});

/** The paths of all values, such as `image` and `image.tag`. */
function pathsOf(values: object, prefix = ""): ReadonlySet<string> {
  const paths = Object.entries(values).flatMap(([name, value]) => {
    const path = `${prefix}${name}`;
    const isBranch = typeof value === "object" && value !== null && !Array.isArray(value);
    return [path, ...(isBranch ? pathsOf(value, `${path}.`) : [])];
  });
  return new Set(paths);
}

interface Alert {
  readonly alert: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook_url: string };
}

test("each alert has its own name, an urgency, and a section of troubleshooting.md that names it", () => {
  const { groups } = parse(read("deploy/prometheus/alerts.yaml")) as { groups: { rules: Alert[] }[] };
  const alerts = groups.flatMap(({ rules }) => rules);
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  const sections = new Map(
    read("docs/troubleshooting.md")
      .split(/^## /m)
      .map((section) => [section.split("\n", 1)[0]?.toLowerCase().replaceAll(" ", "-"), section]),
  );
  for (const { alert, labels, annotations } of alerts) {
    expect(["critical", "warning"]).toContain(labels.severity);
    expect(annotations).toMatchObject({
      summary: expect.stringMatching(/\.$/),
      description: expect.stringMatching(/\.$/),
    });
    const [, anchor] = /docs\/troubleshooting\.md#(.+)$/.exec(annotations.runbook_url) ?? [];
    expect(sections.get(anchor), `${alert}: ${anchor}`).toContain(`\`${alert}\``);
  }
});

test("troubleshooting.md quotes only log lines that the service writes", () => {
  const sources = globSync("packages/server/src/**/*.ts", { cwd: root }).map(read).join("\n");
  const quoted = [...read("docs/troubleshooting.md").matchAll(/`"([^"`]+)"`/g)].map(([, line = ""]) => line);
  expect(quoted.length).toBeGreaterThan(8);
  expect(quoted.filter((line) => !sources.includes(`"${line}"`))).toEqual([]);
});
