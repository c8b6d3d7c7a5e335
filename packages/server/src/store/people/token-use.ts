import type { Timestamp } from "../../core/time.ts";

export interface TokenUse {
  /** The organization or the user to which the token belongs. */
  readonly ownerId: string;
  readonly tokenId: string;
  readonly usedAt: Timestamp;
}
