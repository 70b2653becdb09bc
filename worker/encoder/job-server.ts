import { LIGHT_INPUT } from "../../src/encoders/light/light-estimate.ts";
import { type LightHost, runLightJob } from "../../src/encoders/light/light-job.ts";
import {
  answerParts,
  errorMessage,
  type LightMessage,
  messageHead,
  readLightRequest,
  readPages,
} from "../../src/encoders/light/light-wire.ts";
import { FRAME_MIME, type FrameReader, readFrames } from "../../src/encoders/wire-frame.ts";
import { type MediaError, toMediaError } from "../../src/media/errors.ts";
import { sleep, within } from "../../src/util/async.ts";
import { errors } from "./errors.ts";

// Milliseconds that a caller may take to send its bytes, or to take those of the answer, while others wait.
const TRANSFER = 60_000;

/** Answers a job with a stream of frames: waits for its turn, runs it, and reports the outcome. */
export async function serveJob(given: Request, turns: Turns, host: LightHost): Promise<Response> {
  const { body } = given;
  if (!body || given.headers.get("Content-Type") !== FRAME_MIME) {
    return answer(messageHead(errorMessage(errors.typeInvalid({ mime: FRAME_MIME }))), 400);
  }
  const frames = readFrames(body);
  // Begun before the response: the runtime discards a body that is still untouched by then.
  const request = readLightRequest(frames, LIGHT_INPUT.most);
  let place: Place;
  try {
    place = turns.enter();
  } catch (thrown) {
    await drain(request, frames);
    return answer(messageHead(errorMessage(toMediaError(thrown))), 503, { "Retry-After": "1" });
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const tell = (message: LightMessage) => writer.write(messageHead(message));
  const work = async (): Promise<Uint8Array[]> => {
    try {
      const { job, ranges } = await inTime(request, errors.jobLate);
      await place.turn(() => tell({ state: "waiting", ahead: place.ahead }));
      await tell({ state: "running" });
      const pages = await inTime(readPages(frames, ranges), errors.inputLate);
      return answerParts(await runLightJob(job, pages, host));
    } catch (thrown) {
      const error = toMediaError(thrown);
      if (error.retryable) logFault(error);
      return [messageHead(errorMessage(error))];
    }
  };
  const serve = async () => {
    try {
      const parts = await work();
      await drain(request, frames);
      await inTime(write(writer, parts), errors.answerLate);
      await writer.close();
    } finally {
      place.leave();
    }
  };
  // The caller may be gone.
  serve().catch(() => {});
  return answer(readable, 200);
}

// An answer that ends before the request does would break the connection.
async function drain(request: Promise<unknown>, frames: FrameReader): Promise<void> {
  await request.catch(() => {});
  await inTime(frames.drain(), errors.requestLate).catch(() => {});
}

async function write(writer: WritableStreamDefaultWriter<Uint8Array>, parts: readonly Uint8Array[]) {
  for (const part of parts) await writer.write(part);
}

function inTime<T>(work: Promise<T>, late: () => MediaError): Promise<T> {
  return within(work, TRANSFER, () => {
    throw late();
  });
}

function answer(body: BodyInit, status: number, headers: Record<string, string> = {}): Response {
  return new Response(body, { status, headers: { ...headers, "Content-Type": FRAME_MIME } });
}

function logFault({ kind, stack, cause }: MediaError): void {
  const why = cause instanceof Error ? cause.stack : cause && String(cause);
  console.error(JSON.stringify({ level: "error", message: "job failed", kind, error: stack, cause: why }));
}

/** A place in the line; the first in it works. */
interface Place {
  /** How many are before it. */
  readonly ahead: number;
  /** Ends when it is the first. Calls `onWait` about once a second until then. */
  turn(onWait: () => Promise<void>): Promise<void>;
  /** Releases the place. */
  leave(): void;
}

/** A line of jobs of which one works at a time, in the order in which they came. */
interface Turns {
  /** Takes a place at the end; throws `service_unavailable` when too many wait. */
  enter(): Place;
}

const BEAT = 25;
const BEATS_A_SECOND = 1000 / BEAT;

interface Entry {
  beats: number;
}

/** Creates a line in which up to `waiting` jobs wait. */
export function createTurns(waiting: number): Turns {
  const line: Entry[] = [];

  function remove(entry: Entry): void {
    const index = line.indexOf(entry);
    if (index >= 0) line.splice(index, 1);
  }

  return {
    enter() {
      if (line.length > waiting) {
        throw errors.queueFull();
      }
      const own: Entry = { beats: 0 };
      line.push(own);
      // When a caller goes away the runtime stops all that was done for it, without a word. A job that is gone is
      // known by its heart: it no longer beats while others do. Beats are counted, as the clock stands still while
      // another job has the processor.
      const heart = setInterval(() => own.beats++, BEAT);
      return {
        get ahead() {
          return Math.max(0, line.indexOf(own));
        },
        async turn(onWait) {
          let watched: Entry | undefined;
          let beats = 0;
          let silent = 0;
          for (let count = 0; line[0] !== own; count++) {
            if (!line.includes(own)) throw errors.placeLost();
            if (count % BEATS_A_SECOND === 0) await onWait();
            await sleep(BEAT);
            const first = line[0];
            const alive = first !== watched || first?.beats !== beats;
            silent = alive ? 0 : silent + 1;
            watched = first;
            beats = first?.beats ?? 0;
            if (first && silent > BEATS_A_SECOND) remove(first);
          }
        },
        leave() {
          clearInterval(heart);
          remove(own);
        },
      };
    },
  };
}
