/**
 * Writes a file like `schema-20.json.gz` for a build: runs its service on a PostgreSQL server of its own, makes a store by its HTTP API, with jobs
 * in many different states, kills the node, and exports all rows. The build is a clone that was built. `schema-8.json.gz` is of commit 5048d70,
 * `schema-17.json.gz` of c0df69a, `schema-20.json.gz` of a build on the way to 353ac00b, each written by this program as it was then.
 *
 *   node packages/server/test/http/earlier-store/write.ts CLONE
 */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { Client } from "@stepwell/testing/client.ts";
import { definitionOf, noopStep } from "@stepwell/testing/definitions.ts";
import { type JobBody, type RegisteredVersion, registerVersion } from "@stepwell/testing/flow.ts";
import { findFreePort } from "@stepwell/testing/free-port.ts";
import { FunctionServer } from "@stepwell/testing/functions/function-server.ts";
import { rightPassword as password } from "@stepwell/testing/people.ts";
import { ServiceProcess } from "@stepwell/testing/processes/service-process.ts";
import { openStoreHomes } from "@stepwell/testing/processes/store-home.ts";
import { signIn } from "@stepwell/testing/sign-in.ts";
import pg from "pg";
import { type AskedAnswer, type EarlierStore, type EarlierTable, fixtureFile, readAll } from "./fixture.ts";
import { AcmeProvider } from "./identity-provider.ts";
import {
  chainDefinition,
  costlyDefinition,
  functionAnswers,
  hastyDefinition,
  orderDefinition,
  patientDefinition,
  reviewDefinition,
  roundsDefinition,
  severalDefinition,
} from "./workflows.ts";

const [, , clone = ""] = process.argv;
const program = [join(clone, "packages/cli/dist/main.js")];

/** The state of a job. A state that names large values by their numbers is in a column of its own. */
const state = "coalesce(short_state, state)";

const functions = await FunctionServer.start(functionAnswers(() => {}));
const homes = await openStoreHomes("postgres");
const home = await homes.fresh();
const port = await findFreePort();
const baseUrl = `http://localhost:${port}`;
const environment: Record<string, string> = {
  ...home.environment,
  ...functions.environment,
  STEPWELL_PORT: String(port),
  STEPWELL_BASE_URL: baseUrl,
  STEPWELL_MAX_BODY_BYTES: String(4 * 1024 * 1024),
  // Two held calls use up the limit, so a third call waits on the node, and further jobs stay PENDING.
  STEPWELL_MAX_CALLS_PER_ORGANIZATION: "2",
  STEPWELL_MAX_QUEUED_CALLS: "1",
};

const owner = makeOwner("ada@example.org");
const provider = await AcmeProvider.start();
const providersFile = join(home.dataDir, "providers.json");
writeFileSync(providersFile, JSON.stringify([provider.entryFor(owner.organizationId)]));
const service = new ServiceProcess({
  home,
  port,
  program,
  command: "serve",
  environment: { ...environment, STEPWELL_SIGN_IN_PROVIDERS_FILE: providersFile },
});
await service.ready();
const database = new pg.Client({ connectionString: environment.DATABASE_URL });
await database.connect();

/** Definitions that can be registered only by early builds, or only by later ones. */
const onlySome = { costly: costlyDefinition, review: reviewDefinition };

const api = new Client(baseUrl, owner.token, { organizationId: owner.organizationId });
const jobIds: Record<string, string> = {};
const workflowIds: Record<string, string> = {};
const keyedAnswers: EarlierStore["keyedAnswers"][number][] = [];

const member = await invite("grace@example.org");
await api.as(await provider.bearerToken()).call("ListJobs");
const versions = await deployAll();
const apiTokens = await makeTokens();
await finishJobs();
await restJobs();
const other = await fillOtherOrganization();
const oneEvent = await tokenFor({ boundTo: { jobEvent: { jobId: jobIds.waiting ?? "", eventId: "approved" } } }, [
  "job:event:send",
]);
const jobAnswers = await askJobs();
await sealed();
await crowd();
const answers = await askOrganization();
await stopAmidChains();

