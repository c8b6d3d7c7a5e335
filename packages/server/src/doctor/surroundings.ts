import { existsSync, statfsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../config.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

/**
 * Judges the address, and for the embedded store also its directory. It needs no database and opens no file: it looks only at the config, at the
 * modes of files and at the file system.
 */
export function judgeSurroundings(config: Config): Finding[] {
  const address = judgeAddress(config);
  return config.databaseUrl === undefined ? [address, ...judgeDirectory(config)] : [address];
}

function judgeAddress({ baseUrl, host, port }: Config): Finding {
  const here = isLoopback(host);
  if (baseUrl === undefined) {
    if (here) return ok("address", `Only this machine reaches the service, at http://localhost:${port}.`);
    return warning(
      "address",
      `The service listens on ${host}, but STEPWELL_BASE_URL is not set: links and sign-in lead to http://localhost:${port}. Set it to the address by which clients reach the service.`,
    );
  }
  if (baseUrl.protocol === "https:" || isLoopback(baseUrl.hostname)) {
    return ok("address", `Clients reach the service at ${baseUrl.href}.`);
  }
  return problem(
    "address",
    `STEPWELL_BASE_URL is ${baseUrl.href}: passwords and tokens cross the network unencrypted. Put a proxy with TLS in front of the service, and set STEPWELL_BASE_URL to its https address.`,
  );
}

function isLoopback(host: string): boolean {
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(host);
}

function judgeDirectory({ dataDir, secretKey }: Config): Finding[] {
  return [...judgeModes(dataDir, secretKey === undefined), ...judgeFileSystem(dataDir)];
}

function judgeModes(dataDir: string, hasKeyFile: boolean): Finding[] {
  // Windows has no such file modes, and a directory that does not exist yet will be created for its owner alone.
  if (process.platform === "win32" || !existsSync(dataDir)) return [];
  const opened = [dataDir, ...(hasKeyFile ? [join(dataDir, "secret.key")] : [])].filter(
    (path) => existsSync(path) && (statSync(path).mode & 0o077) !== 0,
  );
  if (opened.length === 0) return [ok("data directory", `Only its owner can read ${dataDir}.`)];
  return opened.map((path) => {
    const isKey = path !== dataDir;
    const mode = isKey ? "600" : "700";
    const who = "Other users of this machine may read or write";
    return isKey
      ? problem(
          "secret key",
          `${who} ${path}. Run chmod ${mode} ${path}, and change the key if somebody else uses this machine.`,
        )
      : warning("data directory", `${who} ${path}. Run chmod ${mode} ${path}.`);
  });
}

const mebibyte = 1024 * 1024;
/** With less free space than this, the disk is a problem: the log of the embedded store alone may grow to 96 MB. */
const leastFree = 256 * mebibyte;
const comfortablyFree = 1024 * mebibyte;

function judgeFileSystem(dataDir: string): Finding[] {
  const { type, bavail, bsize } = statfsSync(nearestThatIs(dataDir));
  const findings: Finding[] = [];
  const kind = fileSystems.get(type);
  if (kind !== undefined) findings.push(kind(dataDir));
  const free = bavail * bsize;
  const room = `The disk of ${dataDir} has ${Math.floor(free / mebibyte)} MB left.`;
  if (free < leastFree)
    return [
      ...findings,
      problem("disk", `${room} When the disk is full, the service can store nothing more: make room.`),
    ];
  if (free < comfortablyFree) return [...findings, warning("disk", `${room} Make room before it is full.`)];
  return [...findings, ok("disk", room)];
}

/** Kinds of file systems that are not safe for a data directory, by their number on Linux (statfs(2)). Other operating systems are not checked. */
const fileSystems: ReadonlyMap<number, (dataDir: string) => Finding> = new Map([
  [0x01021994, inMemory],
  [0x858458f6, inMemory],
  [
    0x794c7630,
    (dataDir: string) =>
      warning(
        "data directory",
        `${dataDir} is in a container's own layer, which is lost with the container. Mount a volume there.`,
      ),
  ],
  [
    0x6969,
    (dataDir: string) =>
      warning(
        "data directory",
        `${dataDir} is on a network file system, whose locks and fsync may not work in a failure. Use a disk of this machine, or a PostgreSQL server (DATABASE_URL).`,
      ),
  ],
]);

function inMemory(dataDir: string): Finding {
  return problem(
    "data directory",
    `${dataDir} lies in memory and is gone when the machine restarts. Name a directory on a disk with STEPWELL_DATA_DIR.`,
  );
}

function nearestThatIs(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestThatIs(dirname(path));
}
