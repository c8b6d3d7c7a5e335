import { fdatasyncSync } from "node:fs";
import type { PGlite, postgresMod } from "@electric-sql/pglite";
import { NodeFS } from "@electric-sql/pglite/nodefs";

export interface SyncOptions {
  /** Called once for each sync that reached the disk. `stepwell doctor` and tests use it to count them. */
  readonly onSync?: () => void;
  /**
   * Called when a sync failed. After that the content of the disk is unknown: another sync would report success for pages that the kernel dropped. So
   * the process must end, and the store must recover from the log at the next start.
   */
  readonly onSyncFailed: (error: unknown) => void;
}

const EIO = 29; // Emscripten's number for EIO. The kernel uses another number.

/** Describes the error that stopped PGlite, whose file system throws only numbers. */
export function describeFileError(error: unknown): string {
  const known =
    typeof error === "object" && error !== null && "errno" in error ? emscripten.get(error.errno) : undefined;
  return known ?? (error instanceof Error ? error.message : String(error));
}

const emscripten: ReadonlyMap<unknown, string> = new Map([
  [2, "permission denied"],
  [EIO, "the disk failed"],
  [51, "no space is left on the disk"],
  [63, "permission denied"],
  [69, "the file system is read-only"],
]);

/** PGlite's Node.js file system with an fsync that reaches the disk. PGlite's own fsync does nothing. */
export class DurableFileSystem extends NodeFS {
  readonly #options: SyncOptions;

  constructor(directory: string, options: SyncOptions) {
    super(directory);
    this.#options = options;
  }

  override async init(
    pglite: PGlite,
    base: Partial<postgresMod.PostgresMod>,
  ): Promise<{ emscriptenOpts: Partial<postgresMod.PostgresMod> }> {
    const { emscriptenOpts } = await super.init(pglite, base);
    const installSync = (module: postgresMod.PostgresMod) => {
      const { stream_ops } = module.NODEFS as unknown as NodeFileOperations;
      stream_ops.fsync = (stream) => {
        try {
          // The log is preallocated, and a commit never changes its length, so syncing the data is enough.
          fdatasyncSync(stream.nfd);
        } catch (error) {
          this.#options.onSyncFailed(error);
          throw new (module.FS as unknown as { ErrnoError: new (errno: number) => Error }).ErrnoError(EIO);
        }
        this.#options.onSync?.();
        return 0;
      };
    };
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), installSync] } };
  }
}

/** The inner structure of Emscripten's NODEFS, which its types do not describe. */
interface NodeFileOperations {
  stream_ops: { fsync?: (stream: { readonly nfd: number }) => number };
}
