/**
 * The schema dialect of workflow definitions: the part of JSON Schema 2020-12 that can be checked in bounded time. A schema comes from a user, so it
 * is interpreted and never turned into code. This file is the entry point; the implementation is in `schema/`.
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
