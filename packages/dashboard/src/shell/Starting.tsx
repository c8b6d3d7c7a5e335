import "./Starting.css";
import { texts } from "../texts/texts.ts";

/** Shown while the sign-in runs, if that takes longer than a moment. */
export function Starting() {
  return (
    <main className="starting" role="status">
      <span className="spinner" aria-hidden="true" />
      {texts.shell.loading}
    </main>
  );
}
