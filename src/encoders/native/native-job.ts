import { z } from "zod";
import { ErrorReason } from "../../media/error-reason.ts";
import { ERROR_KINDS, MediaError } from "../../media/errors.ts";
import { engineFeatures, type FeatureName, neededFeatures } from "../../media/features.ts";
import { NATIVE_TOOLS, type Toolset } from "../../media/ffmpeg/toolset.ts";
import { type Plan, plannedOf } from "../../media/plan.ts";
import { limitTime, sleep } from "../../util/async.ts";
import { MIB } from "../../util/bytes.ts";
import * as errors from "../errors.ts";
import type { NativeJob, NativeState } from "./native-wire.ts";

/** Timeouts of the native encoders' client, in milliseconds. */
export interface NativeTimeouts {
  /** Limit of the wait for a response to a new job, including the start of a container. */
  startMs: number;
  /** How long an encoder may hold a status request open. */
  pollMs: number;
  /** Extra time for the response to a status request. */
  answerMs: number;
  /** Limit of the wait for an unresponsive encoder, after which its job goes to another. */
  restartMs: number;
  /** Limit of the wait for any encoder while none can be reached. */
  awayMs: number;
  /** Limit of the wait in the queue of a busy encoder, after which the job tries the next one. */
  queueMs: number;
  /** The first pause after an encoder that does not queue the job; later ones grow up to `busyMostMs`. */
  busyMs: number;
  busyMostMs: number;
  /** Limit of a cancellation, including retries. */
  endMs: number;
}

/** The default timeouts. Proxies may cut connections that are silent for 100 s. */
export const NATIVE_TIMEOUTS: Readonly<NativeTimeouts> = {
  startMs: 45_000,
  pollMs: 15_000,
  answerMs: 10_000,
  restartMs: 7000,
  awayMs: 120_000,
  queueMs: 5000,
  busyMs: 500,
  busyMostMs: 10_000,
  endMs: 1200,
};

/** One job on one encoder. */
export interface NativeCall {
  instance: NativeInstance;
  headers: Record<string, string>;
  timeouts: NativeTimeouts;
  signal: AbortSignal;
}

const FIRST_PAUSE_MS = 250;
const MIN_PAUSE_MS = 100;
const FIRST_CANCEL_PAUSE_MS = 50;
const ARRIVAL_MS = 300;

/**
 * Submits a job and returns the response, or `busy` when no slot is free within `waitMs`. Rejects with `worker_lost` when the encoder does
 * not respond or denies access, and with `encode_failed` when it rejects the job, as any other encoder would.
 */
