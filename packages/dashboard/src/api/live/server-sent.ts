/** One event of a stream, with the fields that the page uses. */
export interface ServerSentEvent {
  readonly type: string;
  readonly data: string;
}

/**
 * Reads server-sent events from text that arrives in pieces, which may end anywhere. The browser's own EventSource cannot send an Authorization
 * header.
 */
export class ServerSentReader {
  #rest = "";
  #type = "";
  #data: string[] = [];

  /** Returns the events that have arrived completely. */
  read(piece: string): ServerSentEvent[] {
    const lines = (this.#rest + piece).split("\n");
    this.#rest = lines.pop() ?? "";
    const events: ServerSentEvent[] = [];
    for (const line of lines) {
      const event = this.#readLine(line.endsWith("\r") ? line.slice(0, -1) : line);
      if (event !== undefined) events.push(event);
    }
    return events;
  }

  #readLine(line: string): ServerSentEvent | undefined {
    if (line === "") {
      const event = { type: this.#type, data: this.#data.join("\n") };
      const isEvent = this.#data.length > 0;
      this.#type = "";
      this.#data = [];
      return isEvent ? event : undefined;
    }
    const [, field, value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === "data") this.#data.push(value);
    else if (field === "event") this.#type = value;
    return undefined;
  }
}
