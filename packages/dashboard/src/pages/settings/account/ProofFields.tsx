import type { fieldProblems } from "../../../api/problem.ts";
import { Field } from "../../../parts/controls/Field.tsx";
import { texts } from "../../../texts/texts.ts";

/** What a person types to confirm that an action is their own. */
export interface TypedProof {
  readonly password: string;
  readonly code: string;
}

export const emptyProof: TypedProof = { password: "", code: "" };

/** Returns the pointers whose problems `ProofFields` shows. If it has no field for the code, a problem with the code must be shown elsewhere. */
export function proofPointers(asksCode: boolean): readonly string[] {
  return asksCode ? ["/password", "/code"] : ["/password"];
}

interface ProofFieldsProps {
  readonly proof: TypedProof;
  readonly onChange: (proof: TypedProof) => void;
  readonly problems: ReturnType<typeof fieldProblems>;
  readonly asksCode: boolean;
}

/** Asks for the password, and for the code of the second factor if the account has one. */
export function ProofFields({ proof, onChange, problems, asksCode }: ProofFieldsProps) {
  return (
    <>
      <Field
        label={texts.secondFactor.password}
        type="password"
        autoComplete="current-password"
        value={proof.password}
        onChange={(event) => onChange({ ...proof, password: event.target.value })}
        problem={problems.at("/password")}
        required
      />
      {asksCode && (
        <Field
          label={texts.account.code}
          hint={texts.account.codeHint}
          autoComplete="one-time-code"
          value={proof.code}
          onChange={(event) => onChange({ ...proof, code: event.target.value })}
          problem={problems.at("/code")}
          required
        />
      )}
    </>
  );
}
