import { z } from "zod";
import { MediaError } from "../../core/errors.ts";
import { sleep } from "../../util/sleep.ts";
import { callNative, type NativeAnswer, type NativeInstance } from "./native-call.ts";
import { parseJson, parseNativeState } from "./native-state.ts";
import type { NativeJob, NativeState } from "./native-wire.ts";

/** How long the client of native encoders waits for what, in milliseconds. */
export interface NativePatience {
  /** For the answer to a job that is given: a container may have to start first. */
  start_ms: number;
  /** How long an encoder may hold back its answer to the question how a job stands. */
  poll_ms: number;
  /** What such an answer may take on top. */
  answer_ms: number;
  /** For an encoder that cannot be reached to come back. */
  restart_ms: number;
  /** The first wait when every encoder is busy; then longer, up to `busy_most_ms`. */
  busy_ms: number;
  busy_most_ms: number;
  /** For the word that a job is to end. */
  end_ms: number;
}

/** The waits unless told otherwise; what lies between here and an encoder may cut connections that are silent for 100 s. */
export const NATIVE_PATIENCE: Readonly<NativePatience> = {
  start_ms: 45_000,
  poll_ms: 15_000,
  answer_ms: 10_000,
  restart_ms: 7000,
  busy_ms: 500,
  busy_most_ms: 10_000,
  end_ms: 1200,
};

/** One job on one encoder. */
export interface NativeCall {
  instance: NativeInstance;
  headers: Record<string, string>;
  patience: NativePatience;
  signal: AbortSignal;
}

// What lies between two tries to reach an encoder, at first; then twice as long each time.
const FIRST_PAUSE_MS = 250;
// What lies between two questions, whatever comes back.
const LEAST_PAUSE_MS = 100;
// The same between two words that a job is to end.
const FIRST_END_PAUSE_MS = 50;
// What a job may take to arrive when it is not wanted any more.
const ARRIVAL_MS = 300;

/**
 * Gives a job to an encoder and gives its answer, or `busy` when it takes no more. Rejects with `worker_lost` when it does not answer or does not
 * let us in, and with `encode_failed` when it finds fault with the job, as any other would.
 */
export async function startJob(call: NativeCall, job: NativeJob): Promise<NativeAnswer | "busy"> {
  const { instance, patience, signal } = call;
  signal.throwIfAborted();
  const headers = { ...call.headers, "Content-Type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(job) };
  // A job that is on its way arrives before the word that it is to end.
  const late = new AbortController();
  const cut = () => setTimeout(() => late.abort(), ARRIVAL_MS);
  signal.addEventListener("abort", cut, { once: true });
  try {
    const limits = { ms: patience.start_ms, signal: late.signal };
    const answer = await callNative(instance, "/jobs", init, limits);
    if (answer.status === 503) return "busy";
    if (answer.status === 200 || answer.status === 202) return answer;
    throw faulted(instance, answer) ?? refused(instance, answer);
  } catch (thrown) {
    throw thrown instanceof MediaError ? thrown : lost(instance, thrown);
  } finally {
    signal.removeEventListener("abort", cut);
    signal.throwIfAborted();
  }
}

/**
 * Asks an encoder how a job stands, again and again until that is over, and tells of each answer. Asks less often the longer it
 * will take, since a host may send only so many requests. Rejects with `worker_lost` when the encoder cannot be reached for a
 * while, has lost the job or answers nonsense.
 */
export async function followJob(
  call: NativeCall,
  { id, name }: Pick<NativeJob, "id" | "name">,
  first: NativeAnswer,
  onProgress: (share: number) => void,
): Promise<Exclude<NativeState, { state: "running" }>> {
  const { instance, signal } = call;
  const begun = Date.now();
  let answer = first;
  for (let least = 0; ; least = LEAST_PAUSE_MS) {
    const state = parseNativeState(answer.text, name);
    if (state.state !== "running") return state;
    onProgress(state.share);
    await sleep(Math.max(least, pauseFor(Date.now() - begun, state.share)), signal);
    answer = await ask(call, id);
    if (answer.status !== 200) throw refused(instance, answer);
  }
}

/** Tells an encoder that a job is to end, again where that fails, and waits no longer than `end_ms` for its word. */
export async function endJob(
  { instance, headers, patience }: Omit<NativeCall, "signal">,
  id: string,
): Promise<void> {
  const until = Date.now() + patience.end_ms;
  for (let wait = FIRST_END_PAUSE_MS; ; wait *= 2) {
    // A word that is lost on its way leaves time for another.
    const limits = { ms: (until - Date.now()) / 2 };
    const told = await callNative(instance, `/jobs/${id}`, { method: "DELETE", headers }, limits).catch(
      () => null,
    );
    if (told && told.status < 500) return;
    // One that cannot be told ends the job by itself, when nobody asks after it.
    if (Date.now() + wait >= until) return;
    await sleep(wait);
  }
}

// A quarter of what is left by the pace so far: near the end it is asked often, and in all about twenty times a minute of work.
function pauseFor(elapsed: number, share: number): number {
  const left = share > 0 ? (elapsed * (1 - share)) / share : 0;
  return Math.min(left / 4, Math.max(5000, Math.min(30_000, elapsed / 10)));
}

async function ask({ instance, headers, patience, signal }: NativeCall, id: string): Promise<NativeAnswer> {
  const path = `/jobs/${id}?wait=${patience.poll_ms / 1000}`;
  const limits = { ms: patience.poll_ms + patience.answer_ms, signal };
  const until = Date.now() + patience.restart_ms;
  for (let wait = FIRST_PAUSE_MS; ; wait *= 2) {
    const answer = await callNative(instance, path, { headers }, limits).catch((thrown: unknown) => {
      signal.throwIfAborted();
      return lost(instance, thrown);
    });
    if (!(answer instanceof MediaError) && answer.status < 500) return answer;
    if (Date.now() + wait > until) throw answer instanceof MediaError ? answer : refused(instance, answer);
    await sleep(wait, signal);
  }
}

function lost({ name }: NativeInstance, cause: unknown): MediaError {
  return new MediaError("worker_lost", `The native encoder ${name} cannot be reached.`, { cause });
}

const Refusal = z.object({
  kind: z.literal(["request_invalid", "payload_too_large"]),
  message: z.string().min(1).max(500),
  param: z.string().exactOptional(),
});

// An encoder of another version speaks another protocol, and the next one may not.
function faulted({ name }: NativeInstance, { text }: NativeAnswer): MediaError | null {
  const { data } = Refusal.safeParse(parseJson(text));
  if (!data || data.param === "protocol") return null;
  const message = `The native encoder ${name} does not take the job: ${data.message}`;
  return new MediaError("encode_failed", message);
}

function refused({ name }: NativeInstance, { status }: NativeAnswer): MediaError {
  const what = status === 404 ? "has lost the job" : `answered with status ${status}`;
  return new MediaError("worker_lost", `The native encoder ${name} ${what}.`);
}
