import { definitionOf, waitStep } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { expect, test, vi } from "vitest";
import type { Database, Queryable } from "../../../src/store/home/database.ts";

onOneStore((home) => {
  const service = useService(home);

  /** From now on, records the names of the statements that run outside of transactions. */
  function listen(database: Database): string[] {
    const names: string[] = [];
    const noted = ({ query }: Queryable): Queryable["query"] => {
      return (statement, values) => {
        names.push(statement.name);
        return query(statement, values);
      };
    };
    const { requests, reader } = database;
    const query = noted(requests);
    vi.spyOn(requests, "query").mockImplementation(query);
    vi.spyOn(database, "reader").mockImplementation((organizationId) => {
      const read = reader.call(database, organizationId);
      return { ...read, query: noted(read) };
    });
    return names;
  }

  test("a request that waits for a large job reads its progress, and its values only once, at the end", async () => {
    const { api } = await service.newOrganization();
    const { workflowId } = await deploy(api, definitionOf(waitStep("w", ["x"], null)));
    const { jobId } = await submitAndWait(api, workflowId, { text: "x".repeat(500_000) });
    const names = listen(service.running.database);
    const count = (name: string) => names.filter((one) => one === name).length;
    try {
      const answer = api.call("GetJob", { params: { jobId }, query: { waitSeconds: 20 } });
      for (let event = 1; event <= 5; event += 1) {
        await vi.waitFor(() => expect(count("read_job_standings")).toBeGreaterThanOrEqual(event), {
          interval: 5,
          timeout: 10_000,
        });
        // The first look would already have read the whole of a small job.
        expect([count("read_job"), count("read_small_jobs"), count("read_history_before")]).toEqual([0, 1, 0]);
        await api.call("SendJobEvent", { params: { jobId }, body: { eventId: event === 5 ? "x" : `other${event}` } });
      }
      expect((await answer).body).toMatchObject({ status: "SUCCEEDED" });
      expect([count("read_job"), count("read_history_before")]).toEqual([1, 1]);
    } finally {
      vi.restoreAllMocks();
    }
  });
});