const account = await database.query("SELECT user_id, email FROM app_user");
const userIdOf = (email: string) => account.rows.find((row) => row.email === email).user_id as string;
const fixture: EarlierStore = {
  schema: (await database.query("SELECT max(number) AS schema FROM schema_migration")).rows[0].schema,
  writtenAt: new Date().toISOString(),
  secretKey: environment.STEPWELL_SECRET_KEY ?? "",
  owner: { userId: userIdOf(owner.email), email: owner.email, password, token: owner.token },
  outsiderId: userIdOf("linus@acme.test"),
  member: { userId: userIdOf(member.email), email: member.email, password, token: member.token },
  organizationId: owner.organizationId,
  otherOrganizationId: other.organizationId,
  apiTokens: { ...apiTokens, oneEvent, other: other.token },
  workflowIds,
  jobIds,
  jobAnswers,
  answers,
  keyedAnswers,
  tables: await exportTables(),
};
const content = gzipSync(JSON.stringify(fixture), { level: 9 });
writeFileSync(fixtureFile(fixture.schema), content);
process.stdout.write(`${content.length} bytes\n`);
await database.end();
await functions.stop();
await provider.stop();
await homes.close();
process.exit();

function makeOwner(email: string) {
  const output = execFileSync(process.execPath, [...program, "init", "--email", email, "--organization", "Acme"], {
    env: { PATH: process.env.PATH, ...environment },
    encoding: "utf8",
  });
  const said = (word: string) => new RegExp(`^${word}\\s+(\\S+)$`, "m").exec(output)?.[1] ?? "";
  return { email, organizationId: said("organization"), token: said("token"), passwordLink: said("password") };
}

async function sendForm(link: string, fields: Record<string, string>): Promise<void> {
  const page = await fetch(link, { method: "POST", body: new URLSearchParams(fields) });
  if (page.status !== 200) throw new Error(`${link} answered ${page.status}: ${await page.text()}`);
}

/** Renames a role, adds a new member who has it, and leaves an invitation open. */
async function invite(email: string) {
  const link = new URL(owner.passwordLink);
  await sendForm(`${link.origin}${link.pathname}`, {
    link: link.searchParams.get("link") ?? "",
    password,
    repeated: password,
  });
  await api.call("CreateRole", {
    body: { name: "gatekeeper", permissions: ["job:read", "job:list", "job:event:send"] },
  });
  await api.call("UpdateRole", { params: { role: "gatekeeper" }, body: { name: "approver" } });
  const invitation = await api.call<{ link: string }>("CreateInvitation", { body: { roles: ["approver"], email } });
  const passwords = { newPassword: password, repeated: password };
  await sendForm(invitation.body.link, { account: "new", newEmail: email, displayName: "Grace", ...passwords });
  await api.call("CreateInvitation", { body: { roles: ["viewer"] } });
  const { idToken } = await signIn(baseUrl, { email });
  const wanted = { name: "program", expiresAt: null, password };
  const userToken = await api.as(idToken).call<{ token: string }>("CreateUserToken", { body: wanted });
  return { email, token: userToken.body.token };
}

async function deployAll(): Promise<Readonly<Record<string, RegisteredVersion>>> {
  const definitions = {
    order: orderDefinition,
    rounds: roundsDefinition,
    hasty: hastyDefinition,
    patient: patientDefinition,
    several: severalDefinition,
    chain: chainDefinition,
  };
  const made: Record<string, RegisteredVersion> = {};
  for (const [name, definition] of Object.entries({ ...definitions, ...(await takenOf(onlySome)) })) {
    const { body } = await keyed<{ workflowId: string }>("RegisterWorkflow", { body: { name } });
    workflowIds[name] = body.workflowId;
    made[name] = await registerVersion(api, body.workflowId, definition);
    await tag(made[name], "$LIVE");
  }
  // The live version of `order` is its second one, but all jobs of `order` except `short` run the first one.
  const order = workflowIds.order ?? "";
  const second = await registerVersion(api, order, definitionOf(noopStep("only", null)));
  if (made.order !== undefined) await tag(made.order, "first");
  await tag(second, "$LIVE");
  await tag(second, "gone");
  await api.call("DeleteTag", { params: { workflowId: order, tag: "gone" } });
  const unused = await api.call<{ workflowId: string }>("RegisterWorkflow", { body: { name: "unused" } });
  await api.call("DeleteWorkflow", { params: unused.body });
  return { ...made, second };
}

