import { hash } from "node:crypto";
import { Markup } from "./html.ts";

/** The style of all pages that need no script, such as the sign-in. It is inside each page, so nothing more has to be loaded. */
export const style = new Markup(`
:root { color-scheme: light dark; --paper: #f5f6f8; --card: #fff; --ink: #1b2430; --soft: #566173; --line: #8a94a6;
  --accent: #1f5fbf; --on-accent: #fff; --alert: #a4161a; --alert-paper: #fdecec; }
@media (prefers-color-scheme: dark) { :root { --paper: #12161c; --card: #1b212a; --ink: #e8ecf2; --soft: #a7b2c2; --line: #667387;
  --accent: #7eb0ff; --on-accent: #0c1420; --alert: #ffb3b3; --alert-paper: #3b1a1c; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 16px; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { width: 100%; max-width: 26rem; padding: 32px 28px; background: var(--card); border-radius: 12px;
  box-shadow: 0 1px 3px rgb(0 0 0 / .15), 0 8px 32px rgb(0 0 0 / .08); overflow-wrap: anywhere; }
h1 { margin: 0 0 20px; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 28px 0 12px; font-size: 1.125rem; line-height: 1.3; }
p { margin: 0 0 16px; }
a { color: var(--accent); }
dl { margin: 0 0 16px; } dt { color: var(--soft); font-size: .875rem; } dd { margin: 0 0 8px; }
ul { margin: 0 0 16px; padding-left: 20px; }
code, .code { font-family: ui-monospace, SFMono-Regular, Menlo, monospace; }
.code { font-size: 1.5rem; letter-spacing: .1em; }
.brand { margin: 0 0 4px; color: var(--soft); font-weight: 600; letter-spacing: .02em; }
.hint, .note { color: var(--soft); font-size: .875rem; }
.hint { margin: 4px 0 0; }
.field { margin: 0 0 16px; }
label { display: block; margin: 0 0 4px; font-weight: 600; }
input:not([type=hidden]) { width: 100%; padding: 10px 12px; font: inherit; color: inherit; background: transparent;
  border: 1px solid var(--line); border-radius: 8px; }
button, a.button { width: 100%; min-height: 44px; margin: 0 0 12px; padding: 10px 16px; font: inherit; font-weight: 600; border-radius: 8px; cursor: pointer;
  border: 1px solid var(--accent); }
button.main { background: var(--accent); color: var(--on-accent); }
button.quiet { background: transparent; color: var(--accent); }
a.button { display: block; text-align: center; text-decoration: none; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.alert { padding: 10px 12px; color: var(--alert); background: var(--alert-paper); border-left: 4px solid var(--alert); border-radius: 4px; }
main > :last-child, main > form:last-child > :last-child { margin-bottom: 0; }
hr { margin: 20px 0; border: 0; border-top: 1px solid var(--line); }
@media (max-width: 400px) { main { padding: 24px 16px; } }
`);

/** The hash of the style, as the content security policy names it. */
export const styleHash = `sha256-${hash("sha256", style.text, "base64")}`;
