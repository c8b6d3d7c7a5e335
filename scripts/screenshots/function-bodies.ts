import type { FunctionBody } from "./functions.ts";

/**
 * The bodies of the functions that the workflows of the pictures call. Most succeed, each after a time of its own. Some fail, as real functions do.
 */
export const functionBodies: Readonly<Record<string, FunctionBody>> = {
  "reserve-stock": (order) => ({
    tookMs: 340,
    output: { ...order, reservationId: `res-${String(order.orderId).slice(2)}`, warehouse: "Rotterdam 2" },
  }),
  "charge-card": (order, attempt) =>
    order.amount === 999
      ? failing("CardDeclined", "The issuer declined the card: insufficient funds.")
      : attempt === 1 && Number(order.amount) % 11 === 0
        ? failing("GatewayTimeout", "The payment gateway did not answer within 5 s.", 5_000)
        : {
            tookMs: 1_280,
            output: { ...order, paymentId: `pay-${String(order.orderId).slice(2)}`, capturedAmount: order.amount },
          },
  "release-stock": (order) => ({ tookMs: 210, output: order }),
  "call-courier": (order) => ({ tookMs: 400, output: order }),
  "send-mail": (order) => ({ tookMs: 150, output: order }),
  "collect-sales": (input) => ({ tookMs: 42_000, output: { ...input, orders: 1_204, revenue: 88_310.4 } }),
  "render-report": (input) =>
    input.region === "nordics"
      ? failing("TypeError", "Cannot read properties of undefined (reading 'currency')", 3_100)
      : { tookMs: 17_500, output: { ...input, document: `s3://reports/${input.region}/${input.date}.pdf` } },
  // The call for `benelux` gets no answer, so it stays under way.
  "publish-report": (input) => (input.region === "benelux" ? undefined : { tookMs: 2_400, output: input }),
  "post-entries": () => failing("LedgerClosed", "The ledger is closed for month-end until 18:00 UTC.", 900),
  "pay-back": (claim) => ({ tookMs: 890, output: { ...claim, paidBack: true } }),
};

function failing(errorType: string, errorMessage: string, tookMs = 620) {
  return { tookMs, error: { errorType, errorMessage } };
}
