/** The result of one check of the installation, in sentences. If the level is not `ok`, the sentences say what to do. */
export interface Finding {
  readonly check: Check;
  /** `problem`: data or sign-in is at risk, or the service does not work. `warning`: it works, and could be safer. */
  readonly level: "ok" | "warning" | "problem";
  readonly detail: string;
}

type Check =
  | "settings"
  | "address"
  | "database"
  | "durability"
  | "replication"
  | "connections"
  | "pooler"
  | "clock"
  | "schema"
  | "secret key"
  | "data directory"
  | "disk";

export function ok(check: Check, detail: string): Finding {
  return { check, level: "ok", detail };
}

export function warning(check: Check, detail: string): Finding {
  return { check, level: "warning", detail };
}

export function problem(check: Check, detail: string): Finding {
  return { check, level: "problem", detail };
}
