import { PageHeading } from "../../parts/PageHeading.tsx";
import { texts } from "../../texts/texts.ts";

export function WorkflowsPage() {
  return <PageHeading title={texts.workflows.title} />;
}
