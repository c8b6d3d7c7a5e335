import { randomBytes } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { CommandError } from "../exit-code.ts";
import { aloneWith, keptPath, readKept } from "./kept-file.ts";

/** A sign-in as this machine keeps it for later commands. */
export interface SignIn {
  readonly baseUrl: string;
  readonly email: string;
  readonly idToken: string;
  readonly refreshToken: string;
  /** The time when the id token ends, in milliseconds of this machine's clock. */
  readonly expiresAt: number;
  /** True after a sign-in with `--insecure`: the tokens may go over plain HTTP to another machine. */
  readonly isInsecure: boolean;
  /** The organization that commands work in. */
  readonly organizationId?: string | undefined;
}

/** Returns the sign-in at this address; without an address, the last sign-in. */
export function findSignIn(baseUrl?: string): SignIn | undefined {
  const { current, signIns } = read();
  return signIns[baseUrl ?? current ?? ""];
}

/** Stores the sign-in, which commands use from now on when no address is named. */
export async function storeSignIn(signIn: SignIn): Promise<void> {
  await change(({ signIns }) => ({
    current: signIn.baseUrl,
    signIns: { ...signIns, [signIn.baseUrl]: signIn },
  }));
}

/**
 * Puts `renewed` in the place of `used`, unless another command has renewed it, signed in again or signed out in the meantime. Returns the sign-in
 * that is stored afterwards.
 */
export async function replaceSignIn(used: SignIn, renewed: SignIn): Promise<SignIn | undefined> {
  const { baseUrl, refreshToken } = used;
  const { signIns } = await change((content) => {
    const isStill = content.signIns[baseUrl]?.refreshToken === refreshToken;
    return isStill ? { ...content, signIns: { ...content.signIns, [baseUrl]: renewed } } : content;
  });
  return signIns[baseUrl];
}

export async function removeSignIn({ baseUrl }: SignIn): Promise<void> {
  await change(({ current, signIns }) => {
    const { [baseUrl]: _, ...others } = signIns;
    return { ...(current !== baseUrl && { current }), signIns: others };
  });
}

interface Content {
  /** The address of the last sign-in. */
  readonly current?: string | undefined;
  readonly signIns: Readonly<Record<string, SignIn>>;
}

function path(): string {
  const { STEPWELL_CREDENTIALS_FILE: named } = process.env;
  if (named !== undefined && named !== "") return resolve(named);
  return keptPath("credentials.json");
}

function read(): Content {
  try {
    const content = JSON.parse(readKept(path()) ?? "{}") as Partial<Content> | null;
    const signIns: Content["signIns"] = content?.signIns ?? {};
    for (const [baseUrl, signIn] of Object.entries(signIns) as [string, Partial<SignIn> | null][]) {
      const texts = [signIn?.baseUrl, signIn?.idToken, signIn?.refreshToken];
      if (texts.some((text) => typeof text !== "string")) throw new Error(`the sign-in at ${baseUrl} is incomplete`);
    }
    return { ...content, signIns };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new Error(
      `${path()} cannot be read: ${error instanceof Error ? error.message : error}. Delete it and sign in again.`,
    );
  }
}

async function change(next: (content: Content) => Content): Promise<Content> {
  return await aloneWith(path(), () => {
    const before = read();
    const after = next(before);
    if (after !== before) write(after);
    return after;
  });
}

/** Writes the file completely or not at all. Only its owner can read it. */
function write(content: Content): void {
  const unfinished = `${path()}.${randomBytes(6).toString("hex")}`;
  writeFileSync(unfinished, `${JSON.stringify(content, undefined, 2)}\n`, { flag: "wx", mode: 0o600, flush: true });
  renameSync(unfinished, path());
}
