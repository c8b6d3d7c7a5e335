import type { AdmissionRefusal } from "./admission.ts";

/** Why somebody is not let in for whom the issuer outside vouches, and what they can do. */
export function explanations(name: string): Readonly<Record<AdmissionRefusal, string>> {
  return {
    "unverified-email": `${name} does not say that your e-mail address is verified. Verify it there, or ask who runs ${name}.`,
    "foreign-domain": `${name} does not speak for your e-mail address here. Sign in another way, or ask an owner of your organization.`,
    "address-taken": `There is an account with your e-mail address that belongs to another person of ${name}. Ask who runs this service.`,
    disabled: "Your account is disabled. Ask who runs this service.",
    "no-role": `${name} gives you no role in its organization. Ask who runs ${name} for one.`,
    "no-organization": `The organization that ${name} belongs to is not there any more. Ask who runs this service.`,
  };
}
