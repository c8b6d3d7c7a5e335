import { Link } from "@tanstack/react-router";
import type { WorkflowKey } from "../../api/workflows.ts";
import "../../parts/controls/Button.css";
import { Icon } from "../../parts/layout/Icon.tsx";
import { texts } from "../../texts/texts.ts";

interface EditLinkProps {
  readonly workflow: WorkflowKey;
  /** The version with which the editor begins. The default is the newest. */
  readonly versionId?: string;
}

export function EditLink({ workflow, versionId }: EditLinkProps) {
  return (
    <Link
      to="/app/organizations/$organizationId/workflows/$workflowId/edit"
      params={workflow}
      search={versionId === undefined ? {} : { versionId }}
      className="button button-normal"
    >
      <Icon name="edit" />
      {versionId === undefined ? texts.editor.edit : texts.editor.editVersion}
    </Link>
  );
}
