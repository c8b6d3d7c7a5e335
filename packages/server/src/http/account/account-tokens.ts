import { type Static, Type } from "typebox";
import { requireLasting } from "../../auth/credentials/lasting-credential.ts";
import { createToken } from "../../auth/credentials/token-form.ts";
import type { Timestamp } from "../../core/job/job-state.ts";
import { notFound } from "../../core/service-error.ts";
import { toTime } from "../../core/time.ts";
import type { Transaction } from "../../store/home/database.ts";
import { type AccountAction, insertAccountActivity } from "../../store/people/account-activity.ts";
import { holdCredentials } from "../../store/people/user-credentials.ts";
import {
  insertUserToken,
  type ListedUserToken,
  listUserTokens,
  revokeUserToken,
} from "../../store/people/user-tokens.ts";
import type { App, ServerParts } from "../door/app.ts";
import { addressOf } from "../door/client-address.ts";
import { nextPageToken, pageOfShortList, shortListParameters } from "../door/paging.ts";
import { transactAnew } from "../door/request-acts.ts";
import { answer, closed, Id, nameSchema, noContent, Time } from "../door/schemas.ts";
import { expiryOf } from "../tokens/api-tokens.ts";

const tokenFields = {
  userTokenId: Id,
  name: Type.String(),
  tokenPrefix: Type.String({ description: "The beginning of the token, to recognize it by." }),
  createdAt: Time,
  expiresAt: Type.Optional(Time),
};

const UserTokenSchema = Type.Object(
  { ...tokenFields, lastUsedAt: Type.Optional(Type.String({ format: "date-time", description: "To the minute." })) },
  { title: "UserToken" },
);

const NewUserTokenSchema = Type.Object(
  { ...tokenFields, token: Type.String({ description: "The token itself. It is shown this once and kept nowhere." }) },
  { title: "NewUserToken" },
);

const path = "/account/tokens";

export function accountTokenRoutes(app: App, parts: ServerParts): void {
  const { engine, database, config, authenticator, basePath } = parts;
  app.post(
    path,
    {
      config: { unaudited: "The account's own activity tells of it.", repetition: "renewed" },
      schema: {
        operationId: "CreateUserToken",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "Create a user token",
        description:
          "It acts as you, in every organization of yours; for programs take an API token, which can do less. The answer holds the token, this once. Therefore it takes no Idempotency-Key: when the answer was lost, revoke the token and create another.",
        body: closed({
          name: nameSchema(config.maxNameLength, "What the token is for."),
          expiresAt: Type.Optional(Type.String({ format: "date-time", description: "Left out: it does not expire." })),
        }),
        response: { 201: answer("The token.", NewUserTokenSchema) },
      },
    },
    async (request, reply) => {
      const userId = request.caller.principal.id;
      const createdAt = engine.now();
      const { name } = request.body;
      const expiresAt = expiryOf(request.body.expiresAt, createdAt) ?? null;
      const { token, tokenHash, tokenPrefix } = createToken("user", userId);
      const created = { userId, tokenId: engine.newId(), name, tokenPrefix, createdAt, expiresAt };
      const ended = await transactAnew(parts, request, { userId }, async (transaction, earlier?: Earlier) => {
        // Who ends all that the account is signed in with comes before this, or finds the token.
        await holdCredentials(transaction, userId);
        await requireLasting(transaction, request.caller);
        // Nobody has the secret of an attempt whose answer was lost.
        const lost = earlier && (await revokeUserToken(transaction, userId, earlier.tokenId, createdAt));
        if (lost) await note(transaction, request, "user-token-revoked", { name: lost.name });
        await insertUserToken(transaction, created, tokenHash);
        await note(transaction, request, "user-token-created", { name, tokenPrefix });
        return { made: { tokenId: created.tokenId }, answer: lost?.tokenHash };
      });
      if (ended !== undefined) authenticator.forgetToken(ended);
      return reply
        .code(201)
        .header("location", `${basePath}${path}/${created.tokenId}`)
        .send({ ...renderToken({ ...created, lastUsedAt: null }), token });
    },
  );

  app.get(
    path,
    {
      schema: {
        operationId: "ListUserTokens",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "List your user tokens",
        description: "Newest first, without those that were revoked.",
        querystring: closed({ ...shortListParameters }),
        response: {
          200: Type.Object({ userTokens: Type.Array(UserTokenSchema), nextPageToken }, { description: "One page." }),
        },
      },
    },
    async (request) => {
      const page = pageOfShortList(request);
      const found = await listUserTokens(database, request.caller.principal.id, page.after, page.limit);
      const { rows, ...next } = page.cut(found, (token) => token.tokenId);
      return { userTokens: rows.map(renderToken), ...next };
    },
  );

  app.delete(
    `${path}/:userTokenId`,
    {
      config: { unaudited: "The account's own activity tells of it.", errors: ["NotFoundError"] },
      schema: {
        operationId: "RevokeUserToken",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "Revoke a user token",
        description: "For good. Holds on every node within a second. It may be the very token of this request.",
        params: Type.Object({ userTokenId: Type.String({ format: "uuid", description: "The user token." }) }),
        response: { 204: noContent("It is revoked.") },
      },
    },
    async (request, reply) => {
      const tokenHash = await database.transaction(async (transaction) => {
        const { userTokenId } = request.params;
        const revoked = await revokeUserToken(transaction, request.caller.principal.id, userTokenId, engine.now());
        if (revoked === undefined) throw notFound("user token");
        await note(transaction, request, "user-token-revoked", { name: revoked.name });
        return revoked.tokenHash;
      });
      authenticator.forgetToken(tokenHash);
      return reply.code(204).send(null);
    },
  );

  async function note(
    transaction: Transaction,
    { caller, ip }: { readonly caller: { readonly principal: { readonly id: string } }; readonly ip: string },
    action: AccountAction,
    details: Readonly<Record<string, string>>,
  ): Promise<void> {
    const happenedAt: Timestamp = engine.now();
    const activity = {
      userId: caller.principal.id,
      activityId: engine.newId(),
      happenedAt,
      action,
      address: addressOf({ ip }),
      details,
    };
    await insertAccountActivity(transaction, activity);
  }
}

function renderToken(token: ListedUserToken): Static<typeof UserTokenSchema> {
  const { tokenId, name, tokenPrefix, createdAt, expiresAt, lastUsedAt } = token;
  return {
    userTokenId: tokenId,
    name,
    tokenPrefix,
    createdAt: toTime(createdAt),
    ...(expiresAt !== null && { expiresAt: toTime(expiresAt) }),
    ...(lastUsedAt !== null && { lastUsedAt: toTime(lastUsedAt) }),
  };
}

/** The token of an earlier attempt, whose answer was lost. */
type Earlier = { readonly tokenId: string };
