/**
 * Remembers loaded values for a moment, so that a busy caller costs one look-up per moment and not one per request. While a value is fresh, reading
 * it is synchronous. Look-ups of the same key at the same time are made once. `get` uses a remembered value for at most `maxAgeMs`, counted from the
 * start of its look-up.
 */
export class BriefCache<Value> {
  readonly #maxAgeMs: number;
  readonly #maxSize: number;
  readonly #monotonicMs: () => number;
  readonly #entries = new Map<string, { readonly value: Value; readonly freshUntil: number }>();
  readonly #loading = new Map<string, { readonly value: Promise<Value>; readonly freshUntil: number }>();

  constructor(maxAgeMs: number, maxSize: number, monotonicMs: () => number = () => performance.now()) {
    this.#maxAgeMs = maxAgeMs;
    this.#maxSize = maxSize;
    this.#monotonicMs = monotonicMs;
  }

  get(key: string, load: () => Promise<Value>): Value | Promise<Value> {
    const now = this.#monotonicMs();
    const entry = this.#entries.get(key);
    if (entry !== undefined && entry.freshUntil > now) return entry.value;
    const loading = this.#loading.get(key);
    // A slow look-up may have read its value long ago, so only a look-up that began recently is shared.
    if (loading !== undefined && loading.freshUntil > now) return loading.value;
    return this.#load(key, load, now + this.#maxAgeMs);
  }

  /** Returns the value that was loaded last, however old it is; undefined when none is remembered. */
  lastKnown(key: string): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /** Forgets a value. The result of a look-up under way is not remembered either. */
  forget(key: string): void {
    this.#entries.delete(key);
    this.#loading.delete(key);
  }

  /**
   * Forgets the values that a change concerns, and keeps the others. The results of look-ups under way are not remembered, since they may have read
   * the state before the change.
   */
  forgetWhere(isConcerned: (value: Value, key: string) => boolean): void {
    for (const [key, { value }] of this.#entries) if (isConcerned(value, key)) this.#entries.delete(key);
    this.#loading.clear();
  }

  #load(key: string, load: () => Promise<Value>, freshUntil: number): Promise<Value> {
    const value = load().then(
      (loaded) => {
        if (this.#loading.get(key) === loading) this.#remember(key, loaded, freshUntil);
        return loaded;
      },
      (error: unknown) => {
        if (this.#loading.get(key) === loading) this.#loading.delete(key);
        throw error;
      },
    );
    const loading = { value, freshUntil };
    this.#loading.set(key, loading);
    return value;
  }

  #remember(key: string, value: Value, freshUntil: number): void {
    this.#loading.delete(key);
    // A Map keeps the order of insertion. A key that is deleted and set again moves to the end, so that the first key has the oldest value.
    this.#entries.delete(key);
    this.#entries.set(key, { value, freshUntil });
    if (this.#entries.size <= this.#maxSize) return;
    const [stalest] = this.#entries.keys();
    if (stalest !== undefined) this.#entries.delete(stalest);
  }
}
