import { asProblem } from "../../api/problem.ts";
import { PageHeading } from "../layout/PageHeading.tsx";
import { Problem } from "./Problem.tsx";

interface PageProblemProps {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}

/** Instead of a page that cannot be shown: with a heading and a window's title of its own, or those of the page before would stand. */
export function PageProblem({ error, onRetry }: PageProblemProps) {
  return (
    <>
      <PageHeading title={asProblem(error).title} />
      <Problem error={error} onRetry={onRetry} />
    </>
  );
}
