export interface StreamedEvent<Data> {
  readonly id: string;
  readonly type: string;
  readonly data: Data;
}

/** Yields the events of a stream that have an id, a type and one line of data, as the service sends them. Leaving the loop closes the stream. */
export async function* eventsOf<Data>(response: Response): AsyncGenerator<StreamedEvent<Data>> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      const match = /^id: (.+)\nevent: (.+)\ndata: (.+)$/.exec(text.slice(0, end));
      text = text.slice(end + 2);
      if (match !== null) yield { id: match[1] ?? "", type: match[2] ?? "", data: JSON.parse(match[3] ?? "") };
    }
  }
}
