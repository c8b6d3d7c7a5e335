import type { StoreKind } from "@stepwell/testing/processes/store-home.ts";
import { Caller } from "./caller.ts";
import { checkAnswers } from "./check/answers.ts";
import { checkCampaign } from "./check/check.ts";
import { Families } from "./check/families.ts";
import { type Finding, violation } from "./check/finding.ts";
import { Client } from "./client.ts";
import { readFinalJobs } from "./final-state.ts";
import { Population } from "./population.ts";
import { Recorder } from "./recorder.ts";
import type { Scene } from "./scene.ts";
import { workflowsOfChildren } from "./workflows.ts";
import type { Workload, WorkloadName } from "./workload.ts";

/** The options of every campaign except `neighbours`. A campaign starts its own stores and services, and removes them at its end. */
export interface CampaignOptions {
  readonly cycles: number;
  /** The number by which the campaign `outage` divides its times. The other campaigns do not use this number. */
  readonly speed: number;
  readonly store: StoreKind;
  readonly workload: WorkloadName;
  /** The program that runs as the service. Default: the command line. */
  readonly program?: readonly string[] | undefined;
  readonly progress: (line: string) => void;
}

/** The clients of a campaign, what they know together, and the record of their requests. */
export class Campaign {
  readonly recorder = new Recorder();
  /** Further counts for the result, which not every campaign has. */
  readonly counts: Record<string, number> = {};
  readonly #scene: Scene;
  readonly #workload: Workload;
  readonly #population: Population;
  readonly #answerTimeoutMs: number;
  readonly #findings: Finding[] = [];
  readonly #reasonsWhyVoid: string[] = [];
  #latestLoad: Load | undefined;
  #interruptionCount = 0;

  constructor(scene: Scene, workload: Workload, answerTimeoutMs = 10_000) {
    this.#scene = scene;
    this.#workload = workload;
    this.#answerTimeoutMs = answerTimeoutMs;
    this.#population = new Population(scene.workflows);
  }

  /**
   * Starts the workers of the workload, if it has any, and disturbs them from now on. They call the nodes at these ports. Meanwhile runs `faults`. If
   * an error ends `faults` early, for example because a service does not start again, the error becomes a finding and the clients stop.
   */
  async play(ports: readonly number[], faults: () => Promise<void>): Promise<void> {
    const { token, organizationIds } = this.#scene;
    this.#workload.hire({ ports, token, organizationIds });
    try {
      await faults();
    } catch (error) {
      this.report(error instanceof Error ? error.message : String(error));
      await this.#latestLoad?.stop();
    }
  }

  /** Starts the clients; `ports` are the ports of the nodes. */
  startLoad(ports: readonly number[], clientCount: number): Load {
    const callers = Array.from({ length: clientCount }, () => new Caller(ports, this.#answerTimeoutMs));
    const end = new AbortController();
    const clients = callers.map((caller, index) => this.#client(index, caller).runUntil(end.signal));
    this.#latestLoad = {
      countInFlight: () => callers.filter(({ isBusy }) => isBusy).length,
      stop: async () => {
        end.abort();
        await Promise.all(clients);
      },
    };
    return this.#latestLoad;
  }

  /** Returns how many requests are under way right before a fault. Counts the fault if it interrupts at least one request. */
  countInterruption(load: Load): number {
    const inFlight = load.countInFlight();
    if (inFlight > 0) this.#interruptionCount += 1;
    return inFlight;
  }

  /** Adds a finding about the service, for example that the service does not start again. */
  report(detail: string): void {
    this.#findings.push(violation("the service", detail));
  }

  /** Adds a finding of a check that not every campaign makes. */
  addFinding(finding: Finding): void {
    this.#findings.push(finding);
  }

  /** Ends the campaign after the last fault: lets a sample of the waiting jobs end, then makes all checks. */
  async conclude(port: number): Promise<void> {
    await this.#workload.calm();
    const caller = new Caller([port], this.#answerTimeoutMs);
    const settler = this.#client(0, caller);
    for (const intent of this.#population.remainingEvents(jobsToFinish)) await settler.perform(intent);
    caller.close();
    const { requests, organizationIds, shapes } = this.#scene;
    const jobs = readFinalJobs(port, requests, { organizationIds, shapes });
    const { operations } = this.recorder;
    const { log } = this.#workload;
    const families = new Families();
    const findings = await checkCampaign(operations, jobs, shapes, log, families);
    this.#findings.push(...checkAnswers(operations), ...findings);
    for (const complaint of this.#workload.complaints) this.#findings.push(violation("a worker", complaint));
    Object.assign(this.counts, this.#workload.counts);
    const isWithChildren = workflowsOfChildren([...shapes.values()]).length > 0;
    if (!isWithChildren) return;
    this.counts.children = families.childCount;
    if (families.childCount === 0) this.#reasonsWhyVoid.push("no step began a job");
  }

  /** The reasons why this run did not test its workload, and is void. The list is empty if the run tested it. */
  get reasonsWhyVoid(): readonly string[] {
    return [...this.#workload.reasonsWhyVoid, ...this.#reasonsWhyVoid];
  }

  /** How many faults interrupted requests. */
  get interruptionCount(): number {
    return this.#interruptionCount;
  }

  /** If there are findings, keeps a copy of a service's log beside the record of the requests. */
  keepLog(logFile: string): void {
    if (this.#findings.length > 0) this.recorder.keep(logFile);
  }

  get findings(): readonly Finding[] {
    return this.#findings;
  }

  #client(number: number, caller: Caller): Client {
    const { requests } = this.#scene;
    return new Client(number, caller, { requests, population: this.#population, recorder: this.recorder });
  }
}

export interface Load {
  countInFlight(): number;
  /** Stops the clients. Waits until each has the answer to its last request, or knows that no answer will come. */
  stop(): Promise<void>;
}

const jobsToFinish = 200;
