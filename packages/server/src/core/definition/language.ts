/**
 * The language in which a definition was registered. In language 1, of releases without expressions, a `${` in a text is just that; in language 2 it begins
 * an expression. A version keeps its language: it runs exactly as it did when it was registered.
 */
export type Language = 1 | 2;

/** The language of new definitions. */
export const currentLanguage: Language = 2;
