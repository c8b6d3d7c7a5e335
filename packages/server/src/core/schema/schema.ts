/**
 * The schema dialect of workflow definitions: a part of JSON Schema 2020-12 that can be checked in bounded time, and the keyword `x-sensitive`.
 * Schemas come from users, so they are interpreted and never turned into code. This file is the entry point. The implementation is in the other files
 * of this folder.
 */
export { checkValue } from "./check.ts";
export { compareSchemas, type Fit } from "./compare/compare.ts";
export { allOfSchemas, type Schema } from "./node.ts";
export { parseSchema, parseSchemas } from "./parse/parse.ts";
export { findDefinition } from "./parse/reference.ts";
export {
  declaredProperties,
  isClosed,
  narrowValue,
  propertiesAlone,
  requiredProperties,
} from "./shape.ts";
export { withoutRequired } from "./without-required.ts";
