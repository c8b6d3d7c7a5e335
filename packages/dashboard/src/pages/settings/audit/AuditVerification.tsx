import { useMutation } from "@tanstack/react-query";
import { type AuditVerification as Verification, verifyAudit } from "../../../api/audit.ts";
import { Button } from "../../../parts/controls/Button.tsx";
import { Icon } from "../../../parts/layout/Icon.tsx";
import { Problem } from "../../../parts/states/Problem.tsx";
import { texts } from "../../../texts/texts.ts";

/** Checks the trail against its seals when the reader asks. */
export function AuditVerification({ organizationId }: { readonly organizationId: string }) {
  const verify = useMutation({ mutationFn: () => verifyAudit(organizationId) });
  return (
    <div className="row">
      <div role="status">{verify.data !== undefined && <Finding found={verify.data} />}</div>
      {verify.error !== null && <Problem error={verify.error} />}
      <Button icon="check" isBusy={verify.isPending} onClick={() => verify.mutate()}>
        {texts.audit.verify}
      </Button>
    </div>
  );
}

function Finding({ found }: { readonly found: Verification }) {
  const words = texts.audit;
  if (found.isIntact) {
    return (
      <span className="row">
        <Icon name="check" />
        {words.intact(found.checkedEntries, found.unsealedEntries)}
      </span>
    );
  }
  return (
    <div className="problem">
      <Icon name="alert" />
      <div className="problem-text">
        <p className="problem-title">{words.notIntact}</p>
        <ul>
          {found.findings.map(({ detail }) => (
            <li key={detail}>{detail}</li>
          ))}
        </ul>
      </div>
    </div>
  );
}
