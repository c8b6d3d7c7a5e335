import { type Static, Type } from "typebox";
import { toTime } from "../../core/time.ts";
import { createUserToken, revokeUserToken } from "../../management/account/user-tokens.ts";
import { type ListedUserToken, listUserTokens } from "../../store/people/user-tokens.ts";
import { actOf, callerActOf } from "../door/act.ts";
import type { App, ServerParts } from "../door/app.ts";
import { nextPageToken, pageOfShortList, shortListParameters } from "../door/paging.ts";
import { answer, closed, Id, nameSchema, noContent, Time } from "../door/schemas.ts";
import { expiryOf, NewExpirySchema } from "../tokens/api-tokens.ts";
import { CodeSchema, PasswordSchema } from "./account-password.ts";

const tokenFields = {
  userTokenId: Id,
  name: Type.String(),
  tokenPrefix: Type.String({ description: "The beginning of the token, to recognize it by." }),
  createdAt: Time,
  expiresAt: Type.Optional(Time),
};

const UserTokenSchema = Type.Object(
  {
    ...tokenFields,
    lastUsedAt: Type.Optional(
      Type.String({
        format: "date-time",
        description: "The time at which the token was last used, accurate to about a minute.",
      }),
    ),
  },
  { title: "UserToken" },
);

const NewUserTokenSchema = Type.Object(
  {
    ...tokenFields,
    token: Type.String({ description: "The token itself. It is shown only in this answer and stored nowhere." }),
  },
  { title: "NewUserToken" },
);

const path = "/account/tokens";

export function accountTokenRoutes(app: App, parts: ServerParts): void {
  createUserTokenRoute(app, parts);
  listUserTokensRoute(app, parts);
  revokeUserTokenRoute(app, parts);
}

function createUserTokenRoute(app: App, parts: ServerParts): void {
  const { config, basePath } = parts;
  app.post(
    path,
    {
      config: {
        unaudited: "It is recorded in the account's activity.",
        repetition: "renewed",
        errors: ["ConflictError", "RateLimitError"],
      },
      schema: {
        operationId: "CreateUserToken",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "Create a user token",
        description:
          "The token acts as you in all your organizations, so you confirm that it is you: with your password and, if the account has a second factor, its code. If you have no password, sign in again at your provider (`prompt=login`) and create the token within 10 minutes. For programs, use an API token, which can do less. The user token is shown only in this answer, so the operation takes no Idempotency-Key. If the answer is lost, revoke the token and create another.",
        body: closed({
          name: nameSchema(config.maxNameLength, "The purpose of the token."),
          expiresAt: Type.Optional(NewExpirySchema),
          password: Type.Optional({ ...PasswordSchema, description: "Your password, if the account has one." }),
          code: Type.Optional(CodeSchema),
        }),
        response: { 201: answer("The token.", NewUserTokenSchema) },
      },
    },
    async (request, reply) => {
      const { name, password, code } = request.body;
      const wanted = { name, expiresAt: expiryOf(request.body.expiresAt) };
      const { created, token } = await createUserToken(parts, callerActOf(request), wanted, { password, code });
      return reply
        .code(201)
        .header("location", `${basePath}${path}/${created.tokenId}`)
        .send({ ...renderToken({ ...created, lastUsedAt: null }), token });
    },
  );
}

function listUserTokensRoute(app: App, parts: ServerParts): void {
  const { database } = parts;
  app.get(
    path,
    {
      schema: {
        operationId: "ListUserTokens",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "List your user tokens",
        description: "The answer lists the tokens that were not revoked, the newest first.",
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
}

function revokeUserTokenRoute(app: App, parts: ServerParts): void {
  app.delete(
    `${path}/:userTokenId`,
    {
      config: { unaudited: "It is recorded in the account's activity.", errors: ["NotFoundError"] },
      schema: {
        operationId: "RevokeUserToken",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "Revoke a user token",
        description: "The token ends for good, on every node within a second. It may be the token of this request.",
        params: Type.Object({ userTokenId: Type.String({ format: "uuid", description: "The user token." }) }),
        response: { 204: noContent("The token is revoked.") },
      },
    },
    async (request, reply) => {
      await revokeUserToken(parts, actOf(request), request.params.userTokenId);
      return reply.code(204).send(null);
    },
  );
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
