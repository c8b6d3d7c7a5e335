import { Link } from "@tanstack/react-router";
import { PageHeading } from "../parts/layout/PageHeading.tsx";
import { texts } from "../texts/texts.ts";

export function NotFound() {
  const { shell } = texts;
  return (
    <>
      <PageHeading title={shell.notFoundTitle} />
      <p>{shell.notFound}</p>
      <p>
        <Link to="/">{shell.toHome}</Link>
      </p>
    </>
  );
}
