import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Account, accountQueryKey, disableSecondFactor, renewRecoveryCodes } from "../../../api/account.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { Facts } from "../../../parts/data/Facts.tsx";
import { SecretDialog } from "../../../parts/dialogs/SecretDialog.tsx";
import { toast } from "../../../parts/toasts.ts";
import { Time } from "../../../parts/words/Time.tsx";
import { texts } from "../../../texts/texts.ts";
import { ProofDialog } from "./ProofDialog.tsx";
import { SecondFactorSetup } from "./SecondFactorSetup.tsx";
import { WithAccount } from "./WithAccount.tsx";

/**
 * The second factor: the code of an authenticator app, in addition to the password. It can be set up and removed, and its recovery codes can be
 * renewed.
 */
export function SecondFactorPage() {
  const words = texts.secondFactor;
  const [codes, setCodes] = useState<readonly string[] | undefined>();
  return (
    <>
      <WithAccount title={words.title}>
        {(account) => {
          if (!account.hasPassword) return <p>{texts.account.noPassword}</p>;
          if (account.secondFactorEnabledAt !== undefined) return <InForce account={account} onCodes={setCodes} />;
          return <SecondFactorSetup onCodes={setCodes} />;
        }}
      </WithAccount>
      {codes !== undefined && (
        <SecretDialog
          title={words.codesTitle}
          text={words.codesText}
          label={words.codes}
          secret={codes.join("\n")}
          onClose={() => setCodes(undefined)}
        />
      )}
    </>
  );
}

interface InForceProps {
  readonly account: Account;
  readonly onCodes: (codes: readonly string[]) => void;
}

function InForce({ account, onCodes }: InForceProps) {
  const words = texts.secondFactor;
  const queries = useQueryClient();
  const [open, setOpen] = useState<"renew" | "disable" | undefined>();
  const close = () => setOpen(undefined);
  const refresh = () => queries.invalidateQueries({ queryKey: accountQueryKey });
  return (
    <>
      <Facts
        facts={[
          [words.enabledSince, <Time key="since" at={account.secondFactorEnabledAt} />],
          [words.codesLeft, account.recoveryCodesLeft],
        ]}
      />
      <div className="row">
        <Button icon="retry" onClick={() => setOpen("renew")}>
          {words.renew}
        </Button>
        <Button kind="danger" onClick={() => setOpen("disable")}>
          {words.disable}
        </Button>
      </div>
      {open === "renew" && (
        <ProofDialog
          title={words.renew}
          text={words.renewText}
          action={words.renew}
          act={renewRecoveryCodes}
          onDone={async ({ recoveryCodes }) => {
            close();
            onCodes(recoveryCodes);
            await refresh();
          }}
          onClose={close}
        />
      )}
      {open === "disable" && (
        <ProofDialog
          title={words.disable}
          text={words.disableText}
          action={words.disable}
          isDanger
          act={disableSecondFactor}
          onDone={async () => {
            close();
            toast({ kind: "success", text: words.disabled });
            await refresh();
          }}
          onClose={close}
        />
      )}
    </>
  );
}
