import { en } from "./en.ts";

/** The words of the pages, in English. Another language would be another file of this type beside `en.ts`. */
export type Texts = typeof en;

export const texts: Texts = en;

/** The locale for numbers, times and lists: the reader's own, if it fits the language of the texts. */
export const locale: string = navigator.languages.find((tag) => tag.split("-")[0] === texts.language) ?? texts.language;
