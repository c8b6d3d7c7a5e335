/** The origin of an act: the id of the request, and the network address that it came from. */
export interface RequestSource {
  /** Empty when there was no request. */
  readonly requestId: string;
  /** Empty when there was no address. */
  readonly address: string;
}
