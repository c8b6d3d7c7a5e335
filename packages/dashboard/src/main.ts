import "./theme/base.css";
// The styles of the bar that index.html shows until the pages are loaded.
import "./shell/TopBar.css";
import { session } from "./session/session.ts";
import { applyTheme } from "./theme/theme.ts";

/**
 * This script is small and does not contain the pages. So a browser that must first go to the sign-in does not wait for them. When the browser comes
 * back, the pages are loaded while the sign-in is completed.
 */
applyTheme();
const isBack = session.isComingBack();
if (isBack) void import("./pages.tsx");
session.subscribe(() => void import("./pages.tsx").then(({ showPages }) => showPages()));
void session.start();
