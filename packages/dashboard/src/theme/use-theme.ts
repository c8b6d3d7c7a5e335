import { useSyncExternalStore } from "react";
import { chooseTheme, chosenTheme, isDark, onThemeChange, type Theme } from "./theme.ts";

export function useTheme(): [Theme, (theme: Theme) => void] {
  return [useSyncExternalStore(onThemeChange, chosenTheme), chooseTheme];
}

/** For what is drawn and cannot follow the theme's variables by itself. */
export function useIsDark(): boolean {
  return useSyncExternalStore(onThemeChange, isDark);
}
