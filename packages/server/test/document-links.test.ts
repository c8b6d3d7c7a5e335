import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";

const root = resolve(import.meta.dirname, "../../..");
const documents = globSync(["*.md", "docs/**/*.md", "examples/**/*.md", "packages/*/README.md"], { cwd: root });

test.each(documents)("each link of %s leads to an existing file, and to a heading in it", (document) => {
  const targets = [...proseOf(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  const local = targets.filter((target) => !/^[a-z]+:/.test(target));
  expect(local.filter((target) => !isThere(document, target))).toEqual([]);
});

test("decisions.md links to each page of decisions", () => {
  const pages = globSync("docs/internals/decisions/*.md", { cwd: root }).map((page) => basename(page));
  const linked = [...proseOf("docs/internals/decisions.md").matchAll(/^- \[.+\]\(decisions\/([^)]+)\)/gm)].map(
    ([, page]) => page,
  );
  expect(linked.toSorted()).toEqual(pages.toSorted());
});

function isThere(document: string, target: string): boolean {
  const [path = "", anchor] = target.split("#");
  const file = path === "" ? document : join(dirname(document), path);
  if (!existsSync(join(root, file))) return false;
  return anchor === undefined || anchorsOf(file).has(anchor);
}

/** Returns the anchors that the web site of the repository makes from the headings of a document. */
function anchorsOf(document: string): ReadonlySet<string> {
  return new Set(
    headingsOf(document, "#+ ").map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_ -]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

function headingsOf(document: string, mark: string): readonly string[] {
  return [...proseOf(document).matchAll(new RegExp(`^${mark}(.*)$`, "gm"))].map(([, heading = ""]) => heading);
}

/** The text of a document without its blocks of code. */
function proseOf(document: string): string {
  return readFileSync(join(root, document), "utf8").replace(/^```[\s\S]*?^```/gm, "");
}
