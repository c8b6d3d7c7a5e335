/**
 * The language in which a definition was registered. In language 1, from releases without expressions, `${` is plain text; in language 2 it begins an
 * expression. A version keeps its language, so that it runs exactly as it did when it was registered.
 */
export type Language = 1 | 2;

/** The language of new definitions. */
export const currentLanguage: Language = 2;
