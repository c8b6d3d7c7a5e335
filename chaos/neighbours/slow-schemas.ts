import { costlyPatterns } from "@stepwell/testing/costly/checks.ts";
import { costlyDefinitions } from "@stepwell/testing/costly/definitions.ts";
import { type Ground, type HostileTenant, inTurn } from "./hostile-tenant.ts";

/** Lets the service check and register the definitions and patterns that take longest to check and to compile. */
export const slowSchemas: HostileTenant = {
  name: "slow-schemas",
  fix: {
    sentence: "New definitions are checked in a thread of their own.",
    turnedOffBy: [
      {
        file: "engine/plans/definition-checks.ts",
        text: "import type { DefinitionFindings, DefinitionToCheck }",
        replacement: "import { definitionCheck, type DefinitionFindings, type DefinitionToCheck }",
      },
      {
        file: "engine/plans/definition-checks.ts",
        text: "const waiting = this.#waitingByOrganization.get(organizationId) ?? 0;",
        replacement: "return definitionCheck(this.#options.config)(toCheck); const waiting = 0;",
      },
    ],
  },
  async prepare({ api, organizationId, requests }: Ground) {
    const workflows = `/organizations/${organizationId}/workflows`;
    const { workflowId } = await api.post<{ workflowId: string }>(workflows, { name: "costly" });
    const versions = `${workflows}/${workflowId}/versions`;
    const definitions = [...costlyDefinitions().values(), ...costlyPatterns().map(definitionWith)];
    const asked = definitions.flatMap((definition) =>
      [`${versions}/validate`, versions].map((path) =>
        Buffer.from(requests.post(path, { definition: JSON.stringify(definition) })),
      ),
    );
    return (traffic) => traffic.keepAsking(8, inTurn(asked));
  },
};

function definitionWith(pattern: string): object {
  const step = {
    name: "only",
    integrationDetails: {
      type: "/service/noop",
      inputDefinition: { $ref: "#/definitions/costly" },
      outputDefinition: { $ref: "#/definitions/any" },
    },
  };
  const definitions = { any: { type: "object" }, costly: { type: "object", properties: { text: { pattern } } } };
  return { workflowName: "costly", steps: [step], definitions };
}
