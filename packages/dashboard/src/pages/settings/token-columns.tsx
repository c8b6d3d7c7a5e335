import { Button } from "../../parts/controls/Button.tsx";
import type { Column } from "../../parts/data/Table.tsx";
import { Expiry } from "../../parts/words/Expiry.tsx";
import { Time } from "../../parts/words/Time.tsx";
import { texts } from "../../texts/texts.ts";

/** The fields of a token that the columns below show. */
interface ListedToken {
  readonly name: string;
  readonly tokenPrefix: string;
  readonly lastUsedAt?: string;
  readonly expiresAt?: string;
}

export function prefixColumn(): Column<ListedToken> {
  const cell = ({ tokenPrefix }: ListedToken) => <code>{tokenPrefix}…</code>;
  return { id: "prefix", header: texts.apiTokens.prefix, width: "180px", isOptional: true, isSelfEvident: true, cell };
}

/** The use and the expiry of a token: when it was last used, and how long it is valid. */
export function lifeColumns(): readonly Column<ListedToken>[] {
  const words = texts.apiTokens;
  return [
    {
      id: "used",
      header: words.lastUsed,
      cell: ({ lastUsedAt }) => (lastUsedAt === undefined ? words.neverUsed : <Time at={lastUsedAt} isRelative />),
    },
    { id: "expires", header: words.expires, isOptional: true, cell: ({ expiresAt }) => <Expiry at={expiresAt} /> },
  ];
}

export function revokeColumn<Token extends ListedToken>(onRevoke: (token: Token) => void): Column<Token> {
  const words = texts.apiTokens;
  return {
    id: "actions",
    header: texts.settings.actions,
    align: "end",
    width: "100px",
    cell: (token) => (
      <Button kind="quiet" aria-label={words.revokeNamed(token.name)} onClick={() => onRevoke(token)}>
        {words.revoke}
      </Button>
    ),
  };
}
