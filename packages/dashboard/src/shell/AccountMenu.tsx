import { Link } from "@tanstack/react-router";
import { Button } from "../parts/controls/Button.tsx";
import { Menu } from "../parts/controls/Menu.tsx";
import { Icon } from "../parts/layout/Icon.tsx";
import { signOut } from "../parts/sign-out.ts";
import { useUser } from "../session/use-session.ts";
import { texts } from "../texts/texts.ts";

export function AccountMenu() {
  const { name, email } = useUser();
  const { shell } = texts;
  return (
    <Menu
      trigger={
        <Button kind="quiet" icon="person">
          <span className="visually-hidden">{shell.accountOf(name)}</span>
        </Button>
      }
      entries={[
        {
          kind: "label",
          content: (
            <>
              {name}
              {email !== name && (
                <>
                  <br />
                  {email}
                </>
              )}
            </>
          ),
        },
        { kind: "separator" },
        {
          kind: "link",
          link: (
            <Link to="/app/account">
              <Icon name="person" />
              {shell.yourAccount}
            </Link>
          ),
        },
        {
          kind: "command",
          content: (
            <>
              <Icon name="out" />
              {shell.signOut}
            </>
          ),
          run: () => void signOut(),
        },
      ]}
    />
  );
}
