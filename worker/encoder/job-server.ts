import * as errors from "../../src/encoders/errors.ts";
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

const TRANSFER_MS = 60_000;

/** Responds to a job with a stream of frames: waits for a slot, runs the job, and reports the outcome. */
export async function serveJob(httpRequest: Request, queue: JobQueue, host: LightHost): Promise<Response> {
  const { body } = httpRequest;
  if (!body || httpRequest.headers.get("Content-Type") !== FRAME_MIME) {
    return answer(messageHead(errorMessage(errors.jobTypeInvalid({ mime: FRAME_MIME }))), 400);
  }
  const frames = readFrames(body);
  // Begins before the response, because the runtime then discards an unread body.
  const request = readLightRequest(frames, LIGHT_INPUT.max);
  let place: Place;
  try {
    place = queue.enter();
  } catch (thrown) {
    await drain(request, frames);
    return answer(messageHead(errorMessage(toMediaError(thrown))), 503, { "Retry-After": "1" });
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const tell = (message: LightMessage) => writer.write(messageHead(message));
  const work = async (): Promise<Uint8Array[]> => {
    try {
      const { job, ranges } = await inTime(request, errors.lightJobLate);
      await place.turn(() => tell({ state: "waiting", ahead: place.ahead }));
      await tell({ state: "running" });
      const pages = await inTime(readPages(frames, ranges), errors.lightInputLate);
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
      await inTime(write(writer, parts), errors.lightAnswerLate);
      await writer.close();
    } finally {
      place.leave();
    }
  };
  serve().catch(() => {});
  return answer(readable, 200);
}

// A response that ends before the request would break the connection.
async function drain(request: Promise<unknown>, frames: FrameReader): Promise<void> {
  await request.catch(() => {});
  await inTime(frames.drain(), errors.lightRequestLate).catch(() => {});
}

async function write(writer: WritableStreamDefaultWriter<Uint8Array>, parts: readonly Uint8Array[]) {
  for (const part of parts) await writer.write(part);
}

function inTime<T>(work: Promise<T>, late: () => MediaError): Promise<T> {
  return within(work, TRANSFER_MS, () => {
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

/** The position of a job in the queue; the first one runs. */
interface Place {
  /** Number of jobs ahead of it. */
  readonly ahead: number;
  /** Resolves when it is the first, and calls `onWait` about once a second until then. */
  turn(onWait: () => Promise<void>): Promise<void>;
  /** Leaves the queue. */
  leave(): void;
}

/** A queue of jobs that run one at a time, in the order of their arrival. */
interface JobQueue {
  /** Adds a job at the end; throws `service_unavailable` when too many wait. */
  enter(): Place;
}

const BEAT = 25;
const BEATS_A_SECOND = 1000 / BEAT;

interface Entry {
  beats: number;
}

/** Creates a queue in which up to `waiting` jobs wait. */
export function createJobQueue(waiting: number): JobQueue {
  const line: Entry[] = [];

  function remove(entry: Entry): void {
    const index = line.indexOf(entry);
    if (index >= 0) line.splice(index, 1);
  }

  return {
    enter() {
      if (line.length > waiting) {
        throw errors.lightQueueFull();
      }
      const own: Entry = { beats: 0 };
      line.push(own);
      // The runtime silently stops a disconnected caller's job. Beats replace time, because the clock stands still while a job computes.
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
            if (!line.includes(own)) throw errors.lightPlaceLost();
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
