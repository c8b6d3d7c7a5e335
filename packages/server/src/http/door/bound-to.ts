import { type Static, Type } from "typebox";
import type { Bounds } from "../../auth/permissions/token-bounds.ts";
import { nameBounds } from "../../management/tokens/bound-to.ts";
import { closed, eventIdSchema, Id, TagName } from "./schemas.ts";

const maxBound = 100;

/** Returns the schema of `boundTo`, the field of a request that gives a token its bounds. */
export function boundToBody(maxNameLength: number) {
  return closed(
    {
      workflowIds: Type.Optional(
        Type.Array(Id, {
          minItems: 1,
          maxItems: maxBound,
          uniqueItems: true,
          description: "The token reaches only these workflows, with their versions, tags and jobs.",
        }),
      ),
      tags: Type.Optional(
        Type.Array(TagName, {
          minItems: 1,
          maxItems: maxBound,
          uniqueItems: true,
          description:
            "The token sets and deletes only these tags, submits jobs only with these tags, and changes only jobs that were submitted with them. This does not restrict what the token reads.",
        }),
      ),
      jobEvent: Type.Optional(
        closed(
          { jobId: Id, eventId: eventIdSchema(maxNameLength) },
          {
            description:
              "The token can only send this event to this job, and call WhoAmI. This bound cannot be combined with other bounds, or with any permission other than `job:event:send`.",
          },
        ),
      ),
    },
    { minProperties: 1, "x-rule": "must name what the token is bound to", description: boundDescription },
  );
}

const boundDescription = "The bounds of the token, beside its permissions. A token without this field has no bounds.";

export const BoundToSchema = Type.Object(
  {
    workflowIds: Type.Optional(Type.Array(Id)),
    tags: Type.Optional(Type.Array(Type.String())),
    jobEvent: Type.Optional(Type.Object({ jobId: Id, eventId: Type.String() })),
  },
  { title: "TokenBounds", description: boundDescription },
);

export function renderBounds(bounds: Bounds | undefined): { boundTo?: Static<typeof BoundToSchema> } {
  return bounds === undefined ? {} : { boundTo: nameBounds(bounds) };
}
