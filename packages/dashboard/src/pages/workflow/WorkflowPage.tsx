import { PageHeading } from "../../parts/PageHeading.tsx";
import { texts } from "../../texts/texts.ts";

export function WorkflowPage() {
  return <PageHeading title={texts.workflows.title} />;
}
