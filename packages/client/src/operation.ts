import type { operations } from "./generated/api.ts";
import type { operationTable } from "./generated/operations.ts";

/** The name of an operation in the API document, such as `SubmitJob`. */
export type OperationName = keyof operations;

/** The parts of a request, with the names and types that the API document gives them. Optional parts may be left out. */
export type Input<Name extends OperationName> = Part<Name, "path"> &
  Part<Name, "query"> &
  Part<Name, "header"> &
  Body<Name>;

/** The filters and options of an operation, by the names that the API gives them. */
export type Query<Name extends OperationName> = NonNullable<operations[Name]["parameters"]["query"]>;

/** The body that an operation takes. */
export type RequestBody<Name extends OperationName> = ContentOf<NonNullable<operations[Name]["requestBody"]>>;

/** The body of a successful answer; undefined if it has no body (204). */
export type Answer<Name extends OperationName> = SuccessOf<operations[Name]["responses"]>;

/** Operations that return JSON or nothing. */
export type CallName = Exclude<OperationName, StreamName>;

/** Operations that return a text that may be long or endless: exports, and streams of events. */
export type StreamName = {
  [Name in OperationName]: operations[Name]["responses"] extends { 200: { content: infer Content } }
    ? "application/json" extends keyof Content
      ? never
      : Name
    : never;
}[OperationName];

/** Operations that return a list in pages. */
export type ListName = {
  [Name in OperationName]: (typeof operationTable)[Name] extends { readonly items: string } ? Name : never;
}[OperationName];

/** One item of the list that an operation returns. */
export type Item<Name extends ListName> =
  ItemsField<Name> extends keyof Answer<Name>
    ? Answer<Name>[ItemsField<Name>] extends readonly (infer One)[]
      ? One
      : never
    : never;

type ItemsField<Name extends ListName> = (typeof operationTable)[Name] extends { readonly items: infer Field }
  ? Field
  : never;

/** The arguments of a call. The input may be left out if the operation requires no part of it. */
export type CallArguments<Name extends OperationName, Options> =
  Record<never, never> extends Input<Name>
    ? [input?: Input<Name>, options?: Options]
    : [input: Input<Name>, options?: Options];

/** An input as the generic code sees it, for every operation. */
export interface AnyInput {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}

type Part<Name extends OperationName, Place extends "path" | "query" | "header"> = Given<
  Place,
  operations[Name]["parameters"][Place]
>;

type Body<Name extends OperationName> = Given<"body", ContentOf<operations[Name]["requestBody"]>>;

/** A part is required, optional or absent, as the API document says. */
type Given<Key extends string, Value> = [NonNullable<Value>] extends [never]
  ? { readonly [Name in Key]?: never }
  : undefined extends Value
    ? { readonly [Name in Key]?: NonNullable<Value> }
    : { readonly [Name in Key]: Value };

type ContentOf<Carrier> = Carrier extends { content: { "application/json": infer Content } } ? Content : Carrier;

type SuccessOf<Responses> = {
  [Status in keyof Responses]: Status extends 200 | 201 | 202 | 204 ? JsonOf<Responses[Status]> : never;
}[keyof Responses];

type JsonOf<Response> = Response extends { content: { "application/json": infer Content } } ? Content : undefined;
