/** The lifetimes of the tokens, codes and forms of the provider. Sessions have settings of their own. */

/** The lifetime of an id token, which clients send as the Bearer value. The documentation of the API promises this hour. */
export const idTokenSeconds = 3_600;
/** The lifetime of an access token, which only the userinfo endpoint accepts. */
export const accessTokenSeconds = 3_600;
/** The time from the redirect to the exchange of the code. */
export const codeSeconds = 60;
/** The time from opening the sign-in page to signing in. */
export const interactionSeconds = 3_600;
/** The time from the command line's request to the confirmation in a browser. */
export const deviceCodeSeconds = 600;
