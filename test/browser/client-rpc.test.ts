import { afterEach, expect, test } from "vitest";
import { callOver, type Port, serveOver } from "../../src/browser/rpc.ts";
import { MediaError } from "../../src/media/errors.ts";

interface Adder {
  add(a: number, b: number): Promise<number>;
  refuse(kind: "invalid_input" | "unknown"): Promise<void>;
  never(): Promise<void>;
  odd(): Promise<unknown>;
}

const open: MessageChannel[] = [];
afterEach(() => {
  for (const { port1 } of open.splice(0)) port1.close();
});

const REASON = { code: "field", field: "input", rule: "must be another." } as const;

function connect() {
  const channel = new MessageChannel();
  open.push(channel);
  const tell = serveOver<Adder, string>(channel.port1 as unknown as Port, {
    add: async (a, b) => a + b,
    async refuse(kind) {
      if (kind === "unknown") throw new TypeError("a secret");
      throw new MediaError(kind, "Not this one.", { param: "input", retryable: true, reason: REASON });
    },
    never: () => new Promise(() => {}),
    odd: async () => () => 1,
  });
  const events: string[] = [];
  const caller = callOver<Adder, string>(channel.port2 as unknown as Port, (event) => events.push(event));
  channel.port1.start();
  channel.port2.start();
  return { ...caller, tell, events };
}

test("answers concurrent calls", async () => {
  const { api } = connect();
  expect(await Promise.all([api.add(1, 2), api.add(3, 4)])).toEqual([3, 7]);
});

test("passes on MediaErrors in full, and hides the details of internal errors", async () => {
  const { api } = connect();
  await expect(api.refuse("invalid_input")).rejects.toMatchObject({
    ...{
      name: "MediaError",
      kind: "invalid_input",
      message: "Not this one.",
      param: "input",
      retryable: true,
      reason: REASON,
    },
  });
  const logged = console.error;
  const logs: unknown[] = [];
  console.error = (...args) => logs.push(...args);
  await expect(api.refuse("unknown")).rejects.toMatchObject({
    ...{ kind: "internal_error", message: "Something failed on our side; try again." },
  });
  await expect(Reflect.get(api, "toString")()).rejects.toMatchObject({ kind: "internal_error" });
  console.error = logged;
  expect(String(logs[0])).toBe("TypeError: a secret");
});

const PLAIN =
  "a request may contain strings, numbers, booleans, null, and arrays and plain objects of these.";

test("rejects values that cannot be cloned, naming their path and type", async () => {
  const { api } = connect();
  const call = api.add as (...args: unknown[]) => Promise<number>;
  const detached = new ArrayBuffer(8);
  const view = new Uint8Array(detached);
  structuredClone(detached, { transfer: [detached] });
  const ring: { self?: unknown; at?: unknown } = {};
  ring.self = ring;
  ring.at = Symbol("one");
  const gone = "whose bytes were transferred elsewhere";
  for (const [value, param, what] of [
    [() => 1, undefined, "The request is a function"],
    [{ metadata: { list: [1, () => 1] } }, "metadata.list.1", "metadata.list.1 is a function"],
    [
      { metadata: { done: Promise.resolve() } },
      "metadata.done",
      "metadata.done is a Promise, which cannot be sent to a worker",
    ],
    [{ metadata: { detached } }, "metadata.detached", `metadata.detached is a detached ArrayBuffer, ${gone}`],
    [{ metadata: { view } }, "metadata.view", `metadata.view is a view of a detached ArrayBuffer, ${gone}`],
    [
      { options: new Proxy({ width: 1 }, {}) },
      "options",
      "options is not a plain object, but for example a Proxy of a framework's state; pass a plain copy",
    ],
    [{ metadata: ring }, "metadata.at", "metadata.at is a symbol"],
  ] as const) {
    const message = `${what}; ${PLAIN}`;
    await expect(call(value)).rejects.toMatchObject({ kind: "request_invalid", param, message });
  }
});

test("keeps the message when a port throws for another reason", async () => {
  const full = new DOMException("Data cannot be cloned, out of memory.", "DataCloneError");
  const broken = new MediaError("worker_lost", "It could not be started.");
  for (const [thrown, kind, message] of [
    [full, "internal_error", `The browser could not hand the request to its worker: ${full.message}`],
    [broken, "worker_lost", broken.message],
  ] as const) {
    const port: Port = {
      addEventListener() {},
      postMessage() {
        throw thrown;
      },
    };
    const { api } = callOver<Adder, string>(port, () => {});
    await expect(api.add(1, 2)).rejects.toMatchObject({ kind, message });
  }
});

test("rejects a call whose answer cannot be cloned", async () => {
  const { api } = connect();
  const logged = console.error;
  console.error = () => {};
  await expect(api.odd()).rejects.toMatchObject({ kind: "internal_error" });
  console.error = logged;
});

test("delivers events in order, and a failure rejects pending and later calls", async () => {
  const { api, tell, events, fail } = connect();
  tell("one");
  tell("two");
  await api.add(1, 1);
  expect(events).toEqual(["one", "two"]);
  const waiting = api.never();
  fail(new MediaError("worker_lost", "It is gone."));
  await expect(waiting).rejects.toMatchObject({ kind: "worker_lost" });
  await expect(api.add(1, 1)).rejects.toMatchObject({ kind: "worker_lost" });
});
