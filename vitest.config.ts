import { defineConfig } from "vitest/config";

const store = ["packages/server/test/{store,engine,http}/**/*.test.ts", "packages/cli/test/**/*.test.ts"];
const browser = ["packages/dashboard/test/browser/**/*.test.ts"];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "pure",
          include: ["packages/*/test/**/*.test.ts", "{bench,chaos}/**/*.test.ts"],
          exclude: [...store, ...browser, "**/node_modules/**"],
          isolate: false,
          pool: "threads",
        },
      },
      {
        test: {
          name: "service",
          include: store,
          globalSetup: ["packages/testing/src/stores-setup.ts"],
          testTimeout: 30_000,
          hookTimeout: 60_000,
          // Real services and databases: more at once than cores only makes each slower.
          maxWorkers: 3,
        },
      },
      {
        test: {
          name: "browser",
          include: browser,
          globalSetup: ["packages/testing/src/stores-setup.ts"],
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
