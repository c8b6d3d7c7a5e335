/** The credentials with which the SDK signs requests. It asks for new ones shortly before `expiration`. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

export interface AssumedRole {
  readonly roleArn: string;
  readonly organizationId: string;
}

/**
 * Assumes the role with the service's own credentials. The organization is the external id: a role that requires it cannot be used by another
 * organization that only learned the role's name.
 */
export async function roleCredentials(role: AssumedRole, region: string): Promise<AwsCredentials> {
  try {
    return await assumeRole(role, region);
  } catch (error) {
    throw new RoleError(role, error);
  }
}

/** Thrown when the role cannot be assumed; `cause` is the SDK's error. */
export class RoleError extends Error {
  readonly role: AssumedRole;

  constructor(role: AssumedRole, cause: unknown) {
    super(`${role.roleArn} could not be assumed.`, { cause });
    this.name = "RoleError";
    this.role = role;
  }
}

async function assumeRole({ roleArn, organizationId }: AssumedRole, region: string): Promise<AwsCredentials> {
  const { AssumeRoleCommand, STSClient } = await import("@aws-sdk/client-sts");
  // Each use makes a client of its own. A client is needed only once an hour, and its sockets would be idle in between.
  const client = new STSClient({ region, requestHandler });
  try {
    const command = new AssumeRoleCommand({
      RoleArn: roleArn,
      ExternalId: organizationId,
      RoleSessionName: sessionName(organizationId),
    });
    const { Credentials: granted } = await client.send(command);
    if (granted?.AccessKeyId === undefined || granted.SecretAccessKey === undefined) {
      throw new Error("The answer contains no credentials.");
    }
    return {
      accessKeyId: granted.AccessKeyId,
      secretAccessKey: granted.SecretAccessKey,
      ...(granted.SessionToken !== undefined && { sessionToken: granted.SessionToken }),
      ...(granted.Expiration !== undefined && { expiration: granted.Expiration }),
    };
  } finally {
    client.destroy();
  }
}

const requestHandler = { connectionTimeout: 5_000, requestTimeout: 10_000, throwOnRequestTimeout: true };

/** Makes the session name that the account's CloudTrail shows. It names the organization and not the job, because one session serves many jobs. */
function sessionName(organizationId: string): string {
  return `stepwell-${organizationId}`.slice(0, 64);
}
