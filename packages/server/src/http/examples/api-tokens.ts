import type { Example } from "./example.ts";
import { ids } from "./story.ts";

export const apiTokensExamples: Readonly<Record<string, Example>> = {
  CreateApiToken: {
    request: {
      name: "pipeline",
      permissions: ["workflow:create", "workflow:version:create", "job:submit", "job:read", "job:list"],
    },
    answer: {
      tokenId: ids.token,
      apiAuthTokenId: ids.token,
      name: "pipeline",
      permissions: ["workflow:create", "workflow:version:create", "job:submit", "job:read", "job:list"],
      tokenPrefix: "stw_0352ExampleNumber00000_NotA",
      createdBy: { type: "user", id: ids.ada },
      createdAt: "2026-03-02T09:00:01.659Z",
      expiresAt: "2026-05-31T09:00:01.659Z",
      token: "stw_0352ExampleNumber00000_NotARealSecretOnlyAnExample00000000000",
    },
  },
  ListApiTokens: {
    answer: {
      apiTokens: [
        {
          tokenId: ids.token,
          apiAuthTokenId: ids.token,
          name: "pipeline",
          permissions: ["workflow:create", "workflow:version:create", "job:submit", "job:read", "job:list"],
          tokenPrefix: "stw_0352ExampleNumber00000_NotA",
          createdBy: { type: "user", id: ids.ada },
          createdAt: "2026-03-02T09:00:01.659Z",
          updatedAt: "2026-03-02T09:00:01.659Z",
          expiresAt: "2026-05-31T09:00:01.659Z",
        },
      ],
    },
  },
  GetApiToken: {
    answer: {
      tokenId: ids.token,
      apiAuthTokenId: ids.token,
      name: "pipeline",
      permissions: ["workflow:create", "workflow:version:create", "job:submit", "job:read", "job:list"],
      tokenPrefix: "stw_0352ExampleNumber00000_NotA",
      createdBy: { type: "user", id: ids.ada },
      createdAt: "2026-03-02T09:00:01.659Z",
      updatedAt: "2026-03-02T09:00:01.659Z",
      expiresAt: "2026-05-31T09:00:01.659Z",
    },
  },
  UpdateApiToken: {
    request: { name: "deployment" },
    answer: {
      tokenId: ids.token,
      apiAuthTokenId: ids.token,
      name: "deployment",
      permissions: ["workflow:create", "workflow:version:create", "job:submit", "job:read", "job:list"],
      tokenPrefix: "stw_0352ExampleNumber00000_NotA",
      createdBy: { type: "user", id: ids.ada },
      createdAt: "2026-03-02T09:00:01.659Z",
      updatedAt: "2026-03-02T09:00:01.716Z",
      expiresAt: "2026-05-31T09:00:01.659Z",
    },
  },
  RotateApiToken: {
    request: { overlapSeconds: 3600 },
    answer: {
      tokenId: ids.token,
      apiAuthTokenId: ids.token,
      name: "deployment",
      permissions: ["workflow:create", "workflow:version:create", "job:submit", "job:read", "job:list"],
      tokenPrefix: "stw_0352ExampleNumber00000_NotA",
      createdBy: { type: "user", id: ids.ada },
      createdAt: "2026-03-02T09:00:01.659Z",
      updatedAt: "2026-03-02T09:00:01.744Z",
      expiresAt: "2026-05-31T09:00:01.659Z",
      rotatedAt: "2026-03-02T09:00:01.744Z",
      previousExpiresAt: "2026-03-02T10:00:01.744Z",
      token: "stw_0352ExampleNumber00000_NotARealSecretOnlyAnExample00000000000",
    },
  },
};
