/**
 * The effect of a request that is repeated under the same id of its call. An operation with `IdempotencyHeaders` gives the first answer again
 * (`transactOnce`, `commitOnce`); every other POST must declare one of these, or the service does not start.
 * - `replayed`: it gives the first answer again, but takes no Idempotency-Key: a hash of its body beside a known key would let passwords be guessed.
 * - `renewed`: its answer shows a secret, which is not stored. A repetition revokes what the first attempt made and answers a new secret
 *   (`transactAnew`).
 * - `without-effect`: it changes nothing.
 * - `not-found`: the first attempt removed the thing.
 */
export type Repetition = "replayed" | "renewed" | "without-effect" | "not-found";
