import { useSyncExternalStore } from "react";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const key = "stepwell.theme";
const listeners = new Set<() => void>();

/** The theme that was chosen in this browser; `system` follows it as it changes. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  return [useSyncExternalStore(subscribe, chosenTheme), chooseTheme];
}

/** Before the first paint. */
export function applyTheme(): void {
  const theme = chosenTheme();
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** Whether the page is dark now, whoever decided it: for what is drawn and cannot follow variables by itself. */
export function useIsDark(): boolean {
  return useSyncExternalStore(subscribe, isDark);
}

function isDark(): boolean {
  const theme = chosenTheme();
  return theme === "system" ? systemDark.matches : theme === "dark";
}

const systemDark = window.matchMedia("(prefers-color-scheme: dark)");

function chosenTheme(): Theme {
  const stored = read();
  return themes.find((theme) => theme === stored) ?? "system";
}

function chooseTheme(theme: Theme): void {
  try {
    localStorage.setItem(key, theme);
  } catch {
    // A browser that keeps nothing: the choice holds for this page.
    forgetful = theme;
  }
  applyTheme();
  for (const listener of listeners) listener();
}

let forgetful: string | null = null;

function read(): string | null {
  try {
    return localStorage.getItem(key) ?? forgetful;
  } catch {
    return forgetful;
  }
}

/** Other tabs choose too. */
function subscribe(listener: () => void): () => void {
  const onStorage = () => {
    applyTheme();
    listener();
  };
  listeners.add(listener);
  window.addEventListener("storage", onStorage);
  systemDark.addEventListener("change", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", onStorage);
    systemDark.removeEventListener("change", listener);
  };
}
