import "./docs.css";
import { type Found, type Row, search } from "./search.ts";

/** The script of the documentation. It adds the search, and closes popovers. Without the script, every page can be read and all links work. */
const form = element("form.search");
const input = element<HTMLInputElement>("#query");
const panel = element("#found");
const status = element("#found p");
const list = element("#found ul");
const { docs = "", index = "" } = document.body.dataset;

let rows: Promise<readonly Row[]> | undefined;

form.hidden = false;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  links()[0]?.click();
});
form.addEventListener("keydown", moveByKey);
form.addEventListener("focusout", ({ relatedTarget }) => {
  if (relatedTarget instanceof Node && !form.contains(relatedTarget)) close();
});
input.addEventListener("focus", () => void load().catch(() => undefined));
input.addEventListener("input", () => void show());
document.addEventListener("keydown", focusByKey);
document.addEventListener("click", ({ target }) => {
  if (!(target instanceof Element)) return;
  if (!form.contains(target)) close();
  // A link to a place on the same page loads no new page, so the popover around the link would stay open.
  if (target.closest("[popover] a") !== null) target.closest<HTMLElement>("[popover]")?.hidePopover();
});

/** Loads the index of the search when the reader is about to search, and again only if the loading failed. */
function load(): Promise<readonly Row[]> {
  rows ??= fetch(index).then(async (response) => {
    if (!response.ok) throw new Error(`The request for the index failed with ${response.status}.`);
    return (await response.json()) as readonly Row[];
  });
  rows.catch(() => {
    rows = undefined;
  });
  return rows;
}

async function show(): Promise<void> {
  const query = input.value;
  if (query.trim() === "") return close();
  try {
    const loaded = await load();
    // If the reader has typed more in the meantime, another call of this function shows the results for the new text.
    if (query === input.value) render(search(loaded, query));
  } catch {
    render([]);
    status.textContent = "The search could not be loaded.";
  }
}

function render(found: readonly Found[]): void {
  list.replaceChildren(...found.map(rowOf));
  status.textContent = found.length === 0 ? "Nothing found" : `${found.length} found`;
  panel.hidden = false;
}

function rowOf({ row: [address, page, heading], snippet }: Found): HTMLElement {
  const title = heading === page ? page : `${page} › ${heading}`;
  const marked = snippet.map((piece, place) => (place % 2 === 0 ? piece : made("mark", piece)));
  const link = made("a", made("strong", title), made("span", ...marked));
  link.href = docs + address;
  return made("li", link);
}

function close(): void {
  panel.hidden = true;
}

function focusByKey(event: KeyboardEvent): void {
  const isTyping = event.target instanceof HTMLInputElement;
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  input.focus();
}

/** The arrow keys lead from the field through the results and back. Escape closes the list. */
function moveByKey(event: KeyboardEvent): void {
  if (event.key === "Escape" && !panel.hidden) {
    event.preventDefault();
    close();
    input.focus();
    return;
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || panel.hidden) return;
  event.preventDefault();
  const places: readonly (Element | null)[] = [input, ...links()];
  const current = places.indexOf(document.activeElement);
  const next = places[Math.min(Math.max(current + step, 0), places.length - 1)];
  if (next instanceof HTMLElement) next.focus();
}

function links(): readonly HTMLAnchorElement[] {
  return panel.hidden ? [] : [...list.querySelectorAll("a")];
}

function made<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  element.append(...children);
  return element;
}

function element<Type extends HTMLElement = HTMLElement>(selector: string): Type {
  const found = document.querySelector<Type>(selector);
  if (found === null) throw new Error(`The page has no ${selector}.`);
  return found;
}
