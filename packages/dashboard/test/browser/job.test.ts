import { readFileSync } from "node:fs";
import { definitionOf, noopStep, waitingDefinition, waitStep } from "@stepwell/testing/definitions.ts";
import { callingDefinition, FunctionServer } from "@stepwell/testing/functions/function-server.ts";
import { useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { expectAccessible } from "./support/accessibility.ts";
import { expectWithin } from "./support/best.ts";
import { testBrowser } from "./support/browser.ts";
import { deploy, newOwner, type Owner, signInAt, submitAndWait } from "./support/people.ts";

const browser = testBrowser();
const functions = await FunctionServer.start();
afterAll(() => functions.stop());

const approval = readFileSync(new URL("../../../../examples/order-approval/workflow.json", import.meta.url), "utf8");

/** Waits for the same event again and again. */
const loop = definitionOf(
  { ...waitStep("approve", ["approved"], "again"), onFailure: "finish" },
  noopStep("again", "approve"),
  noopStep("finish", null),
);

const decided = JSON.stringify({
  workflowName: "test",
  steps: [
    {
      name: "approve",
      integrationDetails: {
        type: "/service/waitForEventIds",
        config: { eventIds: ["approved"] },
        inputDefinition: { $ref: "#/definitions/any" },
        outputDefinition: { $ref: "#/definitions/decision" },
      },
      transitionToStep: null,
    },
  ],
  definitions: {
    any: { type: "object" },
    decision: {
      type: "object",
      properties: { approved: { type: "boolean" }, comment: { type: "string", description: "Why" } },
      required: ["approved"],
    },
  },
});

onOneStore((home) => {
  const service = useService(home, functions.environment);

  async function waitingJob(
    definition = waitingDefinition,
    input: object = {},
  ): Promise<{ owner: Owner; jobId: string }> {
    const owner = await newOwner(service);
    const { workflowId } = await deploy(owner.api, definition);
    const { jobId } = await submitAndWait(owner.api, workflowId, input);
    return { owner, jobId };
  }

  test("an approval takes one click, and SUCCEEDED appears without a reload in under a second", async () => {
    const owner = await newOwner(service);
    const { workflowId } = await deploy(owner.api, approval);
    const page = await browser.newPage();
    await signInAt(page, owner.url, owner);
    await page.evaluate("globalThis.wasHere = true");
    await expectWithin(1_000, async () => {
      const { jobId } = await submitAndWait(owner.api, workflowId, { sku: "A-17", count: 2 });
      await goTo(page, `${owner.url}/jobs/${jobId}`);
      await page.getByText(/^approve has waited .* for the event manager-approved/).waitFor();
      await page.locator("[data-step=approve]").getByText("Waiting").waitFor();
      const began = performance.now();
      await page.getByRole("button", { name: "Send manager-approved", exact: true }).click();
      await statusOf(page, "Succeeded").waitFor();
      return performance.now() - began;
    });

    await page.getByText(/^The job succeeded/).waitFor();
    await page.locator("[data-step=ship]").getByText("Succeeded").waitFor();
    await page.getByRole("region", { name: "Job output" }).getByText('"A-17"').waitFor();
    await page.getByRole("row", { name: /manager-approved.*`?approve`? consumed it/ }).waitFor();
    expect(await page.evaluate("globalThis.wasHere")).toBe(true);
  });

  test("a failed job can be found, explained, resumed and seen to succeed", async () => {
    const owner = await newOwner(service);
    const { workflowId } = await deploy(owner.api, callingDefinition("held"));
    const { body } = await owner.api.call<{ jobId: string }>("SubmitJob", {
      body: { workflowId, inputJson: { order: 7 } },
    });
    (await functions.nextCall(body.jobId)).fail();
    await owner.api.call("GetJob", { params: { jobId: body.jobId }, query: { waitSeconds: 10 } });
    const page = await browser.newPage();
    await signInAt(page, owner.url, owner);
    await page.getByRole("link", { name: "Jobs", exact: true }).click();
    await page.getByLabel("Status").selectOption("Failed");
    await page.waitForURL(/status=FAILED/);
    await page
      .getByRole("row", { name: /Failed call: ExecutorError: It broke/ })
      .getByRole("link")
      .click();
    await page
      .getByText(/attempt 1 of call ended with Broken: It broke\. Fix what call calls, then resume the job/)
      .waitFor();
    await page.getByRole("heading", { name: "Attempts" }).waitFor();
    await page.getByText("ExecutorError, Broken").first().waitFor();

    await page.getByRole("button", { name: "Resume" }).click();
    const second = await functions.nextCall(body.jobId);
    await page.getByText(/^Attempt 2 of call has been under way/).waitFor();
    await page.locator("[data-step=call]").getByText("Running, attempt 2").waitFor();
    second.succeed({ paid: true });
    await statusOf(page, "Succeeded").waitFor();
    await page.getByRole("region", { name: "Job output" }).getByText("true").waitFor();
  });

  inWholeMatrix(() => {
    test("an approval is given in a form made from the definition, for the wait that is shown", async () => {
      const { owner, jobId } = await waitingJob(decided);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      const form = page.getByRole("form", { name: "Payload of approved" });
      await form.getByLabel("comment").fill("Too dear");
      await form.getByRole("button", { name: "Send approved" }).click();
      // The form preselects neither answer.
      await form.getByText("Required").waitFor();
      await form.getByLabel("approved").and(page.locator(":focus")).waitFor();
      await expectAccessible(page, "the form of an approval");
      await form.getByLabel("approved").selectOption("false");
      await form.getByRole("button", { name: "Send approved" }).click();
      await statusOf(page, "Succeeded").waitFor();
      const { body } = await owner.api.call("GetJob", { params: { jobId } });
      expect(body).toMatchObject({ output: { approved: false, comment: "Too dear" } });
      expect((await owner.api.call("ListJobEvents", { params: { jobId } })).body).toMatchObject({
        events: [{ eventId: "approved", step: "approve", visit: 1, payload: { approved: false, comment: "Too dear" } }],
      });
    });

    test("a double click on the button for an event sends it once, even if the job waits for it again at once", async () => {
      const { owner, jobId } = await waitingJob(loop);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      const send = page.getByRole("button", { name: "Send approved", exact: true });
      let sent = 0;
      page.on("request", (request) => {
        if (request.method() === "POST" && request.url().endsWith("/events")) sent += 1;
      });
      await send.click();
      await page.getByRole("row", { name: /approved.*consumed it/ }).waitFor();
      await page.getByRole("combobox", { name: "Visit" }).waitFor();
      // When the form for the next visit appears, its button is under the pointer.
      await send.hover();
      await page.mouse.down({ clickCount: 2 });
      await page.mouse.up({ clickCount: 2 });
      await page.waitForResponse("**/explain");
      expect(sent).toBe(1);
      await send.click();
      await expect.poll(() => sent).toBe(2);
    });

    test("an approval can be given by keyboard alone, starting on the page of the workflow", async () => {
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, approval);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/workflows/${workflowId}`, owner);
      await press(page, page.getByRole("button", { name: "Submit a job" }));
      await page.getByLabel("sku").focus();
      await page.keyboard.type("A-17");
      await page.keyboard.press("Tab");
      await page.keyboard.type("3");
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/jobs\//);
      await press(page, page.getByRole("button", { name: "Send manager-approved", exact: true }));
      await statusOf(page, "Succeeded").waitFor();
      const { body } = await owner.api.call("GetJob", { params: { jobId: page.url().split("/").at(-1) ?? "" } });
      expect(body).toMatchObject({ status: "SUCCEEDED", input: { sku: "A-17", count: 3 } });
    });

    test("an empty form sends the event without a payload", async () => {
      const { owner, jobId } = await waitingJob(decided);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      await page.getByRole("button", { name: "Send approved" }).click();
      await statusOf(page, "Succeeded").waitFor();
      const { body } = await owner.api.call<{ events: object[] }>("ListJobEvents", { params: { jobId } });
      expect(body.events).toMatchObject([{ eventId: "approved", consumedByStep: "approve" }]);
      expect(body.events[0]).not.toHaveProperty("payload");
    });

    test("an event with a payload is typed in a form, and an event that no wait expects is reported as a probable typing mistake", async () => {
      const { owner, jobId } = await waitingJob();
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      await page.getByRole("button", { name: "Send an event" }).click();
      const dialog = page.getByRole("dialog", { name: "Send an event" });
      await dialog.getByLabel("Event", { exact: true }).fill("aproved");
      await dialog.getByLabel("Payload").fill('{"by": ');
      await dialog.getByText("JSON syntax error, line 1, column 8").waitFor();
      expect(await dialog.getByRole("button", { name: "Send event" }).isDisabled()).toBe(true);
      await dialog.getByLabel("Payload").fill('{"by": "Ada"}');
      // A click beside the dialog does not delete the text that was typed.
      await page.mouse.click(5, 5);
      expect(await dialog.getByLabel("Payload").inputValue()).toBe('{"by": "Ada"}');
      await expectAccessible(page, "the form of an event");
      await dialog.getByRole("button", { name: "Send event" }).click();
      await page.getByText(/aproved came .* ago, but no step waits for it: did the sender mean approved\?/).waitFor();
      await page.getByRole("row", { name: /aproved No step of version 1 lists this id/ }).waitFor();
      await page.getByRole("button", { name: "Show the payload of aproved" }).click();
      await page.getByRole("dialog", { name: "aproved" }).getByText('"Ada"').waitFor();
    });

    test("a cancellation asks first, and a cancelled job shows who cancelled it", async () => {
      const { owner, jobId } = await waitingJob();
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      await page.getByRole("button", { name: "Cancel job" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Keep it running" }).click();
      expect((await owner.api.call("GetJob", { params: { jobId } })).body.status).toBe("RUNNING");
      await page.getByRole("button", { name: "Cancel job" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Cancel job" }).click();
      await statusOf(page, "Cancelled").waitFor();
      await page.getByText(/^The job was cancelled .* by the user .*, at approve/).waitFor();
    });

    test("a cancellation that failed does not show its error when it is asked for again", async () => {
      browser.expectFault(/500/);
      const { owner, jobId } = await waitingJob();
      const page = await browser.newPage();
      await page.route("**/cancel", (route) => route.fulfill({ status: 500 }));
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      await page.getByRole("button", { name: "Cancel job" }).click();
      const dialog = page.getByRole("dialog", { name: "Cancel this job?" });
      await dialog.getByRole("button", { name: "Cancel job" }).click();
      await dialog.getByRole("alert").waitFor();
      await dialog.getByRole("button", { name: "Keep it running" }).click();
      await page.getByRole("button", { name: "Cancel job" }).click();
      await dialog.waitFor();
      expect(await dialog.getByRole("alert").count()).toBe(0);
    });

    test("a user who may only read sees everything, and no actions", async () => {
      const { owner, jobId } = await waitingJob();
      const viewer = await newOwner(service, "Elsewhere");
      await service.addMember(owner.organizationId, viewer.userId, ["viewer"]);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs/${jobId}`, viewer);
      await page.locator("[data-step=approve]").waitFor();
      expect(await page.getByRole("button", { name: /^Send|Cancel job|Resume/ }).count()).toBe(0);
    });

    test("a job of another organization is reported as not found", async () => {
      browser.expectFault(/404/);
      const { jobId } = await waitingJob();
      const other = await newOwner(service);
      const page = await browser.newPage();
      await signInAt(page, `${other.url}/jobs/${jobId}`, other);
      await page.getByRole("alert").getByText("There is nothing at this address").waitFor();
      await page.getByRole("heading", { level: 1, name: "Not found" }).waitFor();
      await expect.poll(() => page.title()).toBe("Not found · Stepwell");
    });

    test("a job that moves fast is not requested at every move", async () => {
      const { owner, jobId } = await waitingJob(loop);
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      await page.getByRole("button", { name: "Send approved", exact: true }).waitFor();
      let asked = 0;
      page.on("request", (request) => {
        if (request.url().endsWith("/explain")) asked += 1;
      });
      const event = { params: { jobId }, body: { eventId: "approved" } };
      const began = performance.now();
      for (let visit = 1; visit <= 40; visit += 1) await owner.api.call("SendJobEvent", event);
      await page
        .getByRole("combobox", { name: "Visit" })
        .getByRole("option", { name: "41" })
        .waitFor({ state: "attached" });
      const tookMs = performance.now() - began;
      // While the job moves, the page asks at most every half second. After that, it asks every two seconds.
      expect(asked, `in ${tookMs} ms`).toBeLessThan(4 + tookMs / 400);
    });

    test("the values of a job are shown literally: without markup, and without characters that hide or reverse others", async () => {
      const markup = '<img src=x onerror="globalThis.wasRun = true">';
      const { owner, jobId } = await waitingJob(waitingDefinition, { [markup]: markup, file: "safe\u202egnp.exe" });
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      const input = page.getByRole("region", { name: "Job input" });
      await input.getByText('"safe\\u202egnp.exe"').waitFor();
      await input.getByText(JSON.stringify(markup)).waitFor();
      expect(await page.locator("img").count()).toBe(0);
      expect(await page.evaluate("globalThis.wasRun")).toBe(undefined);
    });

    test("changes during a network outage are shown when the network is back", async () => {
      browser.expectFault(/ERR_INTERNET_DISCONNECTED|Failed to load resource/);
      const { owner, jobId } = await waitingJob();
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      await page.getByText("Live", { exact: true }).waitFor();
      await page.locator("[data-step=approve]").waitFor();
      await page.context().setOffline(true);
      await page.getByText("Connection lost, trying again").waitFor();
      await owner.api.call("SendJobEvent", { params: { jobId }, body: { eventId: "approved" } });
      await page.context().setOffline(false);
      await statusOf(page, "Succeeded").waitFor();
      await page.locator(".job-connection").getByText("Ended", { exact: true }).waitFor();
    });

    test("an approval during a network outage is reported, and is sent only when the user tries again", async () => {
      browser.expectFault(/ERR_INTERNET_DISCONNECTED|Failed to load resource/);
      const { owner, jobId } = await waitingJob();
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      const send = page.getByRole("button", { name: "Send approved", exact: true });
      await page.getByText("Live", { exact: true }).waitFor();
      await page.locator("[data-step=approve]").waitFor();
      await page.context().setOffline(true);
      await send.click();
      const report = page.getByText("This page does not send it again by itself.");
      await report.waitFor();
      await page.context().setOffline(false);
      await page.getByText("Live", { exact: true }).waitFor();
      const { body } = await owner.api.call<{ events: unknown[] }>("ListJobEvents", { params: { jobId } });
      expect(body.events).toEqual([]);
      await send.click();
      await statusOf(page, "Succeeded").waitFor();
      expect(await report.count()).toBe(0);
    });

    test("a double click on a button that changes a job changes it once", async () => {
      const { owner, jobId } = await waitingJob();
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      const sent: string[] = [];
      page.on("request", (request) => {
        if (request.method() === "POST" && /\/(cancel|resume)$/.test(request.url())) sent.push(request.url());
      });
      await page.getByRole("button", { name: "Cancel job" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Cancel job" }).dblclick();
      await statusOf(page, "Cancelled").waitFor();
      await page.getByRole("button", { name: "Resume" }).dblclick();
      await statusOf(page, "Waiting").waitFor();
      expect(sent.map((url) => url.split("/").at(-1))).toEqual(["cancel", "resume"]);
      expect(await page.getByRole("dialog").count()).toBe(0);
    });

    test("a job that another user resumes continues on this page too", async () => {
      const { owner, jobId } = await waitingJob();
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      await owner.api.call("CancelJob", { params: { jobId } });
      await statusOf(page, "Cancelled").waitFor();
      await owner.api.call("ResumeJob", { params: { jobId } });
      await statusOf(page, "Waiting").waitFor();
    });

    test("copied calls are shell commands, and contain no token", async () => {
      const { owner, jobId } = await waitingJob(waitingDefinition, { note: "it's" });
      const page = await browser.newPage();
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      const copied = async (item: string) => {
        await page.getByRole("button", { name: "Copy as curl" }).click();
        await page.getByRole("menuitem", { name: item }).click();
        return (await page.evaluate("navigator.clipboard.readText()")) as string;
      };
      expect(await copied("Send approved")).toBe(
        `curl -sS -H "Authorization: Bearer $STEPWELL_TOKEN" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"eventId":"approved"}' \\\n  '${service.baseUrl}/organizations/${owner.organizationId}/jobs/${jobId}/events'`,
      );
      expect(await copied("Submit it again")).toContain(`"inputJson":{"note":"it'\\''s"}`);
    });

    test.each(["light", "dark"] as const)(
      "a job's page follows the accessibility rules in %s in every state",
      async (colorScheme) => {
        const owner = await newOwner(service);
        const retry = { maxAttempts: 5, initialIntervalSeconds: 600 };
        const steps = [
          noopStep("prepare", "approve"),
          { ...waitStep("approve", ["approved", "paid"], "end"), onFailure: "remind", timeoutSeconds: 3_600 },
          noopStep("remind", "approve"),
          noopStep("end", null),
        ];
        const input = { order: { sku: "A", lines: [1, null, true] }, text: "x".repeat(1_000) };
        const waiting = await deploy(owner.api, definitionOf(...steps));
        const retrying = await deploy(owner.api, callingDefinition("broken", { retry }));
        const failing = await deploy(owner.api, callingDefinition("broken"));
        const waitingId = (await submitAndWait(owner.api, waiting.workflowId, input)).jobId;
        await owner.api.call("SendJobEvent", {
          params: { jobId: waitingId },
          body: { eventId: "aproved", payload: 1 },
        });
        const submit = async (workflowId: string) =>
          (await owner.api.call<{ jobId: string }>("SubmitJob", { body: { workflowId } })).body.jobId;
        const page = await browser.newPage({ colorScheme });
        const states = [
          [waitingId, "Waiting"],
          [await submit(retrying.workflowId), "Retrying"],
          [await submit(failing.workflowId), "Failed"],
        ] as const;
        await signInAt(page, owner.url, owner);
        for (const [jobId, status] of states) {
          await goTo(page, `${owner.url}/jobs/${jobId}`);
          await statusOf(page, status).waitFor();
          await page.locator("[data-step]").first().waitFor();
          await expectAccessible(page, `${status} in ${colorScheme}`);
        }
        await page.getByRole("radio", { name: "List" }).click();
        await page.getByRole("table", { name: "Steps of the workflow" }).waitFor();
        await page.getByText("As a table").click();
        await page
          .getByRole("button", { name: "Cancel job" })
          .or(page.getByRole("button", { name: "Resume" }))
          .waitFor();
        await expectAccessible(page, `lists and tables in ${colorScheme}`);
      },
    );

    test("the timeline can be zoomed, and the history filtered to the millisecond and exported", async () => {
      const { owner, jobId } = await waitingJob();
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      const timeline = page.getByRole("region", { name: "Timeline" });
      await timeline.locator("button[aria-current=true]", { hasText: "approve" }).waitFor();
      const ticks = () => timeline.locator(".timeline-ticks .timeline-track span").allInnerTexts();
      await expect.poll(ticks).toContain("0");
      await timeline.getByRole("button", { name: "Zoom in on the time" }).click();
      await timeline.getByRole("button", { name: "Later" }).click();
      await expect.poll(ticks).not.toContain("0");
      await expectAccessible(page, "a part of the timeline");
      await timeline.getByRole("button", { name: "Show the whole time" }).click();
      await expect.poll(ticks).toContain("0");

      const history = page.getByRole("region", { name: "History" });
      await history.getByRole("searchbox", { name: "Filter" }).fill("waits for");
      await history.getByRole("row", { name: /Waits for events approve approved .*\d\.\d{3}/ }).waitFor();
      await expect.poll(() => history.getByRole("row").count()).toBe(2);
      const downloaded = page.waitForEvent("download");
      await history.getByRole("button", { name: "Export as JSON" }).click();
      const file = await downloaded;
      expect(file.suggestedFilename()).toBe(`history-${jobId}.json`);
      const entries = JSON.parse(readFileSync(await file.path(), "utf8"));
      expect(entries).toContainEqual(expect.objectContaining({ type: "step.waiting", eventIds: ["approved"] }));
    });

    test("a job that a program submitted shows the name of its token", async () => {
      const owner = await newOwner(service);
      const { workflowId } = await deploy(owner.api, waitingDefinition);
      const { body } = await owner.api.call<{ token: string }>("CreateApiToken", {
        body: { name: "pipeline", permissions: ["job:submit"] },
      });
      const submitted = await owner.api.as(body.token).call<{ jobId: string }>("SubmitJob", { body: { workflowId } });
      const page = await browser.newPage();
      await signInAt(page, `${owner.url}/jobs/${submitted.body.jobId}`, owner);
      await page.locator(".job-meta").getByText("pipeline", { exact: true }).waitFor();
    });

    test("forced colours hide no information that colour normally shows", async () => {
      const { owner, jobId } = await waitingJob();
      const page = await browser.newPage();
      await page.emulateMedia({ forcedColors: "active" });
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      await page.locator("[data-step=approve]").waitFor();
      const background = (selector: string) => styleOf(page, selector, "backgroundColor");
      expect(await background(".timeline-rows .timeline-waiting")).not.toBe(await background(".panel"));
      expect(await background(".segment[data-state=on]")).not.toBe(await background(".segment[data-state=off]"));
      expect(await styleOf(page, ".graph-step-selected", "outlineStyle")).toBe("solid");
      await press(page, page.getByRole("button", { name: "Copy as curl" }));
      await page.getByRole("menuitem", { name: "Get this job" }).waitFor();
      await page.keyboard.press("ArrowDown");
      await expect.poll(() => page.locator("[role=menuitem][data-highlighted]").innerText()).toBe("Explain it");
      expect(await styleOf(page, "[role=menuitem][data-highlighted]", "outlineStyle")).toBe("solid");
      await page.keyboard.press("Escape");
      await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Copy as curl");
    });

    test("a job's page is no wider than a telephone", async () => {
      const definition = definitionOf(waitStep("approve".repeat(10), ["approved".repeat(32)], null));
      const { owner, jobId } = await waitingJob(definition, { long: "word".repeat(200) });
      const page = await browser.newPage({ width: 360 });
      await signInAt(page, `${owner.url}/jobs/${jobId}`, owner);
      await page.locator("[data-step]").waitFor();
      await page
        .getByRole("button", { name: /^Send approved/, exact: true })
        .first()
        .waitFor();
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
      await page.getByRole("radio", { name: "List" }).click();
      const steps = page.getByRole("table", { name: "Steps of the workflow" });
      await steps.getByRole("rowheader", { name: /Leads to: the end$/ }).waitFor();
      expect(await steps.getByRole("columnheader").allInnerTexts()).toEqual(["Step", "State"]);
    });
  });
});

function statusOf(page: Page, status: string) {
  return page
    .getByRole("main")
    .getByRole("status")
    .filter({ hasText: new RegExp(`^${status}$`) });
}

async function press(page: Page, button: ReturnType<Page["getByRole"]>): Promise<void> {
  await button.focus();
  await page.keyboard.press("Enter");
}

/** Changes the address within the page, as a link does, so that no new sign-in is needed. */
async function goTo(page: Page, url: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, "", ${JSON.stringify(url)}); dispatchEvent(new PopStateEvent("popstate"))`,
  );
}

function styleOf(page: Page, selector: string, property: string): Promise<unknown> {
  return page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${property}`);
}
