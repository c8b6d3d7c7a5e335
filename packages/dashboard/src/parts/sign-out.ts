import { asProblem } from "../api/problem.ts";
import { endSession } from "../api/sessions.ts";
import { session } from "../session/session.ts";
import { toastFailure } from "./toasts.ts";

/**
 * Ends the session with everything that was issued in it, and goes to the first page. The session is ended by a request to the API, with the token in
 * a header. The provider's sign-out page is not used: it takes the token in its address, which the browser's history and the logs of proxies keep.
 */
export async function signOut(): Promise<void> {
  const { state } = session;
  if (state.status !== "signed-in") return;
  try {
    await endSession(state.user.sessionId);
  } catch (error) {
    const { status } = asProblem(error);
    const hasEndedBefore = status === 401 || status === 404;
    if (!hasEndedBefore) return toastFailure(error);
  }
  session.leave();
}
