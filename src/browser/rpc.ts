import type { ErrorReason } from "../core/error-reason.ts";
import { type ErrorKind, MediaError, toMediaError } from "../core/errors.ts";
import type { Refusal } from "../core/refusal.ts";
import { cloneFault } from "./clone-fault.ts";

/** Either end of a channel between a page and its worker: a `Worker`, or the worker's own scope. */
export interface Port {
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
}

export type Api = object;

interface Fault {
  kind: ErrorKind;
  message: string;
  param: string | undefined;
  retryable: boolean;
  reason: ErrorReason | undefined;
  refusals: readonly Refusal[];
}

type Message<E> =
  | { rpc: "call"; id: number; name: string; args: unknown[] }
  | { rpc: "value"; id: number; value: unknown }
  | { rpc: "fault"; id: number; fault: Fault }
  | { rpc: "event"; event: E };

export interface Caller<A extends Api> {
  /** The functions of the other end, each called by message; they reject with a {@link MediaError}. */
  readonly api: A;
  fail(error: MediaError): void;
}

/** Calls the functions served at the other end of a port, and receives its events. */
export function callOver<A extends Api, E>(port: Port, onEvent: (event: E) => void): Caller<A> {
  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let last = 0;
  let failure: MediaError | null = null;

  port.addEventListener("message", ({ data }) => {
    const message = data as Message<E>;
    if (message?.rpc === "event") return onEvent(message.event);
    if (message?.rpc !== "value" && message?.rpc !== "fault") return;
    const call = pending.get(message.id);
    pending.delete(message.id);
    if (message.rpc === "value") call?.resolve(message.value);
    else call?.reject(toError(message.fault));
  });

  function call(name: string, args: unknown[]): Promise<unknown> {
    if (failure) return Promise.reject(failure);
    const waiting = Promise.withResolvers<unknown>();
    const id = ++last;
    try {
      port.postMessage({ rpc: "call", id, name, args } satisfies Message<E>);
      pending.set(id, waiting);
    } catch (thrown) {
      waiting.reject(thrown instanceof MediaError ? thrown : cloneFault(args, thrown));
    }
    return waiting.promise;
  }

  const api = new Proxy({} as A, {
    // A `then` would make this look like a promise.
    get: (_, name) =>
      typeof name === "string" && name !== "then" ? (...args: unknown[]) => call(name, args) : undefined,
  });
  return {
    api,
    fail(error) {
      failure = error;
      for (const { reject } of pending.values()) reject(error);
      pending.clear();
    },
  };
}

/** Serves functions to the other end of a port; returns a function that sends it events. */
export function serveOver<A extends Api, E>(port: Port, api: A): (event: E) => void {
  const answer = async (id: number, name: string, args: unknown[]): Promise<void> => {
    try {
      const method: unknown = Object.hasOwn(api, name) ? Reflect.get(api, name) : undefined;
      if (typeof method !== "function") throw new MediaError("internal_error", `There is no call ${name}.`);
      port.postMessage({ rpc: "value", id, value: await method(...args) } satisfies Message<E>);
    } catch (thrown) {
      const { kind, message, param, retryable, reason, refusals, cause } = toMediaError(thrown);
      if (kind === "internal_error") console.error(cause ?? thrown);
      port.postMessage({
        rpc: "fault",
        id,
        fault: { kind, message, param, retryable, reason, refusals },
      } satisfies Message<E>);
    }
  };
  port.addEventListener("message", ({ data }) => {
    const message = data as Message<E>;
    if (message?.rpc === "call") void answer(message.id, message.name, message.args);
  });
  return (event) => port.postMessage({ rpc: "event", event } satisfies Message<E>);
}

function toError({ kind, message, ...more }: Fault): MediaError {
  return new MediaError(kind, message, more);
}
