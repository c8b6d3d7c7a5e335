import { useEffect } from "react";
import "./SignedOut.css";
import { Button } from "../parts/controls/Button.tsx";
import { Problem } from "../parts/states/Problem.tsx";
import { session } from "../session/session.ts";
import { texts } from "../texts/texts.ts";

interface SignedOutProps {
  /** The reason why a sign-in failed. */
  readonly error?: unknown;
  readonly isInsecure?: boolean;
}

/** Replaces every page if the sign-in was cancelled or failed, or if the browser does not allow a sign-in. */
export function SignedOut({ error, isInsecure = false }: SignedOutProps) {
  const { shell } = texts;
  const title = isInsecure ? shell.insecureTitle : error === undefined ? shell.signedOutTitle : shell.signInFailed;
  useEffect(() => {
    document.title = `${title} · ${texts.shell.product}`;
  }, [title]);
  return (
    <main className="signed-out">
      <h1>{title}</h1>
      {error === undefined ? (
        <p className="soft">{isInsecure ? shell.insecure : shell.signedOut}</p>
      ) : (
        <Problem error={error} />
      )}
      {!isInsecure && (
        <Button kind="main" onClick={() => void session.signIn()}>
          {shell.signIn}
        </Button>
      )}
    </main>
  );
}
