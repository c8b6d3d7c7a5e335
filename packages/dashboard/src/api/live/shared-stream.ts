import { baseUrl } from "../../base-url.ts";
import { session } from "../../session/session.ts";
import { type JobName, ManyJobsStream, type Positions, type StreamNews } from "./many-jobs-stream.ts";

/** A listener on this page that follows a job. */
export interface JobListener {
  readonly name: JobName;
  /** The sequence of the last entry that the page has. */
  readonly sequence: number;
  readonly hear: (news: StreamNews) => void;
}

/** A hidden page leaves the shared stream after this time, so that a short look into another tab changes nothing. */
const hiddenMs = 2_000;

/**
 * One stream for all pages that a browser has open. Over HTTP/1.1 a browser opens at most six connections to one host, so six pages with a stream
 * each would take them all. One page leads: it holds a lock, has the stream, and passes the messages on over a channel. When the leading page closes
 * or is hidden, another page gets the lock.
 */
class SharedStream {
  readonly #listeners = new Set<JobListener>();
  #sharing: Sharing | undefined;
  #hiding: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    session.subscribe(() => this.#look());
    document.addEventListener("visibilitychange", () => this.#look());
    // The browser may keep this page for the back button. Such a page must hold neither the lock nor the stream.
    window.addEventListener("pagehide", () => this.#leave());
    window.addEventListener("pageshow", () => this.#look());
  }

  /** Tells the listener about changes of its job until the returned function is called. */
  watch(listener: JobListener): () => void {
    this.#listeners.add(listener);
    this.#look();
    return () => {
      this.#listeners.delete(listener);
      this.#look();
    };
  }

  lookAgain(): void {
    this.#sharing?.lookAgain();
  }

  #look(): void {
    clearTimeout(this.#hiding);
    const { state } = session;
    if (state.status !== "signed-in" || this.#listeners.size === 0) {
      this.#leave();
      return;
    }
    if (document.visibilityState === "hidden") {
      this.#hiding = setTimeout(() => this.#leave(), hiddenMs);
      return;
    }
    // Another sign-in has another session, so it shares no stream with this one.
    const name = `stepwell ${baseUrl} ${state.user.sessionId}`;
    if (this.#sharing === undefined) this.#sharing = new Sharing(name, this.#positions, (news) => this.#hear(news));
    else this.#sharing.tellWhatIsWanted();
  }

  readonly #positions = (): Positions =>
    lowest([...this.#listeners].map(({ name, sequence }) => [name, sequence] as const));

  #leave(): void {
    this.#sharing?.leave();
    this.#sharing = undefined;
  }

  #hear(news: StreamNews): void {
    for (const listener of [...this.#listeners]) if (concerns(news, listener.name)) listener.hear(news);
  }
}

export const sharedStream = new SharedStream();

function concerns(news: StreamNews, name: JobName): boolean {
  if (news.type === "lost") return true;
  return news.type === "alive" ? news.names.includes(name) : news.name === name;
}

type Message =
  | { readonly type: "news"; readonly news: StreamNews }
  /** A page that has become the leader asks the other pages which jobs they need. */
  | { readonly type: "lead" }
  | { readonly type: "lookAgain" }
  | { readonly type: "want"; readonly page: string; readonly jobs: Positions };

/** One page's use of the shared stream. It begins when a visible page follows a job, and ends when the page leaves. */
class Sharing {
  readonly #page = crypto.randomUUID();
  readonly #name: string;
  readonly #hear: (news: StreamNews) => void;
  readonly #left = new AbortController();
  readonly #channel: BroadcastChannel | undefined;
  /** The stream, which exists here while this page leads. */
  #stream: ManyJobsStream | undefined;
  /** The jobs that each page wants, as far as this page knows. */
  readonly #wanted = new Map<string, Positions>();
  readonly #positions: () => Positions;

  constructor(name: string, positions: () => Positions, hear: (news: StreamNews) => void) {
    this.#name = name;
    this.#positions = positions;
    this.#hear = hear;
    // If the browser has no locks, or no channels, each page has its own stream.
    if (!("locks" in navigator) || !("BroadcastChannel" in window)) {
      this.#lead();
      return;
    }
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#receive(data);
    void this.#takePart();
  }

  tellWhatIsWanted(): void {
    const jobs = this.#positions();
    if (this.#stream === undefined) this.#post({ type: "want", page: this.#page, jobs });
    else this.#follow(this.#page, jobs);
  }

  lookAgain(): void {
    if (this.#stream === undefined) this.#post({ type: "lookAgain" });
    else this.#stream.lookAgain();
  }

  /** Leaves the sharing. The leading page notices it because the lock of this page is released. */
  leave(): void {
    this.#left.abort();
    this.#channel?.close();
  }

  async #takePart(): Promise<void> {
    await this.#hold(this.#lockOf(this.#page));
    this.tellWhatIsWanted();
    await this.#hold(this.#name);
    if (!this.#left.signal.aborted) this.#lead();
  }

  #lead(): void {
    this.#stream = new ManyJobsStream(this.#left.signal, (news) => {
      this.#post({ type: "news", news });
      this.#hear(news);
    });
    this.tellWhatIsWanted();
    this.#post({ type: "lead" });
  }

  #receive(message: Message): void {
    if (message.type === "news") this.#hear(message.news);
    else if (message.type === "lead") this.tellWhatIsWanted();
    else if (message.type === "lookAgain") this.#stream?.lookAgain();
    else if (this.#stream !== undefined) this.#follow(message.page, message.jobs);
  }

  #follow(page: string, jobs: Positions): void {
    if (page !== this.#page && !this.#wanted.has(page)) void this.#forgetWhenGone(page);
    this.#wanted.set(page, jobs);
    this.#stream?.follow(this.#all(), jobs);
  }

  async #forgetWhenGone(page: string): Promise<void> {
    const isGone = await navigator.locks
      .request(this.#lockOf(page), { signal: this.#left.signal }, () => true)
      .catch(() => false);
    if (!isGone) return;
    this.#wanted.delete(page);
    this.#stream?.follow(this.#all(), new Map());
  }

  #all(): Positions {
    return lowest([...this.#wanted.values()].flatMap((jobs) => [...jobs]));
  }

  /**
   * Returns when this page has got the lock, which it holds until it leaves. Also returns when the page has left, or when the browser does not give
   * it the lock.
   */
  async #hold(name: string): Promise<void> {
    const { signal } = this.#left;
    const { promise: held, resolve } = Promise.withResolvers<void>();
    const left = new Promise<void>((leave) => signal.addEventListener("abort", () => leave(), { once: true }));
    const keep = () => {
      resolve();
      return left;
    };
    navigator.locks.request(name, { signal }, keep).catch(resolve);
    await held;
  }

  #lockOf(page: string): string {
    return `${this.#name} ${page}`;
  }

  #post(message: Message): void {
    if (!this.#left.signal.aborted) this.#channel?.postMessage(message);
  }
}

/** Returns the lowest of each job's positions, so that no page or listener misses an entry. */
function lowest(positions: readonly (readonly [JobName, number])[]): Positions {
  const found = new Map<JobName, number>();
  for (const [name, sequence] of positions) found.set(name, Math.min(sequence, found.get(name) ?? sequence));
  return found;
}
