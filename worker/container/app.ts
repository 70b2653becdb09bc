import { createHash, timingSafeEqual } from "node:crypto";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { NATIVE_PROTOCOL, type NativeHealth } from "../../src/encoders/native/native-wire.ts";
import { type ErrorKind, MediaError, toMediaError } from "../../src/media/errors.ts";
import { MIB } from "../../src/util/bytes.ts";
import * as errors from "./errors.ts";
import type { Jobs } from "./jobs.ts";
import { parseJob, READ_PROTOCOLS } from "./parse-job.ts";
import type { Pictures } from "./pictures.ts";

/** Options of {@link createApp}. */
export interface AppOptions {
  jobs: Jobs;
  pictures: Pictures;
  /** Bearer token of requests; null for none. */
  token: string | null;
  /** Origins that jobs may read from and write to; null for any. */
  origins: readonly string[] | null;
  /** Version of ffmpeg. */
  ffmpeg: string;
  /** Names of the features that it supports. */
  features: readonly string[];
  /** Jobs that may run at once. */
  slots: number;
}

/** Limit of a job in bytes; a plan of thousands of chunks is far smaller. */
export const MAX_JOB_BYTES = MIB;
/** The longest wait of a request for a change, in seconds. */
export const MAX_WAIT_SECONDS = 60;

const STATUS = {
  request_invalid: 400,
  token_missing: 401,
  token_invalid: 401,
  route_not_found: 404,
  payload_too_large: 413,
  service_unavailable: 503,
} as const satisfies Partial<Record<ErrorKind, number>>;

/** Creates the routes of the protocol in `src/encoders/native/native-wire.ts`. The body of an error is `{ kind, message, param? }`. */
export function createApp({ jobs, pictures, token, origins, ffmpeg, features, slots }: AppOptions): Hono {
  const app = new Hono();
  app.onError(answerError);
  app.notFound((c) => answerError(errors.routeNotFound(), c));

  app.get("/health", (c) => {
    return c.json({
      protocol: NATIVE_PROTOCOL,
      reads: READ_PROTOCOLS,
      features,
      ffmpeg,
      places: slots,
      running: jobs.running(),
      ending: jobs.ending(),
    } satisfies NativeHealth);
  });

  for (const path of ["/jobs/*", "/pictures"]) {
    app.use(path, async (c, next) => {
      if (token !== null) checkToken(c.req.header("Authorization"), token);
      await next();
    });
  }

  const onError = () => {
    throw errors.largeJob({ max_bytes: MAX_JOB_BYTES });
  };
  app.post("/jobs", bodyLimit({ maxSize: MAX_JOB_BYTES, onError }), async (c) => {
    const waitMs = parseWait(c.req.query("wait"));
    const started = await jobs.start(parseJob(await readJson(c), origins), waitMs, c.req.raw.signal);
    if (started) return c.json(started.state, started.fresh ? 202 : 200);
    throw noSlot();
  });

  app.get("/jobs/:id", async (c) => {
    const waitMs = parseWait(c.req.query("wait"));
    const state = await jobs.poll(c.req.param("id"), waitMs, c.req.raw.signal);
    if (!state) throw errors.jobNotFound();
    return c.json(state);
  });

  app.delete("/jobs/:id", async (c) => {
    await jobs.remove(c.req.param("id"));
    return c.body(null, 204);
  });

  app.post("/pictures", async (c) => {
    const { body, signal } = c.req.raw;
    const waitMs = jobs.ending() ? 0 : parseWait(c.req.query("wait"));
    if (!body) throw errors.noPictureBody();
    const picture = await pictures.encode(body, waitMs, signal).catch((thrown: unknown) => {
      if (!(thrown instanceof MediaError) || Object.hasOwn(STATUS, thrown.kind)) throw thrown;
      return thrown;
    });
    if (!picture) throw noSlot();
    if (picture instanceof MediaError) {
      return c.json({ kind: picture.kind, message: picture.message }, 422);
    }
    return c.body(picture, 200, { "Content-Type": "application/octet-stream" });
  });

  const noSlot = () => (jobs.ending() ? errors.ending() : errors.noSlot());
  return app;
}

function parseWait(wait = "0"): number {
  if (/^\d+(\.\d+)?$/.test(wait)) return Math.min(Number(wait), MAX_WAIT_SECONDS) * 1000;
  throw errors.waitMalformed();
}

async function readJson(c: Context): Promise<unknown> {
  try {
    return await c.req.json();
  } catch (thrown) {
    if (thrown instanceof MediaError) throw thrown;
    throw errors.notJson();
  }
}

function checkToken(header: string | undefined, token: string): void {
  if (header === undefined) {
    throw errors.tokenMissing();
  }
  const bearer = /^Bearer +([\x21-\x7e]{1,512})$/i.exec(header)?.[1] ?? "";
  const digest = (text: string) => createHash("sha256").update(text).digest();
  if (timingSafeEqual(digest(bearer), digest(token))) return;
  throw errors.tokenInvalid();
}

function answerError(thrown: unknown, c: Context): Response {
  const { kind, message, param } = toMediaError(thrown);
  const status = Object.hasOwn(STATUS, kind) ? STATUS[kind as keyof typeof STATUS] : 500;
  if (status === 500) {
    const error = thrown instanceof Error ? thrown.stack : String(thrown);
    console.error(JSON.stringify({ level: "error", message: "fault", error }));
  }
  if (status === 401) c.header("WWW-Authenticate", 'Bearer realm="framewright"');
  if (status === 503) c.header("Retry-After", "1");
  // Node closes a connection whose request it has not fully read; the client's next request on it would be lost.
  else if (c.req.method === "POST") c.header("Connection", "close");
  return c.json({ kind, message, ...(param !== undefined && { param }) }, status);
}