/** Returns the definitions that this build can register. */
async function takenOf(definitions: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const { body } = await api.call<{ workflowId: string }>("RegisterWorkflow", { body: { name: "tried" } });
  const params = { workflowId: body.workflowId };
  const taken: Record<string, string> = {};
  for (const [name, definition] of Object.entries(definitions)) {
    const { valid } = (await api.call("ValidateWorkflowVersion", { params, body: { definition } })).body;
    if (valid === true) taken[name] = definition;
  }
  await api.call("DeleteWorkflow", { params });
  return taken;
}

async function tag({ workflowId, versionId }: RegisteredVersion, name: string): Promise<void> {
  await api.call("SetWorkflowVersionTag", { params: { workflowId, tag: name }, body: { versionId } });
}

async function tokenFor(more: object, permissions: readonly string[]): Promise<string> {
  const body = { name: "program", permissions, ...more };
  return (await api.call<{ token: string }>("CreateApiToken", { body })).body.token;
}

async function makeTokens() {
  const whole = await tokenFor({}, [
    "job:submit",
    "job:read",
    "job:list",
    "job:event:send",
    "job:cancel",
    "metrics:read",
  ]);
  const narrow = await tokenFor({ boundTo: { workflowIds: [workflowIds.rounds] } }, ["job:read", "job:list"]);
  const revoked = await api.call<{ token: string; tokenId: string }>("CreateApiToken", {
    body: { name: "revoked", permissions: ["job:list"] },
  });
  await api.call("RevokeApiToken", { params: { tokenId: revoked.body.tokenId } });
  return { whole, narrow, revoked: revoked.body.token };
}

/** Makes a write that can be repeated, and stores its answer. */
async function keyed<Body>(operation: string, options: AskedAnswer["options"]): Promise<{ body: Body }> {
  const header = operation === "SendJobEvent" ? "amz-sdk-invocation-id" : "idempotency-key";
  const headers = { [header]: randomUUID() };
  const { body, status } = await api.call<Body>(operation, { ...options, headers });
  keyedAnswers.push({ operation, options: { ...options, headers }, body, status });
  return { body };
}

/** Submits a job of the version `versions[workflow]`, keeps its id under `name`, and waits until the job is in the given state. */
async function submit(name: string, workflow: string, inputJson: object, stands: Standing): Promise<string> {
  const { workflowId, versionNumber } = versions[workflow] as RegisteredVersion;
  const workflowVersion = { versionNumber };
  const { body } = await keyed<JobBody>("SubmitJob", { body: { workflowId, workflowVersion, inputJson } });
  jobIds[name] = body.jobId;
  await until(name, stands);
  return body.jobId;
}

interface Stand {
  readonly status: string;
  readonly phase: string | null;
  readonly step: string | null;
  readonly visit: number | null;
  readonly owned: boolean;
}

type Standing = (stand: Stand) => boolean;

function isWaiting({ phase }: Stand): boolean {
  return phase === "waiting";
}

async function until(name: string, stands: Standing): Promise<void> {
  const find = `SELECT status, ${state} #>> '{step,phase}' AS phase, ${state} #>> '{step,name}' AS step,
    (${state} #>> '{step,visit}')::integer AS visit, call_count > 0 AS owned FROM job WHERE job_id = $1`;
  for (let attempt = 0; attempt < 500; attempt += 1) {
    const { rows } = await database.query(find, [jobIds[name]]);
    if (rows.length === 1 && stands(rows[0])) return;
    await sleep(20);
  }
  throw new Error(`The job ${name} does not stand as it should.`);
}

async function send(name: string, eventId: string, more: object = {}): Promise<void> {
  await keyed("SendJobEvent", { params: { jobId: jobIds[name] ?? "" }, body: { eventId, ...more } });
}

