const order = {
  orderId: { type: "string", title: "Order", minLength: 1 },
  sku: { type: "string", title: "Article" },
  count: { type: "integer", title: "Pieces", minimum: 1 },
  amount: { type: "number", title: "Amount in euros", minimum: 0 },
  express: { type: "boolean", title: "Express delivery" },
};
const reservation = { ...order, reservationId: { type: "string" }, warehouse: { type: "string" } };
/** The schemas of the workflows' data, by their names in the definitions. */
export const schemas = {
  any: { type: "object" },
  order: closed(order, ["orderId", "sku", "count", "amount"]),
  reservation: closed(reservation, ["orderId", "amount", "reservationId"]),
  payment: closed({ ...reservation, paymentId: { type: "string" }, capturedAmount: { type: "number" } }, ["paymentId"]),
  claim: closed(
    {
      orderId: { type: "string", title: "Order" },
      amount: { type: "number", title: "Amount in euros", minimum: 0 },
      reason: { type: "string", title: "Reason", enum: ["damaged", "late", "wrong article"] },
    },
    ["orderId", "amount", "reason"],
  ),
};

function closed(properties: object, required: readonly string[]): object {
  return { type: "object", properties, required, additionalProperties: false };
}
