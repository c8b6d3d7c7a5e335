import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import type { Config } from "../../config.ts";
import type { Timestamp } from "../../core/time.ts";
import type { SecretBox } from "../../sealing/secret-box.ts";
import type { ScopedStore } from "./scoped-store.ts";
import type { Sessions } from "./sessions.ts";
import type { SigningKeys } from "./signing-keys.ts";

export interface OpenIdProviderParts {
  readonly config: Config;
  readonly store: ScopedStore;
  readonly secrets: SecretBox;
  readonly sessions: Sessions;
  readonly signingKeys: SigningKeys;
  /** The database's time. */
  readonly now: () => Timestamp;
  /** The address at which clients reach the service, without a slash at the end. It is known once the service listens. */
  readonly publicUrl: () => string;
  readonly pages: ProviderPages;
  /** The handlers that run before the provider's own endpoints, the outermost first. */
  readonly middlewares: (provider: Provider) => readonly Middleware[];
  /** Called when sessions of a user ended, so that this node forgets them at once. */
  readonly onSessionsEnded: (userId: string) => void;
  readonly onFailure: (error: unknown, ctx: KoaContextWithOIDC | undefined) => void;
}

export type Middleware = (ctx: KoaContextWithOIDC, next: () => Promise<void>) => Promise<void>;

/** The pages that the provider shows by itself. Each sets the answer's body and headers. */
export interface ProviderPages {
  enterDeviceCode(ctx: KoaContextWithOIDC, problem: DeviceCodeProblem | undefined): void;
  confirmDevice(ctx: KoaContextWithOIDC, device: AskingDevice): void;
  deviceSignedIn(ctx: KoaContextWithOIDC): void;
  confirmSignOut(ctx: KoaContextWithOIDC): void;
  signedOut(ctx: KoaContextWithOIDC): void;
  error(
    ctx: KoaContextWithOIDC,
    error: { readonly error: string; readonly error_description?: string | undefined },
  ): void;
}

export type DeviceCodeProblem = "not-a-code" | "cancelled" | "failed";

export interface AskingDevice {
  readonly clientName: string;
  readonly userCode: string;
  readonly address: string;
  readonly userAgent: string;
}
