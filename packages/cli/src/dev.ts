import { readFileSync } from "node:fs";
import { createClient, type StepwellClient } from "@stepwell/client";
import {
  type Config,
  createUserToken,
  initializeOwner,
  makeSignInLink,
  type RunningService,
  randomBase62,
  readConfig,
  replacePassword,
  signInLinkUrl,
} from "@stepwell/server";
import { type DevFile, readDevFile, writeDevFile } from "./dev-file.ts";
import { startUntilSignal } from "./serve.ts";
import { print } from "./terminal.ts";

const email = "owner@localhost";
const passwordLength = 24;

/** Starts the service with all that a newcomer needs to see a job run; started again, goes on with the same data. */
export async function dev(): Promise<void> {
  const config = readConfig({ STEPWELL_LOG_LEVEL: "warn", ...process.env });
  const service = await startUntilSignal(config);
  const seeded = await seed(config, service);
  printWelcome(seeded, await signInLink(service));
}

/** New with each start, and never in dev.json: it works once. */
async function signInLink({ baseUrl, database }: RunningService): Promise<string> {
  const secret = await makeSignInLink(database, email);
  if (secret === undefined) throw new Error(`Nobody here has the e-mail address ${email}.`);
  return signInLinkUrl(baseUrl, secret);
}

/** Each part is looked for before it is made, and dev.json is written after each: a seeding that was interrupted goes on. */
async function seed(config: Config, service: RunningService): Promise<DevFile> {
  const { baseUrl } = service;
  const owner = await ownerOf(config, service);
  writeDevFile(config.dataDir, { ...readDevFile(config.dataDir), ...owner, baseUrl });
  const client = createClient({ baseUrl, token: owner.token });
  const workflowId = await sampleWorkflowId(client, owner.organizationId);
  const jobId = await sampleJobId(client, owner.organizationId, workflowId, readDevFile(config.dataDir)?.jobId);
  const whole = { baseUrl, ...owner, workflowId, jobId };
  writeDevFile(config.dataDir, whole);
  return whole;
}

type Owner = Pick<DevFile, "organizationId" | "token" | "email" | "password">;

async function ownerOf(config: Config, service: RunningService): Promise<Owner> {
  const known = readDevFile(config.dataDir);
  if (known?.token !== undefined && known.organizationId !== undefined) {
    const { organizationId, token } = known;
    const client = createClient({ baseUrl: service.baseUrl, token });
    const answer = await client.api.GET("/organizations/{organizationId}", { params: { path: { organizationId } } });
    // A store of an earlier version has no password yet.
    if (answer.response.ok)
      return { organizationId, token, email, password: known.password ?? (await newPassword(service)) };
  }
  const password = randomBase62(passwordLength);
  const made = await initializeOwner(service.database, {
    email,
    displayName: "Owner",
    organizationName: "my-organization",
    password,
  });
  if (made !== undefined) return { organizationId: made.organizationId, token: made.token, email, password };
  return await ownerAgain(service);
}

/** The store is there, but its dev.json is gone or of another store. */
async function ownerAgain(service: RunningService): Promise<Owner> {
  const token = await createUserToken(service.database, email, "stepwell dev");
  if (token === undefined) {
    throw new Error("This store was made by `stepwell init` and belongs to somebody: start it with `stepwell serve`.");
  }
  const client = createClient({ baseUrl: service.baseUrl, token });
  const { data } = await client.api.GET("/organizations", {});
  const organization = data?.organizations.at(-1);
  if (organization === undefined) throw new Error(`${email} is a member of no organization any more.`);
  return { organizationId: organization.organizationId, token, email, password: await newPassword(service) };
}

/** A random one for each store: there is no default to be found on the internet. */
async function newPassword({ database }: RunningService): Promise<string> {
  const password = randomBase62(passwordLength);
  await replacePassword(database, email, password);
  return password;
}

async function sampleWorkflowId(client: StepwellClient, organizationId: string): Promise<string> {
  const definition = readFileSync(new URL("../../../examples/order-approval/workflow.json", import.meta.url), "utf8");
  const found = await client.findWorkflow(organizationId, "order-approval");
  if (found?.tags.some((tag) => tag.tag === "$LIVE")) return found.workflowId;
  return (await client.deploy(organizationId, definition)).workflowId;
}

async function sampleJobId(
  client: StepwellClient,
  organizationId: string,
  workflowId: string,
  known: string | undefined,
) {
  if (known !== undefined) {
    const { response } = await client.api.GET("/organizations/{organizationId}/jobs/{jobId}", {
      params: { path: { organizationId, jobId: known } },
    });
    if (response.ok) return known;
  }
  const input = { sku: "STEP-1", count: 3, customer: "Ada" };
  const job = await client.submitJob(
    organizationId,
    { workflowId, workflowVersion: { tag: "$LIVE" }, inputJson: input },
    { idempotencyKey: `sample-job-of-${workflowId}` },
  );
  return job.jobId;
}

function printWelcome({ baseUrl, organizationId, token, jobId, ...known }: DevFile, link: string): void {
  const job = `${baseUrl}/organizations/${organizationId}/jobs/${jobId}`;
  const authorization = `-H 'Authorization: Bearer ${token}'`;
  print(`Stepwell is ready at ${baseUrl}`);
  print();
  print("Open it signed in, by a link that works once and for ten minutes:");
  print(`  ${link}`);
  print();
  print(`  API document   ${baseUrl}/openapi.json`);
  print(`  organization   ${organizationId}`);
  print(`  token          ${token}`);
  print(`  sign in as     ${known.email}`);
  print(`  password       ${known.password}`);
  print();
  print("The sample workflow order-approval runs, and its job waits for an approval. Look at it:");
  print(`  curl -s ${authorization} '${job}'`);
  print("Approve it:");
  print(
    `  curl -s ${authorization} -H 'Content-Type: application/json' -d '{"eventId":"manager-approved"}' '${job}/events'`,
  );
  print("See it succeed:");
  print(`  curl -s ${authorization} '${job}?waitSeconds=10'`);
  print();
  print("Change examples/order-approval/workflow.json, deploy it and submit another job:");
  print("  npx stepwell deploy examples/order-approval/workflow.json");
  print(`  npx stepwell submit order-approval --input '{"sku":"STEP-2","count":1}'`);
}
