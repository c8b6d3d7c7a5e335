import type { Example } from "./example.ts";
import { ids } from "./story.ts";

/** Examples of members, roles and invitations. */
export const membersExamples: Readonly<Record<string, Example>> = {
  ListMembers: {
    answer: {
      members: [
        {
          userId: ids.ada,
          email: "ada@acme.example",
          displayName: "Ada",
          roles: ["owner"],
          createdAt: "2026-03-02T09:00:00.000Z",
        },
        {
          userId: ids.grace,
          email: "grace@acme.example",
          displayName: "Grace",
          roles: ["operator"],
          createdAt: "2026-03-02T09:00:01.871Z",
        },
      ],
    },
  },
  GetMember: {
    answer: {
      userId: ids.grace,
      email: "grace@acme.example",
      displayName: "Grace",
      roles: ["operator"],
      createdAt: "2026-03-02T09:00:01.871Z",
      apiTokenCount: 0,
    },
  },
  UpdateMember: {
    request: { roles: ["release-manager"] },
    answer: {
      userId: ids.grace,
      email: "grace@acme.example",
      displayName: "Grace",
      roles: ["release-manager"],
      createdAt: "2026-03-02T09:00:01.871Z",
    },
  },
  CreatePasswordLink: {
    answer: {
      link: "https://stepwell.acme.example/set-password?link=NotARealSecretOnlyAnExample000000000000000",
      expiresAt: "2026-03-02T10:00:02.294Z",
    },
  },
  CreateRole: {
    request: {
      name: "release-manager",
      description: "Deploys workflows and watches their jobs.",
      permissions: ["workflow:version:create", "job:read"],
    },
    answer: {
      roleId: ids.role,
      name: "release-manager",
      description: "Deploys workflows and watches their jobs.",
      permissions: ["workflow:version:create", "job:read"],
      isBuiltIn: false,
      createdAt: "2026-03-02T09:00:01.810Z",
      updatedAt: "2026-03-02T09:00:01.810Z",
    },
  },
  ListRoles: {
    answer: {
      roles: [
        {
          roleId: ids.role,
          name: "release-manager",
          description: "Deploys workflows and watches their jobs.",
          permissions: ["workflow:version:create", "job:read"],
          isBuiltIn: false,
          createdAt: "2026-03-02T09:00:01.810Z",
          updatedAt: "2026-03-02T09:00:01.810Z",
        },
        {
          roleId: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b01",
          name: "viewer",
          description: "Looks at workflows, jobs, task queues, metrics, members and roles, and changes nothing.",
          permissions: [
            "organization:read",
            "workflow:read",
            "workflow:version:read",
            "job:read",
            "job:list",
            "task-queue:read",
            "metrics:read",
            "member:read",
            "role:read",
          ],
          isBuiltIn: true,
        },
      ],
    },
  },
  GetRole: {
    answer: {
      roleId: ids.role,
      name: "release-manager",
      description: "Deploys workflows and watches their jobs.",
      permissions: ["workflow:version:create", "job:read"],
      isBuiltIn: false,
      createdAt: "2026-03-02T09:00:01.810Z",
      updatedAt: "2026-03-02T09:00:01.810Z",
    },
  },
  UpdateRole: {
    request: { name: "release-lead" },
    answer: {
      roleId: ids.role,
      name: "release-lead",
      description: "Deploys workflows and watches their jobs.",
      permissions: ["workflow:version:create", "job:read"],
      isBuiltIn: false,
      createdAt: "2026-03-02T09:00:01.810Z",
      updatedAt: "2026-03-02T09:00:02.406Z",
    },
  },
  CreateInvitation: {
    request: { roles: ["operator"], email: "grace@acme.example" },
    answer: {
      invitationId: ids.invitation,
      roles: ["operator"],
      email: "grace@acme.example",
      createdBy: { type: "user", id: ids.ada },
      createdAt: "2026-03-02T09:00:01.834Z",
      expiresAt: "2026-03-09T09:00:01.834Z",
      link: "https://stepwell.acme.example/invitations/sti_0352ExampleNumber00000_NotARealSecretOnlyAnExample00000000000",
      code: "sti_0352ExampleNumber00000_NotARealSecretOnlyAnExample00000000000",
    },
  },
  ListInvitations: {
    answer: {
      invitations: [
        {
          invitationId: ids.invitation,
          roles: ["operator"],
          email: "grace@acme.example",
          createdBy: { type: "user", id: ids.ada },
          createdAt: "2026-03-02T09:00:01.834Z",
          expiresAt: "2026-03-09T09:00:01.834Z",
          status: "open",
        },
      ],
    },
  },
  GetInvitation: {
    answer: {
      invitationId: ids.invitation,
      roles: ["operator"],
      email: "grace@acme.example",
      createdBy: { type: "user", id: ids.ada },
      createdAt: "2026-03-02T09:00:01.834Z",
      expiresAt: "2026-03-09T09:00:01.834Z",
      status: "open",
    },
  },
  AcceptInvitation: {
    request: { invitation: "sti_0352ExampleNumber00000_NotARealSecretOnlyAnExample00000000000" },
    answer: { organizationId: ids.organization, roles: ["operator"] },
  },
};
