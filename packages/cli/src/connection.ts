import { resolve } from "node:path";
import { createClient, type StepwellClient } from "@stepwell/client";
import { readDevFile } from "./dev-file.ts";

export interface Connection {
  readonly client: StepwellClient;
  readonly organizationId: string;
  readonly baseUrl: string;
  readonly token: string;
}

/** From the environment, else from what `stepwell dev` left in the data directory. */
export function connect(): Connection {
  const known = readDevFile(resolve(process.env.STEPWELL_DATA_DIR ?? ".stepwell"));
  const baseUrl = process.env.STEPWELL_URL?.replace(/\/+$/, "") ?? known?.baseUrl;
  const token = process.env.STEPWELL_TOKEN ?? known?.token;
  const organizationId = process.env.STEPWELL_ORGANIZATION ?? known?.organizationId;
  if (baseUrl === undefined || token === undefined || organizationId === undefined) {
    throw new Error(
      "No service is known here. Set STEPWELL_URL, STEPWELL_TOKEN and STEPWELL_ORGANIZATION, or start one with `stepwell dev`.",
    );
  }
  return { client: createClient({ baseUrl, token }), organizationId, baseUrl, token };
}