async function finishJobs(): Promise<void> {
  await submit("succeeded", "order", { orderId: "order-1", notes: "Fine. ".repeat(1_000) }, isWaiting);
  await send("succeeded", "paid");
  await send("succeeded", "paid");
  await send("succeeded", "aproved");
  await send("succeeded", "approved", { payload: { decision: "yes", comment: "Good. ".repeat(1_000) } });
  await until("succeeded", ({ status }) => status === "SUCCEEDED");
  for (const name of ["failed", "resumedLater"]) {
    await submit(name, "order", { orderId: `fragile-${name}` }, isWaiting);
    await send(name, "paid", { payload: null });
    await send(name, "approved", { payload: { decision: "perhaps" } });
    await until(name, ({ status }) => status === "FAILED");
  }
  await submit("cancelled", "order", { orderId: "order-2" }, isWaiting);
  await send("cancelled", "paid", { payload: { by: "card" } });
  await api.call("CancelJob", { params: { jobId: jobIds.cancelled ?? "" } });
  const hasSucceeded: Standing = ({ status }) => status === "SUCCEEDED";
  await submit("short", "second", { plain: true }, hasSucceeded);
  await submit("longChain", "chain", { text: "t".repeat(3_000) }, hasSucceeded);
}

async function restJobs(): Promise<void> {
  await submit("waiting", "order", { orderId: "order-3" }, isWaiting);
  await submit("waitingWithEvents", "order", { orderId: "order-4", notes: "n".repeat(2_500) }, isWaiting);
  await send("waitingWithEvents", "approved", { payload: { decision: "no", comment: "Bad. ".repeat(1_000) } });
  await send("waitingWithEvents", "aproved", { payload: { decision: "typo" } });
  await send("waitingWithEvents", "approved");
  await submit("huge", "order", { orderId: "order-5", notes: "A large input. ".repeat(85_000) }, isWaiting);
  await send("huge", "paid");
  await submit("resumedAndWaiting", "order", { orderId: "order-6" }, isWaiting);
  await api.call("CancelJob", { params: { jobId: jobIds.resumedAndWaiting ?? "" } });
  await api.call("ResumeJob", { params: { jobId: jobIds.resumedAndWaiting ?? "" } });
  await until("resumedAndWaiting", isWaiting);
  await submit("rounds", "rounds", { round: 0 }, isWaiting);
  for (const round of [1, 2]) {
    await send("rounds", "go", { payload: { round } });
    await until("rounds", ({ phase, visit }) => phase === "waiting" && visit === round + 1);
  }
  await send("rounds", "go", { step: "gate", visit: 4, payload: { round: 3 } });
  await submit("one", "several", {}, isWaiting);
  await send("one", "y");
  await submit("two", "several", {}, isWaiting);
  await send("two", "b", { payload: { from: "b" } });
  await until("two", ({ phase, step }) => phase === "waiting" && step === "two");
  await send("two", "z");
  if (versions.costly !== undefined) await submit("costly", "costly", { kind: "costly" }, isWaiting);
  if (versions.review !== undefined) {
    const notes = { notes: "r".repeat(3_000) };
    await submit("reviewing", "review", notes, isWaiting);
    await submit("pausing", "review", notes, isWaiting);
    await send("pausing", "reviewed", { payload: { again: true, by: "Ada" } });
    await until("pausing", ({ phase }) => phase === "delayed");
  }
  await submit("patient", "patient", {}, isWaiting);
  await submit("hasty", "hasty", { left: "alone" }, isWaiting);
  await submit("unlucky", "order", { orderId: "order-7", mood: "unlucky" }, ({ phase }) => phase === "retrying");
}

async function fillOtherOrganization() {
  const { body } = await keyed<{ organizationId: string }>("CreateOrganization", {
    body: { name: "Other", displayName: "Other" },
  });
  const { organizationId } = body;
  const inOther = api.bind({ organizationId });
  const { workflowId } = (await inOther.call<{ workflowId: string }>("RegisterWorkflow", { body: { name: "order" } }))
    .body;
  const { versionId } = await registerVersion(inOther, workflowId, patientDefinition);
  await inOther.call("SetWorkflowVersionTag", { params: { workflowId, tag: "$LIVE" }, body: { versionId } });
  const submitted = await inOther.call<JobBody>("SubmitJob", { query: { waitSeconds: 10 }, body: { workflowId } });
  jobIds.other = submitted.body.jobId;
  const token = await inOther.call<{ token: string }>("CreateApiToken", {
    body: { name: "program", permissions: ["job:read", "job:list", "job:event:send"] },
  });
  return { organizationId, token: token.body.token };
}

async function ask(operation: string, options: AskedAnswer["options"] = {}): Promise<AskedAnswer> {
  return { operation, options, body: await readAll(api, operation, options) };
}

