/** The request with which somebody signs in. */
export interface RequestSource {
  /** Empty when no request asked for it. */
  readonly requestId: string;
  /** The network address that the request came from; empty when there was none. */
  readonly address: string;
}
