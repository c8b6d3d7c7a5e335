import { useSyncExternalStore } from "react";
import { chooseTheme, chosenTheme, isDark, onThemeChange, type Theme } from "./theme.ts";

export function useTheme(): [Theme, (theme: Theme) => void] {
  return [useSyncExternalStore(onThemeChange, chosenTheme), chooseTheme];
}

/** Tells whether the page is dark, for drawings that cannot use the theme's variables. */
export function useIsDark(): boolean {
  return useSyncExternalStore(onThemeChange, isDark);
}
