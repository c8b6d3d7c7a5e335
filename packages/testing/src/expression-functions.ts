import { describeFunctions } from "../../server/src/core/expression/expression.ts";
import { renderFunction } from "../../server/src/http/workflows/expression-functions.ts";

/** The answer of ListExpressionFunctions. */
export const listedFunctions = describeFunctions().map(renderFunction);
