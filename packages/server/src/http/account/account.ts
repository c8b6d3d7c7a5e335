import { type Static, Type } from "typebox";
import { notFound } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";
import {
  type AccountActivity,
  insertAccountActivity,
  listAccountActivity,
} from "../../store/people/account-activity.ts";
import { findAccount, renameAccount } from "../../store/people/accounts.ts";
import type { App, ServerParts } from "../door/app.ts";
import { addressOf } from "../door/client-address.ts";
import { nextPageToken, pageOf, pagingParameters } from "../door/paging.ts";
import { answer, closed, Id, nameSchema, Time } from "../door/schemas.ts";

const AccountSchema = Type.Object(
  {
    userId: Id,
    email: Type.String(),
    displayName: Type.String(),
    hasPassword: Type.Boolean({ description: "Whether it can be signed in to with a password." }),
    secondFactorEnabledAt: Type.Optional(Time),
    recoveryCodesLeft: Type.Integer({ minimum: 0, description: "Recovery codes that were not used yet." }),
    createdAt: Time,
  },
  { title: "Account" },
);

const AccountActivitySchema = Type.Object(
  {
    activityId: Id,
    happenedAt: Time,
    action: Type.String({ description: "What happened, for example `sign-in-refused` or `password-changed`." }),
    address: Type.Optional(Type.String({ description: "Where the request came from." })),
    details: Type.Record(Type.String(), Type.String()),
  },
  { title: "AccountActivity" },
);

/** Every operation is about the caller's own account: no path names a user. */
export function accountRoutes(app: App, { engine, database, config, authenticator }: ServerParts): void {
  app.get(
    "/account",
    {
      config: { errors: ["NotFoundError"] },
      schema: {
        operationId: "GetAccount",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "Get your account",
        response: { 200: answer("The account.", AccountSchema) },
      },
    },
    async (request) => await renderedAccount(request.caller.principal.id),
  );

  app.patch(
    "/account",
    {
      config: { unaudited: "The account's own activity tells of it.", errors: ["NotFoundError"] },
      schema: {
        operationId: "UpdateAccount",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "Change your account",
        body: closed({ displayName: nameSchema(config.maxNameLength, "The name that people see.") }),
        response: { 200: answer("The account as it is now.", AccountSchema) },
      },
    },
    async (request) => {
      const userId = request.caller.principal.id;
      const { displayName } = request.body;
      await database.transaction(async (transaction) => {
        const before = await findAccount(transaction, userId);
        if (before === undefined) throw notFound("account");
        await renameAccount(transaction, userId, displayName);
        await insertAccountActivity(transaction, {
          userId,
          activityId: engine.newId(),
          happenedAt: engine.now(),
          action: "account-renamed",
          address: addressOf(request),
          details: { from: before.displayName, to: displayName },
        });
      });
      authenticator.forgetAll();
      return await renderedAccount(userId);
    },
  );

  app.get(
    "/account/activity",
    {
      schema: {
        operationId: "ListAccountActivity",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "List what happened to your account",
        description: "Sign-ins, refused ones too, and changes of what you sign in with. Newest first.",
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

  async function renderedAccount(userId: string): Promise<Static<typeof AccountSchema>> {
    const account = await findAccount(database, userId);
    if (account === undefined) throw notFound("account");
    const { secondFactorEnabledAt, createdAt, ...rest } = account;
    return {
      ...rest,
      ...(secondFactorEnabledAt !== null && { secondFactorEnabledAt: toTime(secondFactorEnabledAt) }),
      createdAt: toTime(createdAt),
    };
  }
}

function renderActivity(activity: AccountActivity): Static<typeof AccountActivitySchema> {
  const { activityId, happenedAt, action, address, details } = activity;
  return { activityId, happenedAt: toTime(happenedAt), action, ...(address !== "" && { address }), details };
}
