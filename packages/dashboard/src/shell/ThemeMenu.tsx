import { Button } from "../parts/controls/Button.tsx";
import { Menu } from "../parts/controls/Menu.tsx";
import { texts } from "../texts/texts.ts";
import { type Theme, themes } from "../theme/theme.ts";
import { useIsDark, useTheme } from "../theme/use-theme.ts";

export function ThemeMenu() {
  const [theme, choose] = useTheme();
  const isDark = useIsDark();
  return (
    <Menu
      trigger={
        <Button kind="quiet" icon={isDark ? "moon" : "sun"}>
          <span className="visually-hidden">{texts.shell.theme}</span>
        </Button>
      }
      entries={[
        {
          kind: "choices",
          label: texts.shell.theme,
          value: theme,
          choices: themes.map((one) => [one, texts.shell.themes[one]]),
          onChoose: (chosen) => choose(chosen as Theme),
        },
      ]}
    />
  );
}
