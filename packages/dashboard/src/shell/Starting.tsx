import "./Starting.css";
import { texts } from "../texts/texts.ts";

/** While the sign-in is on its way. Shows itself only where that takes a moment. */
export function Starting() {
  return (
    <main className="starting" role="status">
      <span className="spinner" aria-hidden="true" />
      {texts.shell.loading}
    </main>
  );
}
