import { en } from "./en.ts";

/** Every word that the pages show, in the reader's language. Another language is another file of this type beside `en.ts`. */
export type Texts = typeof en;

export const texts: Texts = en;

/** The locale for numbers, times and lists: the reader's own, if it fits the language of the texts. */
export const locale: string = navigator.languages.find((tag) => tag.split("-")[0] === texts.language) ?? texts.language;
