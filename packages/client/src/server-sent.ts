/** One event of a stream. */
export interface ServerSentEvent {
  /** The `id` of the newest event that had one. */
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

/**
 * Reads server-sent events from text that arrives in pieces, which may end anywhere. (EventSource cannot send an Authorization header, and Node.js
 * has no EventSource.)
 */
export class ServerSentReader {
  #rest = "";
  #id = "";
  #type = "";
  #data: string[] = [];

  /** Returns the events that have arrived completely. */
  read(piece: string): ServerSentEvent[] {
    const lines = (this.#rest + piece).split("\n");
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#readLine(line.endsWith("\r") ? line.slice(0, -1) : line) ?? []);
  }

  #readLine(line: string): ServerSentEvent | undefined {
    if (line === "") return this.#endEvent();
    const [, field, value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#type = value;
    else if (field === "id") this.#id = value;
    return undefined;
  }

  #endEvent(): ServerSentEvent | undefined {
    const event = { id: this.#id, type: this.#type, data: this.#data.join("\n") };
    const isEvent = this.#data.length > 0;
    this.#type = "";
    this.#data = [];
    return isEvent ? event : undefined;
  }
}
