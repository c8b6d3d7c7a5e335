import { defineConfig } from "vitest/config";

const store = ["packages/server/test/{store,engine,management,http}/**/*.test.ts", "packages/cli/test/**/*.test.ts"];
const browser = ["packages/dashboard/test/browser/**/*.test.ts"];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "pure",
          include: ["packages/*/test/**/*.test.ts", "{bench,chaos}/**/*.test.ts"],
          exclude: [...store, ...browser, "**/node_modules/**"],
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
          env: { STEPWELL_TEST_PART: "browser" },
          globalSetup: ["packages/testing/src/stores-setup.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // Each file has a browser of its own beside its services, so these come by themselves, after the others.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
