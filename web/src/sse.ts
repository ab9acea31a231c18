// Server-sent events read from a fetch, since EventSource cannot send a token.

export interface ServerEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

export class EventParser {
  private rest = "";
  private lastId = "";
  private event = "";
  private data: string[] = [];

  // The events that this piece of the stream completes.
  push(piece: string): ServerEvent[] {
    const lines = (this.rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.line(line) ?? []);
  }

  private line(line: string): ServerEvent | null {
    if (line === "") return this.finish();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.event = value;
    else if (field === "data") this.data.push(value);
    else if (field === "id") this.lastId = value;
    return null;
  }

  private finish(): ServerEvent | null {
    const found = this.data.length ? { id: this.lastId, event: this.event || "message", data: this.data.join("\n") } : null;
    this.event = "";
    this.data = [];
    return found;
  }
}

export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const parser = new EventParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
