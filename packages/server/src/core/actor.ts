/** The author of an action: a user, an API token, or the service itself. */
export interface Actor {
  readonly type: "user" | "apiToken" | "service";
  readonly id: string;
}
