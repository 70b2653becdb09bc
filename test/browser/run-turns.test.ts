import { expect, test } from "vitest";
import { createRunTurns } from "../../src/browser/media-worker/run-turns.ts";

/** Turns for one task at a time; its work lasts until `letGo`. */
function oneAtOnce() {
  const begun: [id: string, stopped: boolean][] = [];
  const works = new Map<string, PromiseWithResolvers<void>>();
  const turns = createRunTurns("turns", 1, async (id, signal) => {
    begun.push([id, signal.aborted]);
    if (signal.aborted) return undefined;
    const work = Promise.withResolvers<void>();
    works.set(id, work);
    await work.promise;
    return undefined;
  });
  return { turns, begun, letGo: (id: string) => works.get(id)?.resolve() };
}

test("a task stopped while it waits is cleaned up at once, and takes no turn", async () => {
  const { turns, begun, letGo } = oneAtOnce();
  for (const id of ["task_a", "task_b", "task_c"]) turns.join(id);
  await expect.poll(() => turns.hasExecutor("task_c")).toBe(true);
  turns.stop("task_b", new Error("cancelled"));
  await expect.poll(() => turns.hasExecutor("task_b")).toBe(false);
  expect(begun).toEqual([
    ["task_a", false],
    ["task_b", true],
  ]);
  letGo("task_a");
  await expect.poll(() => begun.slice(2)).toEqual([["task_c", false]]);
  letGo("task_c");
  await expect.poll(() => turns.hasExecutor("task_c")).toBe(false);
  turns.join("task_d");
  await expect.poll(() => begun.slice(3)).toEqual([["task_d", false]]);
  letGo("task_d");
});
