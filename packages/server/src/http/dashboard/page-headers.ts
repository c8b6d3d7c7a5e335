/** The policy allows nothing from other sites, and no script or style in the page itself. `data:` is for icons in style sheets. */
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

/** The headers of pages that load built scripts and styles: the dashboard and the documentation. */
export const pageHeaders = {
  "content-security-policy": contentSecurityPolicy,
  "referrer-policy": "same-origin",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
} as const;
