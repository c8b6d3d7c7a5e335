import type { Example } from "./example.ts";
import { ids } from "./story.ts";

export const auditExamples: Readonly<Record<string, Example>> = {
  ListAudit: {
    answer: {
      entries: [
        {
          entryId: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b0a",
          recordedAt: "2026-03-02T09:00:02.697Z",
          actor: { type: "user", id: ids.ada, name: "Ada" },
          action: "DeleteOAuthClient",
          outcome: "accepted",
          target: { type: "oauthClient", id: ids.client },
          requestId: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b0b",
          address: "192.0.2.10",
          details: { name: "Acme orders", redirectUris: ["https://orders.acme.example/signed-in"] },
        },
        {
          entryId: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b0c",
          recordedAt: "2026-03-02T09:00:02.519Z",
          actor: { type: "user", id: ids.ada, name: "Ada" },
          action: "CreateOAuthClient",
          outcome: "accepted",
          target: { type: "oauthClient", id: ids.client },
          requestId: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b0d",
          address: "192.0.2.10",
          details: { name: "Acme orders", redirectUris: ["https://orders.acme.example/signed-in"] },
        },
      ],
      nextPageToken: "ZExINnZDaS1uc2NDMDFhMjA4NjgtYTE1ZS03MDhlLTg5ODktNWY2OGE4M2M3MmJj",
    },
  },
  ExportAudit: {
    answer:
      '{"entryId":"019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b0e","recordedAt":"2026-03-02T09:00:00.053Z","actor":{"type":"user","id":"019ca8b2-5c00-7a10-8f3e-2b6d4c9e1a02","name":"Ada"},"action":"CreateOrganization","outcome":"accepted","target":{"type":"organization","id":"019ca8b2-5c00-7a10-8f3e-2b6d4c9e1a01"},"requestId":"019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b0f","address":"192.0.2.10","details":{"name":"acme","displayName":"Acme","key":"acme"},"seal":{"number":1}}\n',
  },
  VerifyAudit: {
    answer: {
      isIntact: true,
      checkedEntries: 26,
      checkedSeals: 2,
      unsealedEntries: 8,
      newestSeal: { number: 2, hash: "1bdd21a76abef65f66f784e44883ba6ff419c7fa27ff279e351278ac9f2bc2b9" },
      findings: [],
    },
  },
};
