/** The request that asked for something: its id, and the network address that it came from. */
export interface RequestSource {
  /** Empty when no request asked for it. */
  readonly requestId: string;
  /** Empty when there was none. */
  readonly address: string;
}