export async function startJob(
  call: NativeCall,
  job: NativeJob,
  waitMs: number,
): Promise<NativeResponse | "busy"> {
  const { instance, timeouts, signal } = call;
  signal.throwIfAborted();
  const headers = { ...call.headers, "Content-Type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(job) };
  // A job already on its way must arrive before its cancellation.
  const arrival = new AbortController();
  const abortLater = () => setTimeout(() => arrival.abort(), ARRIVAL_MS);
  signal.addEventListener("abort", abortLater, { once: true });
  try {
    const limits = { ms: timeouts.startMs + waitMs, signal: arrival.signal };
    const path = waitMs > 0 ? `/jobs?wait=${waitMs / 1000}` : "/jobs";
    const answer = await callNative(instance, path, init, limits);
    if (isBusy(answer)) return "busy";
    if (answer.status === 200 || answer.status === 202) return answer;
    throw rejectionOf(instance, answer.text, "job") ?? statusError(instance, answer);
  } catch (thrown) {
    throw thrown instanceof MediaError
      ? thrown
      : errors.nativeUnreachable({ name: instance.name, cause: thrown });
  } finally {
    signal.removeEventListener("abort", abortLater);
    signal.throwIfAborted();
  }
}

/**
 * Polls a job until it ends and reports its progress. Long jobs are polled less often, because a host limits the number of requests.
 * Rejects with `worker_lost` when the encoder stays unreachable, has lost the job or returns an invalid response.
 */
export async function followJob(
  call: NativeCall,
  { id, name }: Pick<NativeJob, "id" | "name">,
  first: NativeResponse,
  onProgress: (share: number) => void,
): Promise<Exclude<NativeState, { state: "running" }>> {
  const { instance, signal } = call;
  const startedAt = Date.now();
  let answer = first;
  for (let minPause = 0; ; minPause = MIN_PAUSE_MS) {
    const state = parseNativeState(answer.text, name);
    if (state.state !== "running") return state;
    onProgress(state.share);
    await sleep(Math.max(minPause, pauseFor(Date.now() - startedAt, state.share)), signal);
    answer = await poll(call, id);
    if (answer.status !== 200) throw statusError(instance, answer);
  }
}

/** Cancels a job; retries if that fails, for at most `endMs`. */
export async function endJob(
  { instance, headers, timeouts }: Omit<NativeCall, "signal">,
  id: string,
): Promise<void> {
  const until = Date.now() + timeouts.endMs;
  for (let wait = FIRST_CANCEL_PAUSE_MS; ; wait *= 2) {
    const limits = { ms: (until - Date.now()) / 2 };
    const answer = await callNative(instance, `/jobs/${id}`, { method: "DELETE", headers }, limits).catch(
      () => null,
    );
    if (answer && answer.status < 500) return;
    // An encoder ends a job that nothing polls.
    if (Date.now() + wait >= until) return;
    await sleep(wait);
  }
}

// A job starts slowly, so its first shares suggest far more remaining time than there is.
function pauseFor(elapsed: number, share: number): number {
  const remaining = share > 0 ? (elapsed * (1 - share)) / share : 0;
  return Math.min(remaining / 4, elapsed / 10, 30_000);
}

async function poll(
  { instance, headers, timeouts, signal }: NativeCall,
  id: string,
): Promise<NativeResponse> {
  const path = `/jobs/${id}?wait=${timeouts.pollMs / 1000}`;
  const limits = { ms: timeouts.pollMs + timeouts.answerMs, signal };
  const until = Date.now() + timeouts.restartMs;
  for (let wait = FIRST_PAUSE_MS; ; wait *= 2) {
    const answer = await callNative(instance, path, { headers }, limits).catch((thrown: unknown) => {
      signal.throwIfAborted();
      return errors.nativeUnreachable({ name: instance.name, cause: thrown });
    });
    if (!(answer instanceof MediaError) && !isHostResponse(answer)) return answer;
    if (Date.now() + wait > until)
      throw answer instanceof MediaError ? answer : statusError(instance, answer);
    await sleep(wait, signal);
  }
}

const MAX_MESSAGE_LETTERS = 500;

const Refusal = z.object({
  kind: z.literal(["request_invalid", "payload_too_large"]),
  message: z
    .string()
    .min(1)
    .transform((text) => text.slice(0, MAX_MESSAGE_LETTERS)),
  param: z.string().exactOptional(),
});

/**
 * Returns the error of a response by which every encoder would reject the job or picture; null for any other response. Another encoder
 * may speak the protocol version that this one rejects.
 */
export function rejectionOf(
  { name }: NativeInstance,
  text: string,
  work: "job" | "picture",
): MediaError | null {
  const { data } = Refusal.safeParse(parseJson(text));
  if (!data || data.param === "protocol") return null;
  return errors.nativeRejected({ name, work, message: data.message });
}

const Full = z.object({ kind: z.literal("service_unavailable") });

/** Returns whether the encoder itself reports that its slots are taken; a proxy's 503 has another body. */
export function isBusy({ status, text }: NativeResponse): boolean {
  return status === 503 && Full.safeParse(parseJson(text)).success;
}

const Own = z.object({ kind: z.string() });

// A host responds with 429 while a container starts, and a proxy with 5xx when it cannot reach one.
function isHostResponse({ status, text }: NativeResponse): boolean {
  return status >= 500 || (status === 429 && !Own.safeParse(parseJson(text)).success);
}

function statusError({ name }: NativeInstance, answer: NativeResponse): MediaError {
  return errors.nativeStatus({
    name,
    status: answer.status,
    cause: isHostResponse(answer) ? PROXY_ANSWER : undefined,
  });
}

const PROXY_ANSWER = errors.proxyAnswer();

/** Returns whether an encoder may be restarting, because it did not respond itself. One that does and refuses will refuse again. */
export function isAway(thrown: unknown): boolean {
  return thrown instanceof MediaError && thrown.kind === "worker_lost" && thrown.cause !== undefined;
}

/** A native encoder and how to reach it. */
export interface NativeInstance {
  /** Short name, used in messages. */
  name: string;
  /** Sends a request; `path` begins with a slash, such as `/jobs`. Rejects when the encoder cannot be reached. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

interface NativeResponse {
  status: number;
  text: string;
}

export interface CallLimits {
  /** Milliseconds until the whole response must have arrived. */
  ms: number;
  /** Ends the call at once. */
  signal?: AbortSignal | undefined;
  /** Maximum bytes of the response. Default 16 MiB. */
  bytes?: number;
}

const MAX_RESPONSE_BYTES = 16 * MIB;

/** Sends a request and reads the response as text; otherwise like {@link callForBytes}. */
async function callNative(
  instance: NativeInstance,
  path: string,
  init: RequestInit,
  limits: CallLimits,
): Promise<NativeResponse> {
  const { status, bytes } = await callForBytes(instance, path, init, limits);
  return { status, text: new TextDecoder().decode(bytes) };
}

/**
 * Sends a request and reads the response. Rejects with the signal's reason when it aborts, otherwise with an Error that names the
 * problem: no connection, no complete response in time, or more than `bytes`.
 */
export async function callForBytes(
  instance: NativeInstance,
  path: string,
  init: RequestInit,
  { ms, signal, bytes = MAX_RESPONSE_BYTES }: CallLimits,
): Promise<{ status: number; bytes: Uint8Array<ArrayBuffer> }> {
  signal?.throwIfAborted();
  const limit = limitTime(ms, { signal, reason: errors.nativeLate({ seconds: ms / 1000 }) });
  const deadline = limit.signal;
  const { promise: over, reject } = Promise.withResolvers<never>();
  over.catch(() => {});
  const end = () => reject(deadline.reason);
  deadline.addEventListener("abort", end, { once: true });
  try {
    const request = instance.fetch(path, { ...init, redirect: "manual", signal: deadline });
    // A late response must release its connection.
    request.then(
      (response) => {
        if (deadline.aborted) response.body?.cancel().catch(() => {});
      },
      () => {},
    );
    const response = await Promise.race([request, over]);
    return { status: response.status, bytes: await readBytes(response, bytes, over) };
  } finally {
    limit.clear();
    deadline.removeEventListener("abort", end);
  }
}

async function readBytes(
  response: Response,
  maxBytes: number,
  over: Promise<never>,
): Promise<Uint8Array<ArrayBuffer>> {
  if (!response.body) return new Uint8Array();
  const reader = response.body.getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), over]);
      if (done) break;
      size += value.length;
      if (size > maxBytes) throw errors.nativeEndless();
      pieces.push(value);
    }
  } catch (thrown) {
    reader.cancel().catch(() => {});
    throw thrown;
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

const name = z
  .string()
  .max(512)
  .regex(/^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/);
const mime = z
  .string()
  .max(128)
  .regex(/^[\w.+-]+\/[\w.+-]+(; ?[\w.+-]+=[\w.+-]+)*$/);

const count = z.int().min(0);

const State = z.discriminatedUnion("state", [
  z.object({
    state: z.literal("running"),
    share: z.number().min(0).max(1),
    speed: z.number().min(0).nullable(),
  }),
  z.object({
    state: z.literal("done"),
    written: z
      .array(
        z.object({
          name,
          mime,
          size: z.int().min(1),
          samples: count.exactOptional(),
          lead: count.exactOptional(),
        }),
      )
      .min(1),
    playlists: z.array(z.object({ name, mime, text: z.string().min(1) })),
    tally: z.object({
      pictures: z
        .object({
          decoded: count,
          missing: count,
          missing_at: z.number().nullable(),
          late_start: z.boolean(),
          unreadable: count,
          crowded: count.exactOptional(),
        })
        .exactOptional(),
      sound: z.number().min(0).exactOptional(),
      silenced: z.number().min(0).exactOptional(),
      heard: z.object({ from: z.number().min(0), until: z.number().min(0) }).exactOptional(),
    }),
  }),
  z.object({
    state: z.literal("failed"),
    error: z.object({
      kind: z.enum(ERROR_KINDS),
      message: z.string().min(1).max(2000),
      retryable: z.boolean(),
      reason: ErrorReason.exactOptional(),
    }),
  }),
]) satisfies z.ZodType<NativeState>;

/**
 * Parses a state. Throws `worker_lost` when it is malformed or lists unexpected files: a job has one file called `fileName`, or, for
 * adaptive video (null), files with distinct names.
 */
function parseNativeState(text: string, fileName: string | null): NativeState {
  const parsed = State.safeParse(parseJson(text));
  if (!parsed.success) throw errors.nativeAnswerMalformed();
  const state = parsed.data;
  if (state.state !== "done") return state;
  const names = [...state.written, ...state.playlists].map((file) => file.name);
  const right = fileName === null ? new Set(names).size === names.length : names.join() === fileName;
  if (!right) throw errors.nativeAnswerMalformed();
  return state;
}

/** Parses JSON; null when it is malformed. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Features of the native encoders, as their `GET /health` lists them. An encoder that has not answered counts as capable. */
export interface NativeFeatures {
  /** Queries the encoders in turn until one has all features of a plan; none for a plan without features. Never rejects. */
  prepare(plan: Plan): Promise<void>;
  /** Queries one encoder; returns whether it has all features of a plan. Never rejects. */
  ask(instance: NativeInstance, plan: Plan, signal?: AbortSignal): Promise<boolean>;
  /** Returns the tools for a plan: all of them, or only those of the first encoder when none has all features. */
  tools(plan: Plan): Toolset;
}

const VALID_MS = 60_000;

const NativeHealth = z.object({ features: z.array(z.string()) });

/** Creates {@link NativeFeatures}; an encoder must answer within `ms` milliseconds. */
export function createNativeFeatures(instances: readonly NativeInstance[], ms: number): NativeFeatures {
  const answers = new Map<NativeInstance, { features: ReadonlySet<string>; until: number }>();

  function lacksOf(instance: NativeInstance): FeatureName[] {
    const answer = answers.get(instance);
    return answer ? engineFeatures("native").filter((name) => !answer.features.has(name)) : [];
  }

  function isAble(instance: NativeInstance, plan: Plan): boolean {
    const lacks = lacksOf(instance);
    return !neededFeatures(plannedOf(plan)).some((name) => lacks.includes(name));
  }

  async function ask(instance: NativeInstance, plan: Plan, signal?: AbortSignal): Promise<boolean> {
    if (neededFeatures(plannedOf(plan)).length === 0) return true;
    if ((answers.get(instance)?.until ?? 0) < Date.now()) {
      answers.delete(instance);
      const answer = await callNative(instance, "/health", {}, { ms, signal }).catch(() => null);
      const { data } = NativeHealth.safeParse(parseJson(answer?.text ?? ""));
      if (data) answers.set(instance, { features: new Set(data.features), until: Date.now() + VALID_MS });
    }
    return isAble(instance, plan);
  }

  return {
    ask,
    async prepare(plan) {
      for (const instance of instances) if (await ask(instance, plan)) return;
    },
    tools(plan) {
      const [first] = instances;
      const lacks = first && !instances.some((each) => isAble(each, plan)) ? lacksOf(first) : [];
      return { ...NATIVE_TOOLS, lacks };
    },
  };
}
