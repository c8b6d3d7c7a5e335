export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const key = "stepwell.theme";
const listeners = new Set<() => void>();
const systemDark = window.matchMedia("(prefers-color-scheme: dark)");

/** Sets the theme of the page. Before the first call, the browser may have shown the frame of `index.html` in the system's theme. */
export function applyTheme(): void {
  const theme = chosenTheme();
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** The theme that was chosen in this browser. `system` follows the system's theme. */
export function chosenTheme(): Theme {
  const stored = read();
  return themes.find((theme) => theme === stored) ?? "system";
}

export function chooseTheme(theme: Theme): void {
  try {
    localStorage.setItem(key, theme);
  } catch {
    // The browser stores nothing, so the choice is valid only on this page.
    forgetful = theme;
  }
  applyTheme();
  for (const listener of listeners) listener();
}

export function isDark(): boolean {
  const theme = chosenTheme();
  return theme === "system" ? systemDark.matches : theme === "dark";
}

/** Calls the listener when the theme may have changed: by a choice here or in another tab, or in the system. */
export function onThemeChange(listener: () => void): () => void {
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

let forgetful: string | null = null;

function read(): string | null {
  try {
    return localStorage.getItem(key) ?? forgetful;
  } catch {
    return forgetful;
  }
}
