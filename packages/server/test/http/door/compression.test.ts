import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { definitionOf, noopStep, straightDefinition } from "@stepwell/testing/definitions.ts";
import { deploy, submitAndWait } from "@stepwell/testing/flow.ts";
import { type TestOrganization, useService } from "@stepwell/testing/service.ts";
import { onOneStore } from "@stepwell/testing/stores.ts";
import { beforeAll, expect, test } from "vitest";

const manySteps = Array.from({ length: 60 }, (_, index) =>
  noopStep(`step-${index}`, index < 59 ? `step-${index + 1}` : null),
);

onOneStore((home) => {
  const service = useService(home);
  let organization: TestOrganization;
  let place: string;
  /** The paths of a large answer without an ETag, and of one with an ETag. */
  let large: string;
  let tagged: string;

  beforeAll(async () => {
    organization = await service.newOrganization();
    place = `/organizations/${organization.organizationId}`;
    const { workflowId, versionId } = await deploy(organization.api, definitionOf(...manySteps));
    large = `${place}/workflows/${workflowId}/versions/${versionId}`;
    tagged = `${place}/workflows/${workflowId}/tags/$LIVE`;
  });

  /** Sends a request as a client that does not decompress answers. */
  async function ask(path: string, accepted = "gzip", more: { method?: string; body?: object } = {}) {
    const { method = "GET", body } = more;
    const headers = {
      authorization: `Bearer ${organization.owner.token}`,
      ...(accepted !== "" && { "accept-encoding": accepted }),
      ...(body !== undefined && { "content-type": "application/json" }),
    };
    const asked = request(service.baseUrl + path, { method, headers });
    asked.end(body === undefined ? undefined : JSON.stringify(body));
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    return answer;
  }

  async function sizes(path: string) {
    const [plain, packed] = [await ask(path, ""), await ask(path)];
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(packed.headers["content-encoding"]).toBe("gzip");
    for (const { headers } of [plain, packed]) expect(headers.vary).toBe("Origin, Accept-Encoding");
    const [whole, small] = [await buffer(plain), await buffer(packed)];
    expect(gunzipSync(small).equals(whole)).toBe(true);
    return { whole: whole.length, small: small.length };
  }

  test("a large answer is compressed for a client that accepts gzip, with the same content", async () => {
    const { whole, small } = await sizes(large);
    expect(small * 4).toBeLessThan(whole);
  });

  test("an answer that is sent in pieces is compressed too, and has the same headers for HEAD", async () => {
    const { workflowId } = await deploy(organization.api, straightDefinition);
    const { jobId } = await submitAndWait(organization.api, workflowId, { text: "word ".repeat(60_000) });
    const path = `${place}/jobs/${jobId}`;
    const { whole } = await sizes(path);
    expect(whole).toBeGreaterThan(300_000);
    const looked = await ask(path, "gzip", { method: "HEAD" });
    expect([looked.statusCode, looked.headers["content-encoding"]]).toEqual([200, "gzip"]);
    expect((await buffer(looked)).length).toBe(0);
  });

  test.each(["", "identity", "br", "gzip;q=0", "deflate, gzip;q=0.0"])(
    "a client that sends Accept-Encoding: %s gets an uncompressed answer",
    async (accepted) => {
      const answer = await ask(large, accepted);
      expect(answer.headers["content-encoding"]).toBeUndefined();
      expect(JSON.parse(String(await buffer(answer)))).toHaveProperty("definition");
    },
  );

  test("small answers, streams, pages and the sign-in are not compressed", async () => {
    const { workflowId } = await deploy(organization.api, straightDefinition);
    const { jobId } = await submitAndWait(organization.api, workflowId);
    for (const path of [
      place,
      `${place}/jobs/${jobId}/stream`,
      `${place}/audit/export`,
      "/oidc/device",
      "/oidc/jwks",
    ]) {
      const answer = await ask(path, "gzip, br");
      expect([answer.statusCode, answer.headers["content-encoding"]], path).toEqual([200, undefined]);
      answer.destroy();
    }
  });

  test("an answer that shows a secret is not compressed, however large it is", async () => {
    const tags = Array.from({ length: 100 }, (_, index) => `a-rather-long-name-for-a-tag-of-a-workflow-${index}`);
    const body = { name: "t", permissions: ["job:submit"], boundTo: { tags } };
    const answer = await ask(`${place}/api-tokens`, "gzip", { method: "POST", body });
    expect([answer.statusCode, answer.headers["content-encoding"]]).toEqual([201, undefined]);
    const text = String(await buffer(answer));
    expect(text.length).toBeGreaterThan(4_096);
    expect(JSON.parse(text).token).toMatch(/^stw_/);
  });

  test("an answer with an ETag is not compressed, so that no proxy changes the value for If-Match", async () => {
    const answer = await ask(tagged);
    expect(answer.headers.etag).toMatch(/^"/);
    expect([answer.statusCode, answer.headers["content-encoding"]]).toEqual([200, undefined]);
    expect((await buffer(answer)).length).toBeGreaterThan(4_096);
  });

  test("the API document is sent compressed, and not sent again to a client that already has it", async () => {
    const { headers } = await ask("/openapi.json", "gzip, br");
    expect(headers["content-encoding"]).toBe("br");
    const { whole, small } = await sizes("/openapi.json");
    expect(small * 5).toBeLessThan(whole);
    const again = await fetch(`${service.baseUrl}/openapi.json`, { headers: { "if-none-match": headers.etag ?? "" } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });
});
