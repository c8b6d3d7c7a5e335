import { type Static, Type } from "typebox";
import { toTime } from "../../core/time.ts";
import { endSession } from "../../management/account/sessions.ts";
import { listUserSessions, type UserSession } from "../../store/people/user-sessions.ts";
import { actOf } from "../door/act.ts";
import type { App, ServerParts } from "../door/app.ts";
import { nextPageToken, pageOfShortList, shortListParameters } from "../door/paging.ts";
import { closed, Id, noContent, Time } from "../door/schemas.ts";

const SessionSchema = Type.Object(
  {
    sessionId: Id,
    isCurrent: Type.Boolean({ description: "True for the session of this request." }),
    signedInBy: Type.String({
      description:
        "How the user signed in. `password`: with a password. `link`: by a link of `stepwell dev` or an invitation. `device`: a command line that was authorized from a browser. `application`: an OAuth client that was authorized from a browser. `sso:<id>`: at an external issuer.",
    }),
    application: Type.Optional(
      Type.Object(
        {
          organizationId: Id,
          clientId: Type.String(),
          name: Type.String({ description: "The client's name when the session began." }),
        },
        { description: "The OAuth client of the session. It is left out for a session without an OAuth client." },
      ),
    ),
    userAgent: Type.String({ description: "The name that the browser or the device gives itself." }),
    address: Type.String({ description: "The network address from which the sign-in came." }),
    createdAt: Time,
    lastSeenAt: Type.String({
      format: "date-time",
      description: "The time at which the session was last used, accurate to about a minute.",
    }),
    expiresAt: Type.String({ format: "date-time", description: "The time at which the session ends at the latest." }),
  },
  { title: "Session" },
);

export function sessionRoutes(app: App, parts: ServerParts): void {
  listSessionsRoute(app, parts);
  endSessionRoute(app, parts);
}

function listSessionsRoute(app: App, parts: ServerParts): void {
  const { engine, database, openId } = parts;
  app.get(
    "/account/sessions",
    {
      schema: {
        operationId: "ListSessions",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "List your sessions",
        description: "The answer lists every session that has not ended, the newest first.",
        querystring: closed({ ...shortListParameters }),
        response: {
          200: Type.Object({ sessions: Type.Array(SessionSchema), nextPageToken }, { description: "One page." }),
        },
      },
    },
    async (request) => {
      const { principal, sessionId } = request.caller;
      const page = pageOfShortList(request);
      const holding = { now: engine.now(), seenAfter: openId.sessions.seenAfter() };
      const found = await listUserSessions(database, principal.id, holding, page.after, page.limit);
      const { rows, ...next } = page.cut(found, (session) => session.sessionId);
      return { sessions: rows.map((session) => renderSession(session, sessionId)), ...next };
    },
  );
}

function endSessionRoute(app: App, parts: ServerParts): void {
  app.delete(
    "/account/sessions/:sessionId",
    {
      config: { unaudited: "It is recorded in the account's activity.", errors: ["NotFoundError"] },
      schema: {
        operationId: "EndSession",
        "x-permission": "account:manage",
        tags: ["account"],
        summary: "End a session",
        description:
          "The session ends for good, with every token that was issued in it, on every node within a second. It may be the session of this request: that is how to sign out.",
        params: Type.Object({ sessionId: Type.String({ format: "uuid", description: "The session." }) }),
        response: { 204: noContent("The session is ended.") },
      },
    },
    async (request, reply) => {
      const { sessionId: currentSessionId } = request.caller;
      await endSession(parts, actOf(request), { ...request.params, currentSessionId });
      return reply.code(204).send(null);
    },
  );
}

function renderSession(session: UserSession, currentId: string | undefined): Static<typeof SessionSchema> {
  const { sessionId, signedInBy, client, userAgent, address, createdAt, lastSeenAt, expiresAt } = session;
  return {
    sessionId,
    isCurrent: sessionId === currentId,
    signedInBy,
    ...(client !== null && { application: client }),
    userAgent,
    address,
    createdAt: toTime(createdAt),
    lastSeenAt: toTime(lastSeenAt),
    expiresAt: toTime(expiresAt),
  };
}
