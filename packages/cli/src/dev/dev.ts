import { resolve } from "node:path";
import { createClient, type Job, type StepwellClient } from "@stepwell/client";
import {
  type Config,
  createUserToken,
  inDataDirectory,
  initializeOwner,
  makeSignInLink,
  type RunningService,
  randomBase62,
  readConfig,
  replacePassword,
  type StartOptions,
  signInLinkUrl,
} from "@stepwell/server";
import { sampleDefinition, sampleName } from "../commands/sample.ts";
import { isLoopback } from "../connection/address.ts";
import { type DevFile, readDevFile, writeDevFile } from "../connection/dev-file.ts";
import { explain, print, show } from "../output/terminal.ts";
import { showJobsLive, type Watched, watchDefinitions, watched } from "./dev-watch.ts";
import { startUntilSignal } from "./serve.ts";

const email = "owner@localhost";
const passwordLength = 24;

/** Starts the service with an owner, a workflow and a job, so that a newcomer can see how a job runs. The next start continues with the same data. */
export async function dev({ definitions = [], open }: DevOptions = {}): Promise<void> {
  // A definition file or directory that does not exist is reported before the service starts.
  const places = definitions.map(watched);
  const config = readConfig({ ...devSettings, ...process.env });
  const service = await startUntilSignal(config, open);
  try {
    const seeded = await seed(config, service);
    const link = await signInLink(service);
    const text = welcome(config, seeded, link).join("\n");
    show({ value: { ...seeded.file, signInLink: link }, text, quiet: link });
    if (places.length > 0) await follow(seeded.file, places);
  } catch (error) {
    // A service that kept running would keep the process alive, although something in this start has failed.
    await service.stop();
    throw error;
  }
}

interface DevOptions extends Pick<StartOptions, "open"> {
  /** Files with definitions, or directories with such files. */
  readonly definitions?: readonly string[];
}

async function follow({ baseUrl, token, organizationId }: DevFile, places: readonly Watched[]): Promise<void> {
  const place = { client: createClient({ baseUrl, token }), organizationId };
  await watchDefinitions(place, places);
  print("Changes of these definitions are deployed, and the progress of jobs is shown.");
  void showJobsLive(place).catch(explain);
}

/** The defaults that differ from those of `stepwell serve`. Steps may call servers on the same machine, since this service has only one user. */
const devSettings = {
  STEPWELL_LOG_LEVEL: "warn",
  STEPWELL_HTTP_STEP_ALLOWED_ADDRESSES: "localhost,127.0.0.0/8,::1",
};

/** The link works once, so each start makes a new one, and dev.json does not hold it. */
async function signInLink({ baseUrl, database }: RunningService): Promise<string> {
  const secret = await makeSignInLink(database, email);
  if (secret === undefined) throw new Error(`No account in this store has the e-mail address ${email}.`);
  return signInLinkUrl(baseUrl, secret);
}

interface Seeded {
  readonly file: DevFile;
  readonly job: Job;
}

/**
 * Creates the owner, the sample workflow and a sample job, each only if it is missing, so an interrupted seeding can be continued. dev.json is
 * written last, because it names all of them. Without that file, the next start makes another token and password.
 */
async function seed(config: Config, service: RunningService): Promise<Seeded> {
  const { baseUrl } = service;
  const known = readDevFile(config.dataDir);
  const owner = await ownerOf(service, known);
  const client = createClient({ baseUrl, token: owner.token });
  const workflowId = await sampleWorkflowId(client, owner.organizationId);
  const job = await sampleJob(client, owner.organizationId, workflowId, known?.jobId);
  const file = { baseUrl, ...owner, workflowId, jobId: job.jobId };
  inDataDirectory(config.dataDir, () => writeDevFile(config.dataDir, file));
  return { file, job };
}

type Owner = Pick<DevFile, "organizationId" | "token" | "email" | "password">;

