/** How long what the provider issues holds. Sessions have settings of their own. */

/** The Bearer value. The interface that we implement fixes it. */
export const idTokenSeconds = 3_600;
/** Good for the userinfo endpoint and nothing else. */
export const accessTokenSeconds = 3_600;
/** From the redirect to the exchange. */
export const codeSeconds = 60;
/** From opening the sign-in page to signing in. */
export const interactionSeconds = 3_600;
/** From the command line's request to the confirmation in a browser. */
export const deviceCodeSeconds = 600;
