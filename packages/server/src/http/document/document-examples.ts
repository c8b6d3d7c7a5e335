import { examples } from "../examples/examples.ts";

/** The part of an operation of the document that concerns examples. */
interface DocumentedOperation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { example?: unknown }>>;

export interface DocumentWithBodies {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
}

/** Puts the example of each operation into the document. An alias gets the example of its operation. */
export function addExamples({ paths }: DocumentWithBodies): void {
  for (const { operationId, requestBody, responses } of Object.values(paths).flatMap(
    Object.values<DocumentedOperation>,
  )) {
    const { request, answer } = examples[operationId.replace("ApiAuthToken", "ApiToken")] ?? {};
    if (request !== undefined) putInto(requestBody?.content, request);
    if (answer !== undefined) putInto(answerOfSuccess(responses), answer);
  }
}

/**
 * Returns the content of the answer to a successful request. Of several such answers it takes the one with the highest status, because a request that
 * creates something gets that status.
 */
function answerOfSuccess(responses: DocumentedOperation["responses"]): Content | undefined {
  const found = Object.entries(responses).filter(([status, { content }]) => status < "300" && content !== undefined);
  return found.at(-1)?.[1].content;
}

function putInto(content: Content | undefined, example: unknown): void {
  const [first] = Object.values(content ?? {});
  if (first !== undefined) first.example = example;
}
