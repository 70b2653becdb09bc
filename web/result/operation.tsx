import { useEffect, useRef, useState } from "preact/hooks";
import { MediaError } from "../../src/index.ts";
import type { Fault } from "../queue/item.ts";
import { Notice } from "../ui/notice.tsx";
import { bytes } from "../words/quantities.ts";
import * as strings from "./strings.ts";

/** The reports of an operation, and the signal that stops it. */
export interface Watch {
  readonly signal: AbortSignal;
  /** Receives the bytes done and the total; null when unknown. */
  onProgress(done: number, total: number | null): void;
}

/** An operation started by a click: its progress, its result, and the functions that start and stop it. */
interface Operation {
  /** Progress of the operation; null while idle. `share` is from 0 to 1, null when it cannot be measured. */
  readonly progress: { readonly share: number | null; readonly bytes: number } | null;
  readonly fault: Fault | null;
  /** The final message; null before that. */
  readonly message: string | null;
  /** Starts the operation; its resolved value becomes the message. */
  begin(work: (watch: Watch) => Promise<string | null>): void;
  stop(): void;
}

/**
 * Returns an {@link Operation} that ends with the component, or continues silently when it `outlives` it, as a download does when
 * another view is opened.
 */
export function useOperation({ outlives = false }: { outlives?: boolean } = {}): Operation {
  const [state, setState] = useState<Pick<Operation, "progress" | "fault" | "message">>(IDLE);
  const running = useRef<AbortController | null>(null);
  useEffect(
    () => () => {
      if (!outlives) running.current?.abort();
    },
    [outlives],
  );
  return {
    ...state,
    begin(work) {
      running.current?.abort();
      const controller = new AbortController();
      running.current = controller;
      const { signal } = controller;
      const set = (next: Partial<typeof state>) => {
        if (running.current === controller) setState({ ...IDLE, ...next });
      };
      set({ progress: { share: null, bytes: 0 } });
      let lastShown = 0;
      const onProgress = (done: number, total: number | null) => {
        const now = performance.now();
        if (signal.aborted || now - lastShown < 100) return;
        lastShown = now;
        set({ progress: { share: total ? done / total : null, bytes: done } });
      };
      work({ signal, onProgress }).then(
        (message) => set({ message }),
        (thrown: unknown) => set({ fault: signal.aborted ? null : faultOf(saveFault(thrown)) }),
      );
    },
    stop: () => running.current?.abort(),
  };
}

const IDLE = { progress: null, fault: null, message: null } as const;

/** Shows the progress of an operation with a button that stops it, then the result. */
export function OperationView({ operation, label }: { operation: Operation; label: string }) {
  const { progress, fault, message, stop } = operation;
  return (
    <>
      {progress && (
        <div class="row doing">
          <progress
            aria-label={label}
            {...(progress.share !== null && { value: progress.share * 100, max: 100 })}
          />
          <span class="small soft numbers">
            {label}{" "}
            {progress.share === null ? bytes(progress.bytes) : `${Math.floor(progress.share * 100)} %`}
          </span>
          <button type="button" class="quiet" onClick={stop}>
            {strings.cancel}
          </button>
        </div>
      )}
      {fault && <Notice tone="bad">{fault.message}</Notice>}
      <p role="status" class={message ? "small soft" : "visually-hidden"}>
        {message}
      </p>
    </>
  );
}

const NOT_ALLOWED: ReadonlySet<string> = new Set([
  "NotAllowedError",
  "NoModificationAllowedError",
  "SecurityError",
]);

/** Describes why something could not be saved, and what to do. */
export function saveFault(thrown: unknown): MediaError {
  if (thrown instanceof MediaError) return thrown;
  const name = thrown instanceof Error || thrown instanceof DOMException ? thrown.name : "";
  const cause = thrown;
  if (name === "QuotaExceededError") {
    return new MediaError("storage_full", strings.diskFull, {
      cause,
    });
  }
  if (NOT_ALLOWED.has(name)) {
    const message = strings.writeForbidden;
    return new MediaError("forbidden", message, { cause });
  }
  if (name === "NotFoundError") {
    return new MediaError("upload_failed", strings.folderGone, {
      cause,
    });
  }
  return new MediaError("upload_failed", strings.writeFailed, {
    cause,
  });
}

/** Describes an error; unexpected ones in general terms. */
export function faultOf(thrown: unknown): Fault {
  if (thrown instanceof MediaError) {
    const { kind, message, reason } = thrown;
    return { kind, message, ...(reason && { reason }) };
  }
  return { kind: "internal_error", message: strings.pageFailed };
}
