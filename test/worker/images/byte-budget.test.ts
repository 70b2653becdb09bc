import { expect, test } from "vitest";
import { createByteBudget } from "../../../worker/images/byte-budget.ts";

test("work waits for room in its turn, and leaves the queue when its time is up", async () => {
  const budget = createByteBudget(10, 60_000);
  const open = new AbortController();
  const late = new AbortController();
  const first = Promise.withResolvers<string>();
  const started: string[] = [];
  const running = budget.hold(6, open.signal, () => first.promise);
  const large = budget.hold(8, late.signal, async () => void started.push("large"));
  const small = budget.hold(4, open.signal, async () => void started.push("small"));
  const over = expect(large).rejects.toThrow("too late");
  late.abort(new Error("too late"));
  await over;
  await small;
  first.resolve("done");
  expect(await running).toBe("done");
  await budget.hold(11, open.signal, async () => void started.push("all"));
  expect(started).toEqual(["small", "all"]);
  await expect(budget.hold(1, late.signal, async () => {})).rejects.toThrow("too late");
});

test("work for which there is no room in time is refused, and leaves its room to those behind it", async () => {
  const budget = createByteBudget(10, 20);
  const { signal } = new AbortController();
  const first = Promise.withResolvers<void>();
  const running = budget.hold(6, signal, () => first.promise);
  const large = budget.hold(8, signal, async () => "large");
  const small = budget.hold(4, signal, async () => "small");
  await expect(large).rejects.toMatchObject({ kind: "service_unavailable", retryable: true });
  // It waited as long, but got room as soon as the large one gave up.
  expect(await small).toBe("small");
  first.resolve();
  await running;
  expect(await budget.hold(10, signal, async () => "all")).toBe("all");
});
