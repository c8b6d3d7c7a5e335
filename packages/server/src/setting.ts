import { readFileSync } from "node:fs";
import { isIP, isIPv4 } from "node:net";
import { hostname } from "node:os";
import { resolve } from "node:path";

export interface Setting<Value> {
  readonly variable: string;
  /** The variable's name in an earlier release. The variable with this name is still read if the present one is not set. */
  readonly formerVariable?: string;
  /** The variable that may name a file with the value instead. */
  readonly fileVariable?: string;
  readonly fallback: string;
  readonly meaning: string;
  readonly parse: (raw: string | undefined) => Value;
}

export function text(variable: string, fallback: string, meaning: string): Setting<string> {
  return { variable, fallback, meaning, parse: (raw) => raw ?? fallback };
}

/** Renames a setting: `formerVariable` is still read, and a start at which it is set logs a warning. */
export function formerly<Value>(formerVariable: string, setting: Setting<Value>): Setting<Value> {
  return { ...setting, formerVariable };
}

/** Lets the value also come from a file. Containers and supervisors pass secrets in files, because an environment is visible in too many places. */
export function orFile<Value>(setting: Setting<Value>): Setting<Value> {
  return { ...setting, fileVariable: `${setting.variable}_FILE` };
}

/** Returns the text that the environment has for a setting. Throws when both a text and a file are given, or when the file cannot be read. */
export function textIn(
  environment: Readonly<Record<string, string | undefined>>,
  { variable, formerVariable = "", fileVariable = "" }: Setting<unknown>,
): string | undefined {
  const text = environment[variable] || environment[formerVariable] || undefined;
  const file = environment[fileVariable];
  if (!file) return text;
  if (text !== undefined) throw new Error(`and ${fileVariable} are both set. Remove one of them`);
  const content = readText(file, fileVariable).trim();
  if (content === "") throw new Error(`cannot be read: ${fileVariable} names ${file}, which is empty`);
  return content;
}

function readText(file: string, fileVariable: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new Error(`cannot be read: ${fileVariable} names ${file}, which this process cannot open (${reason})`);
  }
}

export function machineName(variable: string, meaning: string): Setting<string> {
  return { variable, fallback: "", meaning, parse: (raw) => raw ?? hostname() };
}

export function optionalText(variable: string, meaning: string): Setting<string | undefined> {
  return { variable, fallback: "", meaning, parse: (raw) => raw };
}

export function directory(variable: string, fallback: string, meaning: string): Setting<string> {
  return { variable, fallback, meaning, parse: (raw) => resolve(raw ?? fallback) };
}

export function optionalUrl(variable: string, meaning: string): Setting<URL | undefined> {
  return {
    variable,
    fallback: "",
    meaning,
    parse: (raw) => {
      if (raw === undefined) return undefined;
      if (!URL.canParse(raw) || !/^https?:$/.test(new URL(raw).protocol)) {
        throw new Error(`must be an http or https address, but is "${raw}"`);
      }
      return new URL(raw);
    },
  };
}

/** The address of a PostgreSQL database. It may contain a password, so no error shows it. */
export function optionalPostgresUrl(variable: string, meaning: string): Setting<string | undefined> {
  return {
    variable,
    fallback: "",
    meaning,
    parse: (raw) => {
      if (raw === undefined) return undefined;
      const form = "must look like postgres://USER:PASSWORD@HOST:5432/DATABASE";
      const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(raw) ?? [];
      if (scheme === undefined) throw new Error(`${form}, but does not begin with postgres://`);
      if (!/^postgres(ql)?$/i.test(scheme)) throw new Error(`${form}, but begins with ${scheme}://`);
      if (!isPostgresUrl(raw)) {
        throw new Error(
          `${form}; in USER and PASSWORD write # as %23, / as %2F, ? as %3F, @ as %40, : as %3A and % as %25`,
        );
      }
      return raw;
    },
  };
}

/**
 * Like the driver, accepts an address without a host (postgres://USER:PASSWORD@/DATABASE?host=/var/run/postgresql). Refuses an address with a
 * fragment, because its # is probably a character of the password that should be written as %23.
 */
function isPostgresUrl(raw: string): boolean {
  const url = URL.parse(raw) ?? URL.parse(raw.replace("@/", "@localhost/"));
  try {
    return url !== null && url.hash === "" && decodeURIComponent(url.username + url.password) !== undefined;
  } catch {
    return false;
  }
}

export function port(variable: string, fallback: number, meaning: string): Setting<number> {
  const optional = optionalPort(variable, meaning);
  return { ...optional, fallback: String(fallback), parse: (raw) => optional.parse(raw) ?? fallback };
}

