// What runs in the Lambda server of the tests. One handler per fact that a test states.

/** Answers what it was called with. */
export async function echo(event, context) {
  return { event, clientContext: context.clientContext };
}

export async function nothing() {}

export function throws() {
  throw new Error("out of stock");
}

export async function rejects() {
  throw new PaymentError("the card was declined");
}

class PaymentError extends Error {}

export async function lasts({ milliseconds }) {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  return "done";
}

/** Is given less time than it takes. */
export const runsOut = () => lasts({ milliseconds: 500 });

export async function answersLarge({ bytes }) {
  return { text: "x".repeat(bytes) };
}

/** serverless-offline puts a string between quotes without escaping it. */
export async function answersBrokenJson() {
  return 'he said "no"';
}
