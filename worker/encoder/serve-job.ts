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
import { within } from "../../src/util/async.ts";
import { errors } from "./errors.ts";
import type { Place, Turns } from "./turns.ts";

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