/** A port to listen on; 0 takes any free one. */
export function optionalPort(variable: string, meaning: string): Setting<number | undefined> {
  const number = optionalInteger(variable, 0, 65_535, meaning);
  return {
    ...number,
    parse: (raw) => {
      // Kubernetes sets STEPWELL_PORT, for example, to tcp://10.0.0.1:80 if there is a Service named `stepwell`.
      if (raw !== undefined && /^(tcp|udp|sctp):\/\//.test(raw)) {
        throw new Error(
          `must be a port, but is "${raw}", which Kubernetes puts there if a Service has the variable's name without _PORT. Set \`enableServiceLinks: false\` in the pod's spec, or set ${variable} in the container's env to the port`,
        );
      }
      return number.parse(raw);
    },
  };
}

export function integer(
  variable: string,
  fallback: number,
  min: number,
  max: number,
  meaning: string,
): Setting<number> {
  return { variable, fallback: String(fallback), meaning, parse: (raw) => parseInteger(raw, min, max) ?? fallback };
}

function optionalInteger(variable: string, min: number, max: number, meaning: string): Setting<number | undefined> {
  return { variable, fallback: "", meaning, parse: (raw) => parseInteger(raw, min, max) };
}

function parseInteger(raw: string | undefined, min: number, max: number): number | undefined {
  if (raw === undefined) return undefined;
  const value = Number(raw);
  if (!/^-?\d+$/.test(raw) || value < min || value > max) {
    throw new Error(`must be a whole number from ${min} to ${max}, but is "${raw}"`);
  }
  return value;
}

export function boolean(variable: string, fallback: boolean, meaning: string): Setting<boolean> {
  return {
    variable,
    fallback: String(fallback),
    meaning,
    parse: (raw) => {
      if (raw === undefined) return fallback;
      if (raw !== "true" && raw !== "false") throw new Error(`must be true or false, but is "${raw}"`);
      return raw === "true";
    },
  };
}

export function list(variable: string, meaning: string): Setting<readonly string[]> {
  return {
    variable,
    fallback: "",
    meaning,
    parse: (raw) =>
      (raw ?? "")
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== ""),
  };
}

export function urls(variable: string, meaning: string): Setting<readonly string[]> {
  const texts = list(variable, meaning);
  return {
    ...texts,
    parse: (raw) => {
      const uris = texts.parse(raw);
      const wrong = uris.find((uri) => !/^https?:$/.test(URL.parse(uri)?.protocol ?? "") || uri.includes("#"));
      if (wrong !== undefined)
        throw new Error(`must be http or https addresses without a fragment, but one is "${wrong}"`);
      return uris;
    },
  };
}

/** Addresses and networks, such as 10.0.0.1, fd00::/8. */
export function networks(variable: string, meaning: string): Setting<readonly string[]> {
  const texts = list(variable, meaning);
  return {
    ...texts,
    parse: (raw) => {
      const items = texts.parse(raw);
      const wrong = items.find((item) => !isNetwork(item));
      if (wrong !== undefined)
        throw new Error(`must be IP addresses or networks such as 10.0.0.0/8, but one is "${wrong}"`);
      return items;
    },
  };
}

function isNetwork(text: string): boolean {
  const [address = "", bits = "0", ...rest] = text.split("/");
  const maxBits = isIPv4(address) ? 32 : 128;
  return isIP(address) !== 0 && rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= maxBits;
}

/** Addresses, networks and names of hosts, such as 10.0.0.0/8, billing.internal. Names are put in lower case and lose the dot at their end. */
export function networksAndHosts(variable: string, meaning: string): Setting<readonly string[]> {
  const texts = list(variable, meaning);
  return {
    ...texts,
    parse: (raw) => {
      const items = texts.parse(raw).map((item) => item.toLowerCase().replace(/\.$/, ""));
      const wrong = items.find((item) => !isNetwork(item) && !isHostName(item));
      if (wrong !== undefined)
        throw new Error(
          `must be IP addresses, networks such as 10.0.0.0/8 or names of hosts such as billing.internal, but one is "${wrong}"`,
        );
      return items;
    },
  };
}

/** A name whose last label is a number is a mistyped IPv4 address: browsers and `URL` refuse or rewrite it. */
function isHostName(text: string): boolean {
  return (
    /^([a-z0-9_]([a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/.test(text) &&
    !/(^|\.)(\d+|0x[0-9a-f]*)$/.test(text)
  );
}

export function oneOf<const Value extends string>(
  variable: string,
  fallback: Value,
  values: readonly Value[],
  meaning: string,
): Setting<Value> {
  return {
    variable,
    fallback,
    meaning,
    parse: (raw) => {
      const value = values.find((candidate) => candidate === (raw ?? fallback));
      if (value === undefined) throw new Error(`must be one of ${values.join(", ")}, but is "${raw}"`);
      return value;
    },
  };
}
