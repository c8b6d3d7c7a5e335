import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inWholeMatrix } from "@stepwell/testing/whole-matrix.ts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { isLoopback } from "../src/connection/address.ts";
import { endAll, run } from "./process.ts";

// A repository can contain a file `.stepwell/dev.json` that `stepwell dev` did not write. These tests show what such a file can and cannot do.
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "stepwell-chosen-"));
});
afterAll(async () => {
  endAll();
  await rm(directory, { recursive: true, force: true });
});

/** A server that answers each request as WhoAmI does, and records the tokens. It can also be reached at 0.0.0.0, which is no loopback address. */
async function recordingServer() {
  const tokens: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    tokens.push(request.headers.authorization);
    response.end('{"type":"user","id":"u","name":"somebody"}');
  }).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise((ready) => server.once("listening", ready));
  const { port } = server.address() as AddressInfo;
  return { tokens, here: `http://127.0.0.1:${port}`, elsewhere: `http://0.0.0.0:${port}` };
}

/** Writes this dev.json into a new directory, and returns the environment of commands that use the directory. */
async function directoryWith(devFile: Record<string, string>) {
  const dataDir = await mkdtemp(join(directory, "dev-"));
  await writeFile(join(dataDir, "dev.json"), JSON.stringify(devFile));
  return { XDG_CONFIG_HOME: dataDir, HOME: dataDir, STEPWELL_DATA_DIR: dataDir };
}

test("STEPWELL_TOKEN is sent only to an address that the user has named, and not to the one in dev.json", async () => {
  const { tokens, here } = await recordingServer();
  const environment = { ...(await directoryWith({ baseUrl: here, token: "made-by-dev" })), STEPWELL_TOKEN: "secret" };
  const { code, complaint } = await run(environment, "whoami");
  expect({ code, complaint }).toEqual({
    code: 4,
    complaint: expect.stringMatching(
      /^stepwell: STEPWELL_TOKEN is set, but STEPWELL_URL is not\. .*dev\.json.* Set STEPWELL_URL to .*\n$/,
    ),
  });
  expect(tokens).toEqual([]);
  expect((await run({ ...environment, STEPWELL_URL: here }, "whoami")).code).toBe(0);
  expect((await run({ ...environment, STEPWELL_TOKEN: "" }, "whoami")).code).toBe(0);
  expect(tokens).toEqual(["Bearer secret", "Bearer made-by-dev"]);
});

inWholeMatrix(() => {
  test("a dev.json with the address of another machine is ignored with one warning, and nothing is sent to that address", async () => {
    const { tokens, elsewhere } = await recordingServer();
    const environment = await directoryWith({ baseUrl: elsewhere, token: "made-by-dev" });
    const ignored = `dev.json is ignored, because its address ${elsewhere} is not a loopback address, such as 127.0.0.1.`;
    for (const token of ["", "secret"]) {
      for (const words of [["whoami"], ["logout"], []]) {
        const { complaint, output } = await run({ ...environment, STEPWELL_TOKEN: token }, ...words);
        expect({ words, warnings: complaint.split(ignored).length - 1 }).toEqual({ words, warnings: 1 });
        expect(complaint + output).toMatch(/No service is chosen|Nobody is signed in/);
      }
    }
    expect(tokens).toEqual([]);
  });

  test("a dev.json with the address of another machine does not hide the profile in use, and causes no warning if the command or the environment names the service", async () => {
    const { tokens, here, elsewhere } = await recordingServer();
    const environment = { ...(await directoryWith({ baseUrl: elsewhere })), STEPWELL_TOKEN: "secret" };
    await run(environment, "profile", "set", "prod", "--url", here);
    await run(environment, "profile", "use", "prod");
    const inUse = await run(environment, "whoami");
    expect(inUse).toMatchObject({ code: 0, output: expect.stringContaining(here) });
    expect(inUse.complaint).toMatch(/^stepwell: [^\n]*dev\.json is ignored[^\n]*\n$/);
    expect(await run(environment, "whoami", "--profile", "prod")).toMatchObject({ code: 0, complaint: "" });
    expect(await run({ ...environment, STEPWELL_URL: here }, "whoami")).toMatchObject({ code: 0, complaint: "" });
    expect(tokens).toEqual(Array(3).fill("Bearer secret"));
    expect((await run(environment, "login")).complaint).toContain(`At ${here} there is no Stepwell service`);
  });

  test("an address in dev.json that is no address is reported with the name of the file", async () => {
    const environment = await directoryWith({ baseUrl: "localhost:8080" });
    expect(await run(environment, "whoami")).toMatchObject({
      code: 2,
      complaint: expect.stringMatching(
        /^stepwell: "localhost:8080" \(\S+dev\.json\) is not the address of a service\./,
      ),
    });
  });
});

test.each([
  "http://localhost:8080",
  "http://stepwell.localhost",
  "https://127.9.8.7/path",
  "http://2130706433",
  "http://[::1]:8080",
])("%s is a loopback address", (baseUrl) => {
  expect(isLoopback(baseUrl)).toBe(true);
});

test.each([
  "http://0.0.0.0:8080",
  "http://[::]:8080",
  "http://192.168.1.2",
  "https://evil.example",
  "https://localhost.evil.example",
  "https://127.0.0.1.evil.example",
  "https://evillocalhost",
])("%s is no loopback address", (baseUrl) => {
  expect(isLoopback(baseUrl)).toBe(false);
});
