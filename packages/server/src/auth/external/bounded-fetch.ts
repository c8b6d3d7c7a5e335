/** The answers of an issuer are small: a document, a set of keys, a token. */
const maxAnswerBytes = 1024 * 1024;

/** Works like `fetch`, but follows no redirect and rejects an answer that is too long. */
export async function boundedFetch(url: string, options: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...options, redirect: "manual" });
  const { status, statusText, headers } = response;
  if (response.body === null) return new Response(null, { status, statusText, headers });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.length;
    if (length > maxAnswerBytes) throw new TypeError("fetch failed: the answer is too large");
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks), { status, statusText, headers });
}
