import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { NodeFS } from "@electric-sql/pglite/nodefs";
import { stampOf } from "./stamp.ts";

/** The file is beside the program that unpacks it. */
const target = "packages/server/dist/store/home/empty-cluster.tar.gz";
const stampFile = `${target}.stamp`;

/**
 * Makes the empty cluster with which each new embedded store begins, if PGlite may have changed since the last time. PGlite needs four seconds of
 * processor time to initialize a cluster, but only one second to unpack it.
 */
export async function buildEmptyCluster(): Promise<void> {
  const stamp = stampOf(["package-lock.json", "scripts/build-empty-cluster.ts"]);
  if (existsSync(target) && existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;
  const directory = mkdtempSync(join(tmpdir(), "stepwell-cluster-"));
  try {
    const pglite = await PGlite.create({ fs: new NodeFS(join(directory, "postgres")) });
    await pglite.exec("CHECKPOINT");
    const packed = await pglite.dumpDataDir("gzip");
    await pglite.close();
    writeFileSync(target, new Uint8Array(await packed.arrayBuffer()));
    writeFileSync(stampFile, stamp);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
