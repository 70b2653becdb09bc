import { expect, test } from "vitest";
import { createByteBudget } from "../../../worker/images/byte-budget.ts";

test("work waits for room in its turn, and leaves the queue when its time is up", async () => {
  const budget = createByteBudget(10);
  const open = new AbortController();
  const late = new AbortController();
  const first = Promise.withResolvers<string>();
  const begun: string[] = [];
  const held = budget.hold(6, open.signal, () => first.promise);
  const large = budget.hold(8, late.signal, async () => void begun.push("large"));
  const small = budget.hold(4, open.signal, async () => void begun.push("small"));
  const over = expect(large).rejects.toThrow("too late");
  late.abort(new Error("too late"));
  await over;
  await small;
  first.resolve("done");
  expect(await held).toBe("done");
  await budget.hold(11, open.signal, async () => void begun.push("all"));
  expect(begun).toEqual(["small", "all"]);
  await expect(budget.hold(1, late.signal, async () => {})).rejects.toThrow("too late");
});
