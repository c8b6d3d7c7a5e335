import { flushCompileCache } from "node:module";
import { readConfig } from "../../../src/config.ts";
import { initializeOwner } from "../../../src/operator/initial-owner.ts";
import { startService } from "../../../src/service.ts";

/**
 * A node in a process of its own, for a test that kills it. It is configured by its environment, like every node. On an empty store it makes a first
 * owner and reports the owner's token.
 */
const service = await startService(readConfig(process.env));
const request = { email: "first@example.org", displayName: "The first", organizationName: "first" };
const owner = await initializeOwner(service.database, request);
process.send?.({ baseUrl: service.baseUrl, nodeId: service.engine.nodeId, owner });
// The compile cache is written now, since a process that is killed would not write it.
flushCompileCache();
process.once("disconnect", () => process.exit());
