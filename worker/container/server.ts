import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { NATIVE_PROTOCOL, type NativeHealth, type NativeJob } from "../../src/encoders/native/native-wire.ts";
import { type ErrorKind, MediaError, toMediaError } from "../../src/media/errors.ts";
import { engineFeatures } from "../../src/media/features.ts";
import { MIB } from "../../src/util/bytes.ts";
import { createBatches } from "./batches.ts";
import * as errors from "./errors.ts";
import { createScratch } from "./files.ts";
import { startInputProxy } from "./input.ts";
import { findInstalled } from "./installed.ts";
import { createJobs, createMemory, type Jobs } from "./jobs.ts";
import { parseJob, READ_PROTOCOLS } from "./parse-job.ts";
import { createPictures, type Pictures, startPictureServer } from "./pictures.ts";
import { type JobHooks, runJob } from "./run-job.ts";
import type { Settings } from "./settings.ts";

/** A running native encoder. */
export interface NativeServer {
  /** URL that it listens at, such as `http://127.0.0.1:8080`. */
  url: string;
  /** Rejects new jobs, gives running ones their grace period, hands back the rest, and ends. */
  finish(): Promise<void>;
  /** Ends at once, without leaving processes or files. */
  end(): Promise<void>;
}

// If the server closed an idle connection first, it would lose a request in flight; clients close theirs within seconds.
const KEEP_ALIVE_MS = 75_000;

/** Starts the native encoder. Rejects with a MediaError when ffmpeg or one of its encoders is missing, and with the system's error when it cannot listen. */
export async function startServer(settings: Settings): Promise<NativeServer> {
  const { ffmpeg_user } = settings;
  const installed = await findInstalled(settings, ffmpeg_user);
  if (ffmpeg_user !== null) process.umask(0o007);
  const shared = ffmpeg_user !== null;
  const [scratch, proxy, pictureServer] = await Promise.all([
    createScratch(settings.tmpdir, shared),
    startInputProxy(),
    startPictureServer(),
  ]);
  const context = { scratch, proxy, installed, settings };
  const { slots, lease_seconds, token, origins } = settings;
  const memory = createMemory(settings.max_memory_bytes);
  const run = (job: NativeJob, hooks: JobHooks) => runJob(job, context, hooks);
  const jobs = createJobs({ slots, lease_seconds, memory, batches: createBatches(scratch, slots), run });
  const pictures = createPictures(jobs, pictureServer, memory);
  const app = createApp({
    jobs,
    pictures,
    token,
    origins,
    ffmpeg: installed.version,
    features: engineFeatures("native", installed.lacks),
    // The server also runs one image or sound beside its slots.
    slots: slots + 1,
  });
  const server = createAdaptorServer({ fetch: app.fetch });
  if ("keepAliveTimeout" in server) server.keepAliveTimeout = KEEP_ALIVE_MS;
  const end = async () => {
    await jobs.end();
    server.close();
    if ("closeAllConnections" in server) server.closeAllConnections();
    await proxy.close();
    pictureServer.close();
    await scratch.end();
  };
  try {
    server.listen(settings.port, settings.host);
    await once(server, "listening");
  } catch (thrown) {
    await end();
    throw thrown;
  }
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${port}`,
    async finish() {
      await jobs.finish(settings.grace_seconds * 1000);
      await end();
    },
    end,
  };
}

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
function createApp({ jobs, pictures, token, origins, ffmpeg, features, slots }: AppOptions): Hono {
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
