// The functions that run in the Lambda server of the tests. Each handler behaves in one way that a test describes.

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

/** Runs longer than its time limit. */
export const runsOut = () => lasts({ milliseconds: 500 });

export async function answersLarge({ bytes }) {
  return { text: "x".repeat(bytes) };
}

/** Returns broken JSON, because serverless-offline puts a string between quotes without escaping it. */
export async function answersBrokenJson() {
  return 'he said "no"';
}
