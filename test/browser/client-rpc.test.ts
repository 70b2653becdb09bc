import { afterEach, expect, test } from "vitest";
import { callOver, type Port, serveOver } from "../../src/browser/rpc.ts";
import { MediaError } from "../../src/core/errors.ts";

interface Adder {
  add(a: number, b: number): Promise<number>;
  refuse(kind: "invalid_input" | "unknown"): Promise<void>;
  never(): Promise<void>;
}

const open: MessageChannel[] = [];
afterEach(() => {
  for (const { port1 } of open.splice(0)) port1.close();
});

function connect() {
  const channel = new MessageChannel();
  open.push(channel);
  const tell = serveOver<Adder, string>(channel.port1 as unknown as Port, {
    add: async (a, b) => a + b,
    async refuse(kind) {
      if (kind === "unknown") throw new TypeError("a secret");
      throw new MediaError(kind, "Not this one.", { param: "input", retryable: true });
    },
    never: () => new Promise(() => {}),
  });
  const events: string[] = [];
  const caller = callOver<Adder, string>(channel.port2 as unknown as Port, (event) => events.push(event));
  channel.port1.start();
  channel.port2.start();
  return { ...caller, tell, events };
}

test("calls are answered, side by side", async () => {
  const { api } = connect();
  expect(await Promise.all([api.add(1, 2), api.add(3, 4)])).toEqual([3, 7]);
});

test("errors keep their kind, and faults of ours tell nothing", async () => {
  const { api } = connect();
  await expect(api.refuse("invalid_input")).rejects.toMatchObject({
    ...{
      name: "MediaError",
      kind: "invalid_input",
      message: "Not this one.",
      param: "input",
      retryable: true,
    },
  });
  const logged = console.error;
  const said: unknown[] = [];
  console.error = (...words) => said.push(...words);
  await expect(api.refuse("unknown")).rejects.toMatchObject({
    ...{ kind: "internal_error", message: "Something failed on our side; try again." },
  });
  await expect(Reflect.get(api, "toString")()).rejects.toMatchObject({ kind: "internal_error" });
  console.error = logged;
  expect(String(said[0])).toBe("TypeError: a secret");
});

test("what cannot be copied is refused", async () => {
  const { api } = connect();
  const call = api.add as (...args: unknown[]) => Promise<number>;
  await expect(call(() => 1)).rejects.toMatchObject({ kind: "request_invalid" });
});

test("events arrive in order, and a failure ends what is under way and what follows", async () => {
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
