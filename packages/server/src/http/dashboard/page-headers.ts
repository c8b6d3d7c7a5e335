/** Nothing from anywhere else, no script and no style in the page itself. `data:` is for the icons inside of style sheets. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

/** Headers of the pages that load scripts and styles which were built: the dashboard and the documentation. */
export const pageHeaders = {
  "content-security-policy": contentSecurityPolicy,
  "referrer-policy": "same-origin",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
} as const;
