/**
 * Expressions in definitions: CEL over JSON, evaluated by our own code within a budget that counts work. This file is the entry point. The
 * implementation is in the other files of this folder.
 */
export { Budget, defaultLimits } from "./budget.ts";
export { evaluate } from "./evaluate.ts";
export { describeFunctions, type FunctionDescription } from "./function-descriptions.ts";
export { functions } from "./functions/catalog.ts";
export { signatureOf } from "./functions/function.ts";
export { type Expression, parseExpression } from "./parse.ts";
export type { Reference } from "./references.ts";
export { renderTemplate } from "./render.ts";
export type { EventValues, ForkValues, Scope, StepValues } from "./scope.ts";
export { sizeOfExpression, sizeOfTemplate } from "./size.ts";
export { isConstant, parseTemplate, type Template, type TemplateNode, type TemplateProblem } from "./template.ts";
export { type TemplateType, templateType } from "./template-type.ts";
export { itemCountOf, itemSchemaOf, timestampText } from "./types/type.ts";
export type { EventTypes, ForkTypes, PartType, StepTypes, TypeScope } from "./types/type-scope.ts";
export { TypingBudget } from "./types/typing-budget.ts";
export { type Finding, typeOf } from "./typing/type-of.ts";
