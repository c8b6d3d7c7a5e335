import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Schemas } from "../document.ts";
import { api, type IdempotencyHeader, idempotencyKey, resultOf } from "./api.ts";

export type WholeJob = Schemas["Job"];
export type JobEvent = Schemas["JobEvent"];
export type JobBranch = Schemas["JobBranch"];
export type BranchStatus = JobBranch["status"];
export type Explanation = Schemas["JobExplanation"];
type JsonBody = Record<string, unknown>;

export interface JobKey {
  readonly organizationId: string;
  readonly jobId: string;
}

/** The cache keeps all answers about a job below this key. */
export function jobQueryKey({ organizationId, jobId }: JobKey) {
  return ["organizations", organizationId, "job", jobId] as const;
}

export function jobQuery(key: JobKey) {
  return queryOptions({
    queryKey: [...jobQueryKey(key), "itself"],
    queryFn: async ({ signal }) =>
      await resultOf(api.GET("/organizations/{organizationId}/jobs/{jobId}", { params: { path: key }, signal })),
    // This answer has the state of the job at the time of the request. The page takes later changes from the job's history.
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/**
 * The explanation contains times, so it is requested again as time passes. It is also requested again as soon as the job's history
 * has a new entry (`sequence`).
 */
export function explanationQuery(key: JobKey, sequence: number, isFinished: boolean) {
  return queryOptions({
    queryKey: [...jobQueryKey(key), "explanation", sequence],
    queryFn: async ({ signal }) =>
      await resultOf(
        api.GET("/organizations/{organizationId}/jobs/{jobId}/explain", { params: { path: key }, signal }),
      ),
    refetchInterval: isFinished ? 30_000 : 2_000,
    placeholderData: keepPreviousData,
    gcTime: 5_000,
  });
}

export function jobEventsQuery(key: JobKey) {
  return infiniteQueryOptions({
    queryKey: [...jobQueryKey(key), "events"],
    queryFn: async ({ signal, pageParam }) => {
      const query = { pageSize: 100, ...(pageParam !== undefined && { pageToken: pageParam }) };
      const params = { path: key, query };
      return await resultOf(api.GET("/organizations/{organizationId}/jobs/{jobId}/events", { params, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextPageToken,
  });
}

/** Names one visit of a step with branches. */
export interface ForkKey {
  readonly step: string;
  readonly visit: number;
  /** The path of the branch that contains the step; empty for the main line. */
  readonly branch: string;
}

/** The branches of a step, the failed ones first, and the number of branches with each status. */
export function jobBranchesQuery(key: JobKey, { step, visit, branch }: ForkKey, status: BranchStatus | undefined) {
  return infiniteQueryOptions({
    queryKey: [...jobQueryKey(key), "branches", branch, step, visit, status ?? ""],
    queryFn: async ({ signal, pageParam }) => {
      const query = {
        step,
        visit,
        ...(branch !== "" && { branch }),
        ...(status !== undefined && { status }),
        ...(pageParam !== undefined && { pageToken: pageParam }),
      };
      const params = { path: key, query };
      return await resultOf(api.GET("/organizations/{organizationId}/jobs/{jobId}/branches", { params, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextPageToken,
    placeholderData: keepPreviousData,
  });
}

/** Reads one page of the history. If the last page is read again, with the same token, it also has the entries that were added meanwhile. */
export async function historyPage(key: JobKey, pageToken: string | undefined, signal: AbortSignal) {
  const query = { pageSize: 200, ...(pageToken !== undefined && { pageToken }) };
  const params = { path: key, query };
  return await resultOf(api.GET("/organizations/{organizationId}/jobs/{jobId}/history", { params, signal }));
}

/** One wait: the n-th time that the job, or a branch of it, enters the step. */
export interface Wait {
  readonly step: string;
  readonly visit: number;
  /** The path of the branch; left out for the main line. */
  readonly branch?: string;
}

export interface NewEvent extends Partial<Wait> {
  readonly eventId: string;
  readonly payload?: unknown;
}

export async function sendJobEvent(key: JobKey, body: NewEvent, header: IdempotencyHeader) {
  return await resultOf(
    api.POST("/organizations/{organizationId}/jobs/{jobId}/events", {
      params: { path: key, header },
      body,
    }),
  );
}

export async function cancelJob(key: JobKey) {
  return await resultOf(
    api.POST("/organizations/{organizationId}/jobs/{jobId}/cancel", {
      params: { path: key, header: idempotencyKey() },
    }),
  );
}

export async function resumeJob(key: JobKey) {
  return await resultOf(
    api.POST("/organizations/{organizationId}/jobs/{jobId}/resume", {
      params: { path: key, header: idempotencyKey() },
    }),
  );
}

export interface Submission {
  readonly workflowId: string;
  readonly workflowVersion: { readonly tag: string } | { readonly versionId: string };
  readonly inputJson: JsonBody;
}

export async function submitJob(organizationId: string, submission: Submission, header: IdempotencyHeader) {
  return await resultOf(
    api.POST("/organizations/{organizationId}/jobs", {
      params: { path: { organizationId }, header },
      body: submission,
    }),
  );
}
