import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./theme/base.css";
import { App } from "./App.tsx";
import { session } from "./session/session.ts";
import { applyTheme } from "./theme/theme.ts";

applyTheme();
void session.start();

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no place for the page.");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
