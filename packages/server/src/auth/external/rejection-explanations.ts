import type { AdmissionRejection } from "./admission.ts";

/** Explains why a person for whom a provider vouches was rejected, and what the person can do. `name` is the name of the provider. */
export function explainRejection(name: string, reason: AdmissionRejection): string {
  return explanations[reason](name);
}

const explanations: Readonly<Record<AdmissionRejection, (name: string) => string>> = {
  "unverified-email": (name) =>
    `${name} does not say that your e-mail address is verified. Verify it there, or ask the people who run ${name}.`,
  "foreign-domain": (name) =>
    `On this service, ${name} signs in only people whose e-mail address has one of certain domains. Your address has another domain. Sign in another way, or ask an owner of your organization.`,
  "address-taken": (name) =>
    `The account with your e-mail address here belongs to another person who signs in with ${name}. Ask the operator of this service.`,
  disabled: () => "Your account is disabled. Ask the operator of this service.",
  "no-role": (name) => `${name} gives you no role in its organization. Ask the people who run ${name} for a role.`,
  "no-room": (name) =>
    `The organization that ${name} belongs to has its maximum number of members. Ask one of its owners to remove a member, or the operator of this service to raise the maximum.`,
  "no-organization": (name) =>
    `The organization that ${name} belongs to does not exist any more. Ask the operator of this service.`,
};
