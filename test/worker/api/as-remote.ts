import type { Remote } from "../../../worker/network/durable-objects.ts";

/** Makes an object's methods asynchronous, as they are over RPC. */
export function asRemote<T extends object>(methods: T): Remote<T> {
  const calls = Object.entries(methods).map(([name, call]) => [
    name,
    async (...args: unknown[]) => call(...args),
  ]);
  return Object.fromEntries(calls) as Remote<T>;
}
