import { type Static, Type } from "typebox";
import { notFound } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";
import { updateAccount } from "../../management/account/account.ts";
import { type AccountActivity, listAccountActivity } from "../../store/people/account-activity.ts";
import { type Account, findAccount } from "../../store/people/accounts.ts";
import { actOf } from "../door/act.ts";
import type { App, ServerParts } from "../door/app.ts";
import { nextPageToken, pageOf, pagingParameters } from "../door/paging.ts";
import { answer, closed, Id, nameSchema, Time } from "../door/schemas.ts";

const AccountSchema = Type.Object(
  {
    userId: Id,
    email: Type.String(),
    displayName: Type.String(),
    hasPassword: Type.Boolean({ description: "True when the account has a password." }),
    secondFactorEnabledAt: Type.Optional(Time),
    recoveryCodesLeft: Type.Integer({
      minimum: 0,
      description: "The number of recovery codes that have not been used yet.",
    }),
    createdAt: Time,
  },
  { title: "Account" },
);

const AccountActivitySchema = Type.Object(
  {
    activityId: Id,
    happenedAt: Time,
    action: Type.String({
      description: "The name of what happened, for example `sign-in-refused` or `password-changed`.",
    }),
    address: Type.Optional(Type.String({ description: "The network address from which the request came." })),
    details: Type.Record(Type.String(), Type.String()),
  },
  { title: "AccountActivity" },
);

/** Every operation is about the caller's own account: no path names a user. */
export function accountRoutes(app: App, parts: ServerParts): void {
  getAccountRoute(app, parts);
  updateAccountRoute(app, parts);
  listAccountActivityRoute(app, parts);
}

function getAccountRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  app.get(
    "/account",
    {
      config: { errors: ["NotFoundError"] },
      schema: {
        operationId: "GetAccount",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "Get your account",
        description:
          "The answer has your name and e-mail address, and says whether the account has a password and a second factor.",
        response: { 200: answer("The account.", AccountSchema) },
      },
    },
    async (request) => {
      const account = await findAccount(database, request.caller.principal.id);
      if (account === undefined) throw notFound("account");
      return renderAccount(account);
    },
  );
}

function updateAccountRoute(app: App, parts: ServerParts): void {
  const { config } = parts;
  app.patch(
    "/account",
    {
      config: { unaudited: "It is recorded in the account's activity.", errors: ["NotFoundError"] },
      schema: {
        operationId: "UpdateAccount",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "Change your account",
        description: "You can change the name that other people see.",
        body: closed({ displayName: nameSchema(config.maxNameLength, "The name that people see.") }),
        response: { 200: answer("The account as it is now.", AccountSchema) },
      },
    },
    async (request) => {
      return renderAccount(await updateAccount(parts, actOf(request), request.body.displayName));
    },
  );
}

function listAccountActivityRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  app.get(
    "/account/activity",
    {
      schema: {
        operationId: "ListAccountActivity",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "List what happened to your account",
        description:
          "The answer lists sign-ins, including failed ones, and changes to the account and its credentials, the newest first.",
        querystring: closed({ ...pagingParameters }),
        response: {
          200: Type.Object(
            { activities: Type.Array(AccountActivitySchema), nextPageToken },
            { description: "One page." },
          ),
        },
      },
    },
    async (request) => {
      const page = pageOf(request);
      const found = await listAccountActivity(database, request.caller.principal.id, page.after, page.limit);
      const { rows, ...next } = page.cut(found, (activity) => activity.activityId);
      return { activities: rows.map(renderActivity), ...next };
    },
  );
}

function renderAccount(account: Account): Static<typeof AccountSchema> {
  const { secondFactorEnabledAt, createdAt, ...rest } = account;
  return {
    ...rest,
    ...(secondFactorEnabledAt !== null && { secondFactorEnabledAt: toTime(secondFactorEnabledAt) }),
    createdAt: toTime(createdAt),
  };
}

function renderActivity(activity: AccountActivity): Static<typeof AccountActivitySchema> {
  const { activityId, happenedAt, action, address, details } = activity;
  return { activityId, happenedAt: toTime(happenedAt), action, ...(address !== "" && { address }), details };
}
