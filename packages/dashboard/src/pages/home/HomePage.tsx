import { PageHeading } from "../../parts/PageHeading.tsx";
import { texts } from "../../texts/texts.ts";

export function HomePage() {
  return <PageHeading title={texts.home.title} />;
}