async function askOrganization(): Promise<AskedAnswer[]> {
  const workflowId = workflowIds.order ?? "";
  return await Promise.all([
    ask("GetOrganization"),
    ask("ListWorkflows"),
    ask("ListWorkflowVersions", { params: { workflowId } }),
    ask("ListTags", { params: { workflowId } }),
    ask("ListTagHistory", { params: { workflowId, tag: "$LIVE" } }),
    ask("ListTagHistory", { params: { workflowId, tag: "gone" } }),
    ask("ListRoles"),
    ask("ListJobs", { query: { status: "FAILED" } }),
    ask("ListJobs", { query: { status: "CANCELLED" } }),
    ask("ListJobs", { query: { awaitingEventId: "code" } }),
  ]);
}

async function askJobs(): Promise<Record<string, AskedAnswer[]>> {
  const asked: Record<string, AskedAnswer[]> = {};
  for (const [name, jobId] of Object.entries(jobIds)) {
    if (name === "other") continue;
    const params = { jobId };
    asked[name] = await Promise.all([
      ask("GetJob", { params }),
      ask("GetJobHistory", { params }),
      ask("ListJobEvents", { params }),
      ask("GetJobState", { params }),
      ask("ExplainJob", { params }),
    ]);
  }
  return asked;
}

/** Waits until the duty has sealed the whole audit trail so far. */
async function sealed(): Promise<void> {
  for (let attempt = 0; attempt < 1_000; attempt += 1) {
    const { rows } = await database.query("SELECT count(*)::integer AS count FROM audit_unsealed");
    if (rows[0].count === 0) return;
    await sleep(20);
  }
  throw new Error("The audit trail was not sealed.");
}

/** Begins as many calls as the limits of the node allow, none of which is answered, and submits and resumes more jobs than can run. */
async function crowd(): Promise<void> {
  const isCalling: Standing = ({ phase, owned }) => phase === "calling" && owned;
  const isPending: Standing = ({ status }) => status === "PENDING";
  for (const name of ["calling", "callingWithEvents"]) {
    await submit(name, "order", { orderId: name, mood: "held", notes: "h".repeat(2_500) }, isCalling);
    await functions.nextCall(jobIds[name] ?? "");
  }
  await send("callingWithEvents", "approved", { payload: { decision: "early", comment: "Soon. ".repeat(1_000) } });
  await send("callingWithEvents", "paid");
  await submit("queued", "order", { orderId: "queued", mood: "held" }, isCalling);
  await submit("pending", "order", { orderId: "pending", mood: "held" }, isPending);
  await send("pending", "paid", { payload: null });
  await api.call("ResumeJob", { params: { jobId: jobIds.resumedLater ?? "" } });
  await until("resumedLater", isPending);
}

/** Kills the node when a job of many steps is between two of its commits. */
async function stopAmidChains(): Promise<void> {
  const { workflowId = "" } = versions.chain ?? {};
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const submitted = Array.from({ length: 3 }, () =>
      api.call<JobBody>("SubmitJob", { body: { workflowId, inputJson: { attempt } } }),
    );
    await Promise.all(submitted);
    await database.query("BEGIN");
    await database.query("LOCK TABLE job_history IN SHARE MODE");
    const { rows } = await database.query(`SELECT job_id FROM job WHERE ${state} #>> '{step,phase}' = 'next'`);
    if (rows.length > 0) {
      await service.kill();
      await database.query("COMMIT");
      for (const [index, { job_id }] of rows.entries()) jobIds[`next${index}`] = job_id;
      return;
    }
    await database.query("COMMIT");
  }
  throw new Error("No job was met between two of its commits.");
}

async function exportTables(): Promise<EarlierTable[]> {
  const { rows: names } = await database.query(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'schema_migration' ORDER BY oid`,
  );
  const tables: EarlierTable[] = [];
  for (const { name } of names) {
    const { rows: columns } = await database.query(
      `SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
       WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
      [name],
    );
    const texts = columns.map((column: { name: string }) => `${column.name}::text`).join(", ");
    const { rows } = await database.query({ text: `SELECT ${texts} FROM ${name}`, rowMode: "array" });
    if (rows.length > 0) tables.push({ name, columns, rows });
  }
  return tables;
}
