import { within } from "../util/async.ts";
import * as errors from "./errors.ts";

export interface SentEvent {
  /** Event type; `message` when the server names none. */
  event: string;
  /** The latest id, sent with this event or an earlier one; empty when there is none. */
  id: string;
  data: string;
}

/**
 * Parses server-sent events from a body, as browsers do (https://html.spec.whatwg.org/multipage/server-sent-events.html);
 * rejects as the body does, and after `silent_ms` without a byte.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  silent_ms?: number,
): AsyncGenerator<SentEvent, void> {
  let id = "";
  let event = "";
  let data: string[] = [];
  for await (const line of readLines(body, silent_ms)) {
    if (line === "") {
      if (data.length > 0) yield { event: event || "message", id, data: data.join("\n") };
      event = "";
      data = [];
      continue;
    }
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === "data") data.push(value);
    else if (name === "event") event = value;
    else if (name === "id" && !value.includes("\0")) id = value;
  }
}

async function* readLines(
  body: ReadableStream<Uint8Array>,
  silent_ms?: number,
): AsyncGenerator<string, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const next = () =>
    silent_ms === undefined ? reader.read() : within(reader.read(), silent_ms, () => fallSilent(silent_ms));
  let text = "";
  try {
    for (;;) {
      const { done, value } = await next();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      // A \r at the end may be the first half of a \r\n.
      const lines = text.split(/\r\n|\n|\r(?!$)/);
      text = lines.pop() ?? "";
      yield* lines;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function fallSilent(ms: number): never {
  throw errors.eventsSilent({ milliseconds: ms });
}
