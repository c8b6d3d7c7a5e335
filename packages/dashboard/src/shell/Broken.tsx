import type { ErrorComponentProps } from "@tanstack/react-router";
import { ProblemError } from "../api/problem.ts";
import { Button } from "../parts/controls/Button.tsx";
import { PageHeading } from "../parts/layout/PageHeading.tsx";
import { Problem } from "../parts/states/Problem.tsx";
import { texts } from "../texts/texts.ts";

/** Replaces a page that threw an error. The cause is a defect, a part that could not be loaded, or an error of the API that no code caught. */
export function Broken({ error, reset }: ErrorComponentProps) {
  const { shell } = texts;
  if (error instanceof ProblemError) return <Problem error={error} onRetry={reset} />;
  return (
    <>
      <PageHeading title={shell.brokenTitle} />
      <p>{shell.broken}</p>
      <div>
        <Button kind="main" icon="retry" onClick={() => window.location.reload()}>
          {shell.reload}
        </Button>
      </div>
      <Problem error={error} />
    </>
  );
}
