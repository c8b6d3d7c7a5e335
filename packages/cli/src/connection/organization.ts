import type { StepwellClient } from "@stepwell/client";
import { CommandError } from "../exit-code.ts";
import { isId } from "../id.ts";

/** Returns the id of an organization, given by name, key or id; without one, the id of the token's only organization. */
export async function organizationIdOf(client: StepwellClient, wanted: string | undefined): Promise<string> {
  if (wanted !== undefined && isId(wanted)) return wanted.toLowerCase();
  const own = wanted === undefined ? (await client.whoAmI()).organizationId : undefined;
  if (own !== undefined) return own;
  const { organizations } = await client.listOrganizations();
  const isWanted = ({ name, key }: (typeof organizations)[number]) =>
    wanted === undefined || name === wanted || key === wanted;
  const [chosen, ...others] = organizations.filter(isWanted);
  if (chosen !== undefined && others.length === 0) return chosen.organizationId;
  throw unclear(wanted, organizations, chosen !== undefined);
}

function unclear(
  wanted: string | undefined,
  organizations: readonly { readonly name: string; readonly organizationId: string }[],
  isAmbiguous: boolean,
): CommandError {
  const listed = organizations.map(({ name, organizationId }) => `\n  ${organizationId}  ${name}`).join("");
  if (wanted === undefined && organizations.length === 0) {
    return new CommandError(
      "notFound",
      "You are not a member of any organization yet. `stepwell org create NAME` makes one.",
    );
  }
  if (wanted === undefined) {
    const how = "Name one with --organization NAME, or set STEPWELL_ORGANIZATION";
    return new CommandError("usage", `No organization is chosen. ${how}:${listed}`);
  }
  if (isAmbiguous)
    return new CommandError("usage", `Several organizations are named ${wanted}. Name one by its id:${listed}`);
  return new CommandError(
    "notFound",
    `None of your organizations is named ${wanted}.${listed === "" ? "" : ` Your organizations:${listed}`}`,
  );
}