async function ownerOf(service: RunningService, known: Partial<DevFile> | undefined): Promise<Owner> {
  if (known?.token !== undefined && known.organizationId !== undefined) {
    const { organizationId, token } = known;
    const client = createClient({ baseUrl: service.baseUrl, token });
    const answer = await client.api.GET("/organizations/{organizationId}", { params: { path: { organizationId } } });
    const { password } = known;
    // An earlier release wrote dev.json without a password. In that case the account gets a new password below, and this ends the token.
    if (answer.response.ok && password !== undefined) return { organizationId, token, email, password };
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

/** Gives the owner of an existing store a new password and token, because dev.json is missing, has no password, or has a token that is not valid. */
async function ownerAgain(service: RunningService): Promise<Owner> {
  // The password is set first, because a new password ends all user tokens of the account.
  const password = await newPassword(service);
  const token = await createUserToken(service.database, email, "stepwell dev");
  if (token === undefined) {
    throw new Error(
      "`stepwell init` made this store, so it has an owner already. Start the service with `stepwell serve`.",
    );
  }
  const client = createClient({ baseUrl: service.baseUrl, token });
  const { data } = await client.api.GET("/organizations", {});
  const organization = data?.organizations.at(-1);
  if (organization === undefined) throw new Error(`${email} is not a member of any organization any more.`);
  return { organizationId: organization.organizationId, token, email, password };
}

/** Replaces the owner's password by a random one, and returns it. A default password would be known to everybody. */
async function newPassword({ database }: RunningService): Promise<string> {
  const password = randomBase62(passwordLength);
  await replacePassword(database, email, password);
  return password;
}

async function sampleWorkflowId(client: StepwellClient, organizationId: string): Promise<string> {
  const found = await client.findWorkflow(organizationId, sampleName);
  if (found?.tags.some((tag) => tag.tag === "$LIVE")) return found.workflowId;
  return (await client.deploy(organizationId, sampleDefinition())).workflowId;
}

/**
 * Returns the present state of the job of an earlier start if that job still exists. Otherwise submits a new job and returns it as soon as it waits
 * for the approval, but after 10 s at the latest.
 */
async function sampleJob(
  client: StepwellClient,
  organizationId: string,
  workflowId: string,
  known: string | undefined,
): Promise<Job> {
  if (known !== undefined) {
    const { data } = await client.api.GET("/organizations/{organizationId}/jobs/{jobId}", {
      params: { path: { organizationId, jobId: known } },
    });
    if (data !== undefined) return data;
  }
  const { jobId } = await client.submitJob(
    organizationId,
    { workflowId, workflowVersion: { tag: "$LIVE" }, inputJson: { sku: "STEP-1", count: 3, customer: "Ada" } },
    { idempotencyKey: `sample-job-of-${workflowId}`, waitSeconds: 10 },
  );
  return await client.getJob(organizationId, jobId);
}

function welcome(config: Config, { file, job }: Seeded, link: string): readonly string[] {
  const { baseUrl, organizationId, token } = file;
  const stepwell = commandLine(config, file);
  const submission = `${stepwell} submit ${sampleName} --input '{"sku":"STEP-2","count":1}'`;
  return [
    `Stepwell is ready at ${baseUrl}`,
    "",
    "Open it with this link, which signs you in. The link works once, within ten minutes:",
    `  ${link}`,
    "",
    `  API document   ${baseUrl}/openapi.json`,
    `  organization   ${organizationId}`,
    `  token          ${token}`,
    `  sign in as     ${file.email}`,
    `  password       ${file.password}`,
    "",
    ...(job.finishedAt === undefined ? openJob(job, file) : endedJob(job, file, submission)),
    "",
    "Change the sample, deploy it and submit another job:",
    `  npx stepwell sample > ${sampleName}.json`,
    `  ${stepwell} deploy ${sampleName}.json`,
    `  ${submission}`,
  ];
}

function openJob(job: Job, file: DevFile): readonly string[] {
  const url = file.baseUrl + pathOf(job, file);
  const missing = job.currentStep?.awaiting?.missingEventIds ?? [];
  const state = missing.length > 0 ? "waits for an approval" : `is ${job.status}`;
  const curl = curlAs(file.token);
  const approve = (eventId: string) =>
    `  ${curl} -H 'Content-Type: application/json' -d '${JSON.stringify({ eventId })}' '${url}/events'`;
  return [
    `The sample workflow ${sampleName} runs, and its job ${state}.`,
    ...waysToLook(job, file),
    ...missing.flatMap((eventId) => ["Approve it:", approve(eventId)]),
    "See it succeed:",
    `  ${curl} '${url}?waitSeconds=10'`,
  ];
}

function endedJob(job: Job, file: DevFile, submission: string): readonly string[] {
  return [
    `The job of the sample workflow ${sampleName} has ended: it is ${job.status}.`,
    ...waysToLook(job, file),
    "Submit another job, which waits for an approval again:",
    `  ${submission} --wait 10`,
  ];
}

/** The address of the job's page comes first, because most people try the dashboard before the API. */
function waysToLook(job: Job, file: DevFile): readonly string[] {
  const path = pathOf(job, file);
  return [
    "Look at it in the dashboard:",
    `  ${file.baseUrl}/app${path}`,
    "Look at it on the command line:",
    `  ${curlAs(file.token)} '${file.baseUrl}${path}'`,
  ];
}

/** The path of the job in the API. The path of its page is the same, below `/app`. */
function pathOf({ jobId }: Job, { organizationId }: DevFile): string {
  return `/organizations/${organizationId}/jobs/${jobId}`;
}

function curlAs(token: string): string {
  return `curl -s -H 'Authorization: Bearer ${token}'`;
}

/**
 * Commands in another shell find this service by its data directory, so each printed command names the directory unless it is the usual one. They do
 * not find a service whose address is not a loopback address, so each printed command then names the address and the token.
 */
function commandLine({ dataDir }: Config, { baseUrl, token }: DevFile): string {
  if (!isLoopback(baseUrl)) return `STEPWELL_URL='${baseUrl}' STEPWELL_TOKEN='${token}' npx stepwell`;
  const isUsual = resolve(dataDir) === resolve(".stepwell");
  return isUsual ? "npx stepwell" : `STEPWELL_DATA_DIR='${resolve(dataDir)}' npx stepwell`;
}
