import { asProblem } from "../../api/problem.ts";
import { PageHeading } from "../layout/PageHeading.tsx";
import { Problem } from "./Problem.tsx";

interface PageProblemProps {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
}

/** Replaces a page that cannot be shown. It sets a heading and a window title, since those of the page before would stay otherwise. */
export function PageProblem({ error, onRetry }: PageProblemProps) {
  return (
    <>
      <PageHeading title={asProblem(error).title} />
      <Problem error={error} onRetry={onRetry} />
    </>
  );
}
