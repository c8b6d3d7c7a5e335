import { CatchBoundary } from "@tanstack/react-router";
import { type ReactNode, Suspense } from "react";
import { texts } from "../../texts/texts.ts";
import { Button } from "../controls/Button.tsx";
import { EmptyState } from "./EmptyState.tsx";

interface OnDemandProps {
  /** What is shown until the content is loaded. */
  readonly waiting?: ReactNode;
  /** What is shown when the content cannot be loaded. Default: a note that says so. */
  readonly instead?: ReactNode;
  readonly children: ReactNode;
}

/**
 * Wraps a part of the page that is loaded when it is first drawn. If loading fails, for example without a network, the rest of the page still works.
 */
export function OnDemand({ waiting, instead = <NotLoaded />, children }: OnDemandProps) {
  return (
    <CatchBoundary getResetKey={() => "loaded"} errorComponent={() => instead}>
      <Suspense fallback={waiting}>{children}</Suspense>
    </CatchBoundary>
  );
}

/**
 * Asks the reader to load the whole page again. To load only the part again may not be enough, because React and some browsers remember that it
 * failed.
 */
function NotLoaded() {
  const { parts, shell } = texts;
  return (
    <EmptyState text={parts.notLoaded}>
      <Button icon="retry" onClick={() => window.location.reload()}>
        {shell.reload}
      </Button>
    </EmptyState>
  );
}
