import { type Static, Type } from "typebox";
import { describeFunctions, type FunctionDescription } from "../../core/expression/expression.ts";
import type { App } from "../door/app.ts";
import { AnyJson, answer, oneOf } from "../door/schemas.ts";

const ExpressionFunctionSchema = Type.Object(
  {
    name: Type.String({ example: "split" }),
    forms: oneOf(["function", "method", "both"], {
      description: "How it may be written: `function` is `size(x)`, `method` is `x.size()`.",
    }),
    signature: Type.String({
      description: "What it takes. What stands in brackets may be left out.",
      example: "split(text, separator)",
    }),
    summary: Type.String({ description: "What it gives, in a sentence or two." }),
    example: Type.Object(
      { expression: Type.String(), value: AnyJson },
      { description: "An expression and its value." },
    ),
  },
  { title: "ExpressionFunction" },
);

/** The functions of expressions, as definitions are checked and run with them. */
export function expressionFunctionRoutes(app: App): void {
  const rendered = { functions: describeFunctions().map(renderFunction) };
  app.get(
    "/expression-functions",
    {
      schema: {
        operationId: "ListExpressionFunctions",
        "x-permission": "none",
        tags: ["workflows"],
        summary: "List the functions of expressions",
        description:
          "Everything that an expression in a definition can call: functions, and the macros that go through a list. The list is short and comes whole. It is the same for everybody.",
        response: {
          200: answer(
            "All of them.",
            Type.Object({ functions: Type.Array(ExpressionFunctionSchema) }, { title: "ExpressionFunctions" }),
          ),
        },
      },
    },
    async () => rendered,
  );
}

export function renderFunction(described: FunctionDescription): Static<typeof ExpressionFunctionSchema> {
  const { name, forms, signature, summary, example } = described;
  const [expression, value] = example;
  return { name, forms, signature, summary, example: { expression, value } };
}
