import { defineConfig } from "vitest/config";
import { scope } from "./packages/testing/src/scope.ts";

const service = [
  "packages/server/test/{store,engine,management,http}/**/*.test.ts",
  "packages/client/test/service/**/*.test.ts",
];
const commandLine = ["packages/cli/test/**/*.test.ts"];
const stores = ["packages/testing/src/postgres/stores-setup.ts"];
const properties = ["packages/testing/src/property-seed.ts"];
const browser = ["packages/dashboard/test/browser/**/*.test.ts"];
const matrix = "**/*.matrix.test.ts";
/** Files that wait until leases, limits, timers and outages are over, start a node as a process, or send a service many requests. */
const slow = [
  "**/{postgres-outage,ownership,takeover,timers-of-dead-node,held-rows,lanes,embedded}.test.ts",
  "**/{delays,timers,parking,scenarios-children,organization-deletion,audit-seals,job-watch,layout}.test.ts",
  "**/{interleaving,fairness,rate-limits,citus}.test.ts",
  "packages/client/test/service/**",
];
/** Files that measure, make long random walks, fill a store or the memory, or concern another home of the store. */
const thorough = [
  "**/{*-walks,family-interleaving,waiting,definition-checks,definition-costs,job-values,job-events,large-*}.test.ts",
  "**/{key-plans,due-plans,queued-task-plans,index-use,slow-reads,unread-answers,metric-rollups,citus-service}.test.ts",
  "packages/server/test/engine/rate-limits.test.ts",
  "packages/dashboard/test/browser/first-page.test.ts",
];
/**
 * Files about the graph and branches on pages, about lost answers on pages, about pages and commands other than those of workflows, jobs and the
 * editor, about the sign-in of the command line, about the examples and the tutorial, about docs/client.md, about errors at a start, about single
 * sign-on and OAuth clients, about requests and sign-ins on several nodes, about sign-ins during outages, and about the secrets in the store. Even
 * without these files, `npm test` opens every page (`pages.test.ts`), signs in by the command line (`first-five-minutes.test.ts`), and compares the
 * reference of all commands with their declarations (`scripts/cli-reference.ts`).
 */
const rare = [
  "packages/dashboard/test/browser/{api-tokens,audit,branches,docs,graph,invitation,oauth-clients,people}.test.ts",
  "packages/dashboard/test/browser/{second-factor,settings,sign-in-providers,submit,tag-history,task-queues,user-tokens}.test.ts",
  "packages/cli/test/{audit,doctor,examples,organization-limits,sign-in,start-errors,task-queues}.test.ts",
  "packages/client/test/service/package.test.ts",
  "**/{sign-in-nodes,sign-in-cut-off,sign-in-outage,members-nodes,oauth-clients-nodes}.test.ts",
  "**/{single-sign-on,single-sign-on-confirmation,single-sign-on-outage}.test.ts",
  "packages/server/test/http/organizations/oauth-clients.test.ts",
  "packages/server/test/http/operations/{nodes,secrets-at-rest}.test.ts",
];
/**
 * Files that a scope leaves out. So that `npm test` takes less than eight minutes, it leaves files to the whole matrix, which runs each night.
 * `quick` also leaves out slow files, the operations of the API, the command line and the pages.
 */
const leftOut: Readonly<Record<string, readonly string[]>> = {
  quick: [matrix, ...slow, ...thorough, "packages/server/test/http/**", ...commandLine, ...browser],
  usual: [matrix, ...thorough, ...rare],
};
/** Without a scope, somebody runs single files, and each file that is named should run. Only those of the matrix need the scope `all`. */
const left = process.env.STEPWELL_TEST_SCOPE === undefined ? [matrix] : (leftOut[scope] ?? []);
/**
 * Files that need a plain PostgreSQL server. Most of them test a stand-in for Citus, which is not needed on a real Citus cluster, or PostgreSQL's
 * query plans, which such a cluster does not show.
 */
const ofPlainServer =
  "**/{citus,citus-service,one-shard,key-plans,due-plans,queued-task-plans,index-use,uuid-hash}.test.ts";
const leftToPlainServers = process.env.STEPWELL_TEST_CITUS_URL === undefined ? [] : [ofPlainServer];
const excluded = [...left, ...leftToPlainServers, "**/node_modules/**"];
const isWithoutProto = process.env.NODE_OPTIONS?.includes("--disable-proto") === true;
/** This test runs npm, which is not this project's code and may need `__proto__`. */
const withoutProto = isWithoutProto ? ["**/first-five-minutes.test.ts"] : [];

/**
 * How long a poll may take. On a busy machine, a result that otherwise comes at once can take seconds. The poll ends as soon as the result has come.
 */
const poll = { timeout: 10_000 };

/**
 * In `npm test`, a failed test of the service, the command line or a page is tried once more: a test shares two processors with three others and a
 * dozen processes, and a test that fails because its process got too little time says nothing about a change. A test that passes only when tried
 * again is named at the end. Other scopes try nothing twice.
 */
const retry = scope === "usual" && !isWithoutProto ? 1 : 0;

/**
 * This expects a machine with two processors. `npm test` has two workers for each of them, since a test spends nearly half of its time waiting for a
 * page, a lease or another process. The whole matrix measures what was promised, so each of its workers has a processor for itself.
 */
const maxWorkers = scope === "all" ? 2 : 4;

/** A browser keeps a processor busy too. So in the whole matrix, the pages come after all other tests, as a project of their own. */
const pagesComeLast = scope === "all";

/**
 * Node.js itself loads the tests and what they import: it strips the types, and caches the compiled code, which the next worker uses. Through the
 * pipeline of Vite, each worker would ask the main process for more than a thousand modules. Vitest's loader is off, since no test mocks a module.
 */
const experimental = { viteModuleRunner: false, nodeLoader: false };

/*
 * Files of one worker share the modules that they import (`isolate: false`): to load the service anew for each file took a fifth of the processor
 * time. So a file must leave nothing in a module that could disturb another file. Each project has workers of its own, which load the service anew.
 * So the tests of the service, the command line and, except in the whole matrix, the pages are one project.
 */
const onStores = {
  expect: { poll },
  experimental,
  retry,
  globalSetup: stores,
  // Some tests make stores, start a dozen processes or open many pages, and a busy machine may give them little time.
  testTimeout: 120_000,
  hookTimeout: 60_000,
  isolate: false,
  maxWorkers,
};

const pages = {
  test: {
    name: "pages",
    ...onStores,
    include: browser,
    exclude: excluded,
    // Some tests of the whole matrix try every page.
    testTimeout: 180_000,
    sequence: { groupOrder: 1 },
  },
};

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "pure",
          expect: { poll },
          experimental,
          include: ["packages/*/test/**/*.test.ts", "{bench,chaos}/**/*.test.ts"],
          exclude: [...service, ...commandLine, ...browser, ...excluded],
          isolate: false,
          pool: "threads",
          setupFiles: properties,
          // Properties are tried with hundreds of values each.
          testTimeout: 30_000,
          maxWorkers,
        },
      },
      {
        test: {
          name: "service",
          ...onStores,
          include: [...service, ...commandLine, ...(pagesComeLast ? [] : browser)],
          exclude: [...excluded, ...withoutProto],
          setupFiles: properties,
        },
      },
      ...(pagesComeLast ? [pages] : []),
    ],
  },
});
