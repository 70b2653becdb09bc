import { MediaError, toMediaError } from "../../src/media/errors.ts";
import type { Source } from "../../src/media/source.ts";
import { probeMedia } from "../../src/probe/probe.ts";
import type { ByteRange, Storage } from "../../src/runs/ports.ts";
import { runIngest } from "../../src/runs/steps/inputs.ts";
import { createHostGuard, type HostRules } from "../../src/storage/http/host-guard.ts";
import { openHttp } from "../../src/storage/http/reader.ts";
import type { HttpTimeouts } from "../../src/storage/http/request.ts";

/** An operation on a URL, as plain data so that it can be sent to another platform. */
export interface HttpOperation {
  url: string;
  /**
   * Rules of the host guard; null for none, as in a browser, where the platform follows redirects. Default: private hosts are
   * allowed.
   */
  rules?: HostRules | null;
  timeouts?: Partial<HttpTimeouts>;
  maxBytes?: number;
  /** Aborts after this many milliseconds. */
  abort_after?: number;
  /**
   * `open`: facts only. `probe`: the source, without ffprobe. `read`: these ranges in turn. `stream`: the
   * whole. `ingest`: the whole into storage under `key`.
   */
  act:
    | { kind: "open" }
    | { kind: "probe" }
    | { kind: "read"; ranges: ByteRange[] }
    | { kind: "stream" }
    | { kind: "ingest"; key: string };
}

/** The outcome, as plain data. */
export interface HttpOutcome {
  error?: { kind: string; message: string; retryable: boolean } | { aborted: string };
  facts?: { size: number | null; etag: string | null; mime: string | null; ranges: boolean; url: string };
  /** SHA-256 in hex of each range read, or of the whole. */
  hashes?: string[];
  bytes?: number;
  source?: Source;
  progress?: (readonly [number, number | null])[];
}

/** Runs an operation with the fetch of the current platform. */
export async function runHttpOperation(operation: HttpOperation, storage: Storage): Promise<HttpOutcome> {
  const stop = new AbortController();
  const { abort_after } = operation;
  const timer =
    abort_after === undefined ? undefined : setTimeout(() => stop.abort(new Error("stopped")), abort_after);
  try {
    return await act(operation, storage, stop.signal);
  } catch (thrown) {
    if (stop.signal.aborted) return { error: { aborted: String(thrown) } };
    const { kind, message, retryable } = toMediaError(thrown);
    const unexpected = kind === "internal_error" ? ` ${(thrown as Error).stack}` : "";
    return { error: { kind, message: message + unexpected, retryable } };
  } finally {
    clearTimeout(timer);
  }
}

async function act(operation: HttpOperation, storage: Storage, signal: AbortSignal): Promise<HttpOutcome> {
  const { url, timeouts, maxBytes, rules = { allowPrivate: true } } = operation;
  const options = {
    fetch: (at: string, init: RequestInit) => fetch(at, init),
    guard: rules && createHostGuard(rules),
  };
  const open = () => openHttp(url, { ...options, signal, timeouts: { pauseMs: 10, ...timeouts }, maxBytes });
  if (operation.act.kind === "ingest") {
    const progress: [number, number | null][] = [];
    const info = await runIngest({
      ...{ open, storage, key: operation.act.key, signal },
      progress: (received, size) => void progress.push([received, size]),
    });
    return { bytes: info.size, progress };
  }
  const file = await open();
  const { size, etag, mime, ranges } = file;
  const outcome: HttpOutcome = { facts: { size, etag, mime, ranges, url: file.url } };
  if (operation.act.kind === "open") await file.close();
  if (operation.act.kind === "probe" && file.reader) {
    const noFfprobe = () => Promise.reject(new MediaError("probe_failed", "left to ffprobe"));
    return { source: await probeMedia(file.reader, { url }, noFfprobe, signal) };
  }
  if (operation.act.kind === "stream") {
    const chunks = [];
    for await (const chunk of file.stream()) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    return { ...outcome, bytes: bytes.length, hashes: [await sha256(bytes)] };
  }
  if (operation.act.kind === "read") {
    const hashes = [];
    for (const range of operation.act.ranges) {
      hashes.push(await sha256((await file.reader?.read(range, signal)) ?? new Uint8Array(0)));
    }
    return { ...outcome, hashes };
  }
  return outcome;
}

async function sha256(bytes: Uint8Array): Promise<string> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes))).toString("hex");
}
