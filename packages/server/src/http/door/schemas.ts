import { type TObject, type TProperties, type TSchema, Type } from "typebox";
import { grantablePermissions, permissions } from "../../auth/permissions/permissions.ts";
import { newRoleNamePattern, roleNameOrIdPattern, roleNamePattern } from "../../auth/permissions/roles.ts";
import { errorKinds } from "./errors.ts";

/* The schemas that several operations share. A schema with a `title` becomes a component of the document under that name. */

export const Id = Type.String({ format: "uuid", example: "01980c3e-8f7a-7b52-9d2f-5e1c6a3b7d90" });
export const Time = Type.String({ format: "date-time", example: "2026-01-31T12:00:00.000Z" });
export const AnyJson = Type.Unknown({ description: "Any JSON value." });

/** The body or the query of a request. Unknown fields are rejected, so that a typo is never ignored. */
export function closed<Properties extends TProperties>(
  properties: Properties,
  options: object = {},
): TObject<Properties> {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

export const NoBody = Type.Unsafe<null>({
  ...closed({}),
  type: ["object", "null"],
  "x-optional-body": true,
  description: "The body, which may be left out.",
});

export function oneOf<const Values extends string[]>(values: readonly [...Values], options: object = {}) {
  return Type.Enum(values, { type: "string", ...options });
}

/** The characters below U+10000 that are invisible, break lines or change direction, except U+FE00 to U+FE0F, which emoji need. */
const hiddenCharacters = [
  "\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f",
  "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb",
].join("");

const namePattern = `^(?=.*[^\\s\\ufe00-\\ufe0f])[^${hiddenCharacters}]*$`;

/** A text that people read. */
export function nameSchema(maxLength: number, description: string) {
  return Type.String({
    maxLength,
    pattern: namePattern,
    "x-rule": "must not be blank, and must not contain control, invisible or direction-changing characters",
    description,
  });
}

export const TagName = Type.String({
  pattern: "^\\$?[A-Za-z0-9_.-]{1,64}$",
  "x-rule": "must be 1 to 64 of the characters A-Z, a-z, 0-9, `_`, `.` and `-`, with or without a `$` before them",
  example: "$LIVE",
});

export function eventIdSchema(maxLength: number) {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$",
    "x-rule": "must not contain control characters",
    description: "The id of the event. It is compared byte by byte with the ids that steps list.",
  });
}

/** Applies the rule of `nameSchema` to a text that comes from a form. */
export function isName(text: string, maxLength: number): boolean {
  return text.length <= maxLength && new RegExp(namePattern, "u").test(text);
}

/** A text like a name, but it may be empty. */
export function remarkSchema(maxLength: number, description: string) {
  return Type.String({
    maxLength,
    pattern: `^[^${hiddenCharacters}]*$`,
    "x-rule": "must not contain control, invisible or direction-changing characters",
    description,
  });
}

const roleNameRule = "must be 1 to 64 of the characters a-z, 0-9 and `-`, and begin with a letter";

export const RoleName = Type.String({ pattern: roleNamePattern, "x-rule": roleNameRule, example: "release-manager" });

/** The name for a new or renamed role. */
export const NewRoleName = Type.String({
  pattern: newRoleNamePattern,
  "x-rule": `${roleNameRule}, and not have the form of an id`,
  example: "release-manager",
});

export const RoleNames = Type.Array(RoleName, {
  minItems: 1,
  maxItems: 20,
  uniqueItems: true,
  description:
    "The roles, which can be built-in ones or the organization's own. You must have all of their permissions yourself.",
});

const organizationId = Type.String({ format: "uuid", description: "The organization." });
const workflowId = Type.String({ format: "uuid", description: "The workflow." });
const jobId = Type.String({ format: "uuid", description: "The job." });

export const OrganizationParams = Type.Object({ organizationId });
export const WorkflowParams = Type.Object({ organizationId, workflowId });
export const VersionParams = Type.Object({
  organizationId,
  workflowId,
  versionId: Type.String({ format: "uuid", description: "The version." }),
});
export const TagParams = Type.Object({
  organizationId,
  workflowId,
  tag: { ...TagName, description: "The tag, for example `$LIVE`." },
});
export const JobParams = Type.Object({ organizationId, jobId });
export const TokenParams = Type.Object({
  organizationId,
  tokenId: Type.String({ format: "uuid", description: "The API token." }),
});

export const OAuthClientParams = Type.Object({
  organizationId,
  clientId: Type.String({ description: "The OAuth client." }),
});

export const MemberParams = Type.Object({
  organizationId,
  userId: Type.String({ format: "uuid", description: "The member's user id." }),
});
export const RoleParams = Type.Object({
  organizationId,
  role: Type.String({ pattern: roleNameOrIdPattern, description: "The role's name, or its `roleId`." }),
});
export const InvitationParams = Type.Object({
  organizationId,
  invitationId: Type.String({ format: "uuid", description: "The invitation." }),
});

export const ActorSchema = Type.Object(
  {
    type: oneOf(["user", "apiToken", "service"]),
    id: Type.String(),
  },
  { title: "Actor", description: "The user, API token or service that did something." },
);

export const PermissionSchema = oneOf([...permissions], { title: "Permission" });

/** Permissions that a caller grants. */
export function grantedPermissionsSchema(description: string, minItems = 1) {
  return Type.Array(oneOf(grantablePermissions), {
    minItems,
    maxItems: grantablePermissions.length,
    uniqueItems: true,
    description,
  });
}

export const definitionPosition = {
  line: Type.Integer({ minimum: 1, description: "The line in the text of the definition, counted from 1." }),
  column: Type.Integer({ minimum: 1, description: "The column in the line, counted from 1 in UTF-16 code units." }),
  offset: Type.Integer({ minimum: 0, description: "The offset in the text of the definition, in UTF-16 code units." }),
};

export const ProblemSchema = Type.Object(
  {
    type: Type.String({
      description:
        "The kind of the error, as a URN. It ends with `password-needed`, `code-needed` or `fresh-sign-in-needed` where a program can ask the person for what is missing.",
    }),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String({ description: "The error in words, in most cases with what to do about it." }),
    code: oneOf(Object.keys(errorKinds), {
      description:
        "The code of the error, for programs to branch on. It never changes, and it is also in the header `x-amzn-errortype`.",
    }),
    requestId: Type.String({
      format: "uuid",
      description: "The id of the request. It is also in the header `X-Request-Id` and in the service's log.",
    }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          pointer: Type.String({
            description:
              "The place of the problem, as a JSON pointer into the body, the query, the parameters of the path, or the definition that was sent. It is empty for a problem of the whole input.",
          }),
          detail: Type.String(),
          line: Type.Optional(definitionPosition.line),
          column: Type.Optional(definitionPosition.column),
          offset: Type.Optional(definitionPosition.offset),
        }),
        {
          description:
            "The problems that the service found in the input. If there are many, or if the input is large, these are only the first ones. A problem of a definition also has `line`, `column` and `offset`.",
        },
      ),
    ),
    message: Type.String({ description: "The same as `detail`, for clients that look here." }),
    errorType: Type.String({ description: "The same as `code`." }),
    statusCode: Type.Integer({ description: "The same as `status`." }),
    fields: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: "The same as `errors`, as an object with the pointers as keys and the details as values.",
      }),
    ),
  },
  { title: "Problem", description: "An error, as in RFC 9457." },
);

/** A shared schema as the answer of one operation, with that operation's own description. */
export function answer<Schema extends TSchema>(description: string, schema: Schema): Schema {
  return { ...schema, "x-response-description": description };
}

export function noContent(description: string) {
  return Type.Null({ description });
}
