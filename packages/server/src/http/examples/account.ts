import type { Example } from "./example.ts";
import { ids } from "./story.ts";

export const accountExamples: Readonly<Record<string, Example>> = {
  WhoAmI: {
    answer: {
      type: "user",
      id: ids.ada,
      name: "Ada",
      email: "ada@acme.example",
      tokenPrefix: "stu_0352ExampleNumber00000_NotA",
    },
  },
  GetAccount: {
    answer: {
      userId: ids.ada,
      email: "ada@acme.example",
      displayName: "Ada",
      hasPassword: true,
      recoveryCodesLeft: 0,
      createdAt: "2026-03-02T08:59:58.915Z",
    },
  },
  GetAccountLimits: {
    answer: {
      limits: [
        { name: "organizations", maximum: 10, isOwn: false, usedCount: 1 },
        { name: "userTokens", maximum: 50, isOwn: false, usedCount: 1 },
      ],
    },
  },
  UpdateAccount: {
    request: { displayName: "Ada" },
    answer: {
      userId: ids.ada,
      email: "ada@acme.example",
      displayName: "Ada",
      hasPassword: true,
      recoveryCodesLeft: 0,
      createdAt: "2026-03-02T08:59:58.915Z",
    },
  },
  ListAccountActivity: {
    answer: {
      activities: [
        {
          activityId: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b07",
          happenedAt: "2026-03-02T09:00:04.188Z",
          action: "password-changed",
          address: "192.0.2.10",
          details: {},
        },
        {
          activityId: "019ca8b2-5c00-7a10-8f3e-2b6d4c9e1b08",
          happenedAt: "2026-03-02T09:00:04.021Z",
          action: "second-factor-disabled",
          address: "192.0.2.10",
          details: {},
        },
      ],
    },
  },
  CreateUserToken: {
    request: { name: "laptop", password: "correct horse battery staple" },
    answer: {
      userTokenId: ids.userToken,
      name: "laptop",
      tokenPrefix: "stu_0352ExampleNumber00000_NotA",
      createdAt: "2026-03-02T09:00:02.935Z",
      expiresAt: "2026-05-31T09:00:02.935Z",
      token: "stu_0352ExampleNumber00000_NotARealSecretOnlyAnExample00000000000",
    },
  },
  ListUserTokens: {
    answer: {
      userTokens: [
        {
          userTokenId: ids.userToken,
          name: "laptop",
          tokenPrefix: "stu_0352ExampleNumber00000_NotA",
          createdAt: "2026-03-02T09:00:02.935Z",
          expiresAt: "2026-05-31T09:00:02.935Z",
        },
      ],
    },
  },
  ChangePassword: {
    request: { currentPassword: "correct horse battery staple", newPassword: "four words are a password" },
  },
  StartSecondFactor: {
    request: { password: "correct horse battery staple" },
    answer: {
      secret: "JBSWY3DPEHPK3PXP",
      uri: "otpauth://totp/Stepwell:ada%40acme.example?issuer=Stepwell&secret=JBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30",
    },
  },
  ConfirmSecondFactor: {
    request: { code: "492039" },
    answer: {
      recoveryCodes: [
        "gb6a-esir-92bc-twmp",
        "6ruk-teze-w3eg-zdjh",
        "njne-adu2-g6hp-qmha",
        "9qyv-cz6n-r9up-298r",
        "6rcn-amfa-j2qr-sah9",
        "xde5-gaq7-97c3-97ae",
        "u5z3-hids-4wwi-a8ww",
        "2dc5-wsrp-ey4p-kjki",
        "h94n-k5eu-ssbu-s7m4",
        "vpbq-cmuu-2gcb-726n",
      ],
    },
  },
  RenewRecoveryCodes: {
    request: { password: "correct horse battery staple", code: "287082" },
    answer: {
      recoveryCodes: [
        "duea-wcqs-cszm-vxh9",
        "zed9-fw95-d76r-5h44",
        "cmym-gpqm-y4y3-e7e7",
        "bfzp-ue6p-ntsz-yri4",
        "fa6c-knbd-sjsj-pn28",
        "br3b-76ph-hxen-6j3b",
        "nj35-vmjv-f7we-9ex2",
        "ht9r-3sgt-ysur-wb4g",
        "hj4u-nfth-vm68-3pp6",
        "bp9d-i4ss-utue-52ci",
      ],
    },
  },
  DisableSecondFactor: { request: { password: "correct horse battery staple", code: "081804" } },
  ListSessions: {
    answer: {
      sessions: [
        {
          sessionId: ids.session,
          isCurrent: false,
          signedInBy: "password",
          userAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
          address: "192.0.2.10",
          createdAt: "2026-03-02T09:00:04.198Z",
          lastSeenAt: "2026-03-02T09:00:04.198Z",
          expiresAt: "2026-03-16T09:00:04.198Z",
        },
      ],
    },
  },
};
