import type { ApiToken } from "../../../api/api-tokens.ts";
import { ExpiryChoice } from "../../../parts/controls/ExpiryChoice.tsx";
import { Field } from "../../../parts/controls/Field.tsx";
import { texts } from "../../../texts/texts.ts";
import { PermissionPicker } from "../PermissionPicker.tsx";
import { BoundFields } from "./BoundFields.tsx";
import { missingIn, type TokenDraft } from "./token-draft.ts";
import type { tokenProblems } from "./token-problems.ts";

interface TokenFieldsProps {
  readonly organizationId: string;
  readonly draft: TokenDraft;
  readonly onChange: (draft: TokenDraft) => void;
  /** True after an attempt to send the draft. From then on, the fields say what is missing. */
  readonly wasSent: boolean;
  readonly problems: ReturnType<typeof tokenProblems>;
  /** The token that is changed; left out for a new token. */
  readonly present?: ApiToken;
}

/** The fields of a token: its purpose, its expiry, its bound and its permissions. */
export function TokenFields({ organizationId, draft, onChange, wasSent, problems, present }: TokenFieldsProps) {
  const words = texts.apiTokens;
  const missing = wasSent ? missingIn(draft) : undefined;
  const set = (change: Partial<TokenDraft>) => onChange({ ...draft, ...change });
  return (
    <>
      <Field
        label={words.name}
        hint={words.nameHint}
        value={draft.name}
        onChange={(event) => set({ name: event.target.value })}
        problem={problems.at("/name")}
        required
        maxLength={256}
        autoComplete="off"
      />
      <ExpiryChoice
        value={draft.expiry}
        onChange={(expiry) => set({ expiry })}
        problem={problems.at("/expiresAt")}
        {...(present !== undefined && { present })}
      />
      <BoundFields
        organizationId={organizationId}
        draft={draft}
        onChange={set}
        problems={problems}
        isMissing={missing === "bound"}
      />
      {draft.bound !== "event" && (
        <PermissionPicker
          organizationId={organizationId}
          value={draft.permissions}
          onChange={(permissions) => set({ permissions })}
          problem={missing === "permissions" ? words.choosePermission : problems.at("/permissions")}
        />
      )}
    </>
  );
}
