import { asProblem, ProblemError } from "../../api/problem.ts";
import { texts } from "../../texts/texts.ts";
import { PageHeading } from "../layout/PageHeading.tsx";
import { Problem } from "./Problem.tsx";

interface PageProblemProps {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}

/** Replaces a page that cannot be shown. It also sets the title of the browser's tab, because that of the previous page would stay otherwise. */
export function PageProblem({ error, onRetry }: PageProblemProps) {
  const problem = asProblem(error);
  return (
    <>
      <PageHeading title={problem.title} />
      <Problem error={forReaders(problem)} onRetry={onRetry} hasHeading />
    </>
  );
}

/** Replaces the service's text of a 404: it says to check the ids in the request, but a reader can only check the page's address. */
function forReaders(problem: ProblemError): ProblemError {
  const { title, status, code, requestId, errors } = problem;
  if (code !== "NotFoundError") return problem;
  return new ProblemError({ title, status, code, requestId, errors: [...errors], detail: texts.problem.notFound });
}
