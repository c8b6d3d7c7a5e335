import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";

/**
 * This is more than the stores of four test files need at the same time: an embedded store begins with 41 MB, and PostgreSQL's write-ahead log grows
 * to 1 GB.
 */
const roomyBytes = 3_000_000_000;

/**
 * Returns the directory for the stores of the tests. It is in memory if the system is Linux and has enough space there, since these stores need not
 * survive a crash of the machine. On a disk that other programs also use, tests of embedded stores, which sync each commit, spent most of their time
 * waiting for the disk.
 */
export async function roomyMemory(): Promise<string> {
  const memory = "/dev/shm";
  try {
    const { bavail, bsize } = await statfs(memory);
    if (bavail * bsize >= roomyBytes) return memory;
  } catch {
    // This system has no such directory.
  }
  return tmpdir();
}
