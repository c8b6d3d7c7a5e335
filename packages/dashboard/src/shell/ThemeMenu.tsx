import { Button } from "../parts/Button.tsx";
import { Menu, MenuChoices } from "../parts/Menu.tsx";
import { texts } from "../texts/texts.ts";
import { themes } from "../theme/theme.ts";
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
    >
      <MenuChoices
        label={texts.shell.theme}
        value={theme}
        choices={themes.map((one) => [one, texts.shell.themes[one]] as const)}
        onChoose={choose}
      />
    </Menu>
  );
}
