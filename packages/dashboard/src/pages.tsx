import { StrictMode } from "react";
import { createRoot, type Root } from "react-dom/client";
import { App } from "./App.tsx";

let root: Root | undefined;

/** Puts the pages into index.html, once. */
export function showPages(): void {
  if (root !== undefined) return;
  const place = document.getElementById("root");
  if (place === null) throw new Error("index.html has no place for the pages.");
  root = createRoot(place);
  root.render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
