import { CatchBoundary } from "@tanstack/react-router";
import { type ReactNode, Suspense } from "react";
import { texts } from "../../texts/texts.ts";
import { Button } from "../controls/Button.tsx";
import { EmptyState } from "./EmptyState.tsx";

interface OnDemandProps {
  /** The content until it is loaded. */
  readonly waiting?: ReactNode;
  /** The content when it cannot be loaded. Default: a note that says so. */
  readonly instead?: ReactNode;
  readonly children: ReactNode;
}

/** Wraps a part of the page that is loaded when it is first drawn. If loading fails, for example without a network, the rest of the page goes on. */
export function OnDemand({ waiting, instead = <NotLoaded />, children }: OnDemandProps) {
  return (
    <CatchBoundary getResetKey={() => "loaded"} errorComponent={() => instead}>
      <Suspense fallback={waiting}>{children}</Suspense>
    </CatchBoundary>
  );
}

/** Only loading the page again always helps: browsers and the loader remember a failed part. */
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
