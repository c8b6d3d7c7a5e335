import { defineConfig } from "vitest/config";
import { scope } from "./packages/testing/src/scope.ts";

const service = ["packages/server/test/{store,engine,management,http}/**/*.test.ts"];
const commandLine = ["packages/cli/test/**/*.test.ts"];
const stores = ["packages/testing/src/stores-setup.ts"];
const browser = ["packages/dashboard/test/browser/**/*.test.ts"];
const matrix = "**/*.matrix.test.ts";
/** Files that a scope leaves out: the quick one tries no HTTP interface, no command line, no page, and no outage, which takes its time. */
const leftOut: Readonly<Record<string, readonly string[]>> = {
  quick: [matrix, "packages/server/test/http/**", "**/{postgres-outage,disk-full}.test.ts", ...commandLine, ...browser],
  usual: [matrix],
  all: [],
};
const left = leftOut[scope] ?? [];
/** The story of the first five minutes runs npm, which is not ours to run under this. */
const withoutProto = process.env.NODE_OPTIONS?.includes("--disable-proto") ? ["**/first-five-minutes.test.ts"] : [];

/** Real services, databases and programs: more at once than this only makes each slower. */
const maxWorkers = 3;

/*
 * Files of one worker share the modules that they import (`isolate: false`): to load the service anew for each file took a fifth of the processor time.
 * A file leaves nothing behind in a module but what any other may find there.
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "pure",
          include: ["packages/*/test/**/*.test.ts", "{bench,chaos}/**/*.test.ts"],
          exclude: [...service, ...commandLine, ...browser, "**/node_modules/**"],
          isolate: false,
          pool: "threads",
          // Properties are tried with hundreds of values each.
          testTimeout: 30_000,
          maxWorkers,
        },
      },
      {
        test: {
          name: "service",
          include: service,
          exclude: [...left, "**/node_modules/**"],
          globalSetup: stores,
          testTimeout: 30_000,
          hookTimeout: 60_000,
          isolate: false,
          maxWorkers,
        },
      },
      {
        test: {
          name: "command line",
          include: commandLine,
          exclude: [...left, ...withoutProto, "**/node_modules/**"],
          globalSetup: stores,
          // Each command is a process, and some make a store: on a busy machine a dozen of them take more than other tests do.
          testTimeout: 120_000,
          hookTimeout: 60_000,
          maxWorkers,
        },
      },
      {
        test: {
          name: "browser",
          include: browser,
          exclude: [...left, "**/node_modules/**"],
          globalSetup: stores,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // The files of a worker share its Chromium, which works beside their services, so these come by themselves, after the others.
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
