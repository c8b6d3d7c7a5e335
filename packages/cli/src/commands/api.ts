import { StepwellError } from "@stepwell/client";
import { type Command, InvalidArgumentError, Option } from "commander";
import { connect, type Place, reach } from "../connection/connection.ts";
import { isPathStep, parseJson } from "../option.ts";
import { print, write } from "../output/terminal.ts";

/** Declares the command that calls any operation of the API, for operations that have no command of their own. */
export function declareApi(program: Command): void {
  program
    .command("api")
    .argument(
      "<path>",
      "such as '/organizations/{organizationId}/limits'; the command fills in {organizationId}",
      parsePath,
    )
    .addOption(new Option("--method <method>", "by default GET, or POST with --input").choices(methods))
    .option("--input <json>", "the body of the request: JSON, @FILE, or - for standard input", parseJson)
    .option(
      "--idempotency-key <key>",
      "a key for safe repetition: the service carries out requests with the same key only once",
    )
    .description("send a request to any operation of the HTTP API, and print the body of its answer")
    .action(send);
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

interface ApiOptions extends Place {
  readonly method?: (typeof methods)[number];
  readonly input?: unknown;
  readonly idempotencyKey?: string;
}

async function send(path: string, { input, method, idempotencyKey, ...place }: ApiOptions): Promise<void> {
  const { client, ...connection } = path.includes(placeholder) ? await connect(place) : await reach(place);
  const organizationId = "organizationId" in connection ? String(connection.organizationId) : "";
  const call = client.api[method ?? (input === undefined ? "GET" : "POST")] as unknown as Call;
  const { data, error } = await call(path.replaceAll(placeholder, organizationId), {
    body: input,
    headers: idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey },
    parseAs: "stream",
  });
  if (error !== undefined) throw new StepwellError(error);
  for await (const part of data ?? []) await write(part);
  // Without this line break, the shell's prompt would begin at the end of the answer.
  if (process.stdout.isTTY) print();
}

const placeholder = "{organizationId}";

/** A call by a path that is known only at run time. The types of the client allow only the paths in the description of the API. */
type Call = (
  path: string,
  init: { readonly body: unknown; readonly headers: Readonly<Record<string, string>>; readonly parseAs: "stream" },
) => Promise<{
  readonly data?: ReadableStream<Uint8Array> | null;
  readonly error?: ConstructorParameters<typeof StepwellError>[0];
}>;

function parsePath(text: string): string {
  if (/[{}]/.test(text.replaceAll(placeholder, ""))) {
    throw new InvalidArgumentError(`The command fills in only ${placeholder}. Write all other ids into the path.`);
  }
  // With `.` or `..`, the URL would be that of another operation: `DELETE …/workflows/..` would delete the organization.
  if ((text.split(/[?#]/)[0] ?? "").split(/[/\\]/).some(isPathStep)) {
    throw new InvalidArgumentError("A part of the path is . or .., which leads to another path.");
  }
  if (/^\/[^/\s][^\s]*$/.test(text)) return text;
  throw new InvalidArgumentError("Give a path of the API. It begins with exactly one slash and contains no spaces.");
}
