import { type Static, Type } from "typebox";
import { describeFunctions, type FunctionDescription } from "../../core/expression/expression.ts";
import type { App } from "../door/app.ts";
import { AnyJson, answer, oneOf } from "../door/schemas.ts";

const ExpressionFunctionSchema = Type.Object(
  {
    name: Type.String({ example: "split" }),
    forms: oneOf(["function", "method", "both"], {
      description:
        "The way in which a call is written. `function`: like `size(x)`. `method`: like `x.size()`. `both`: like either of them.",
    }),
    signature: Type.String({
      description: "The call with its arguments. An argument in square brackets may be left out.",
      example: "split(text, separator)",
    }),
    summary: Type.String({ description: "The result of the call, in one or two sentences." }),
    example: Type.Object(
      { expression: Type.String(), value: AnyJson },
      { description: "An expression and its value." },
    ),
  },
  { title: "ExpressionFunction" },
);

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
          "The answer lists everything that an expression in a definition can call: functions, `has`, and the macros that go through a list. The list is short and has no pages. It is the same for everybody.",
        response: {
          200: answer(
            "The whole list.",
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
