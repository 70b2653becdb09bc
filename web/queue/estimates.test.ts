import { signal } from "@preact/signals";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { LocalClient } from "../../src/browser/index.ts";
import { imageSource } from "../../test/plan/source.ts";
// Loaded by the first estimate, which would take longer than the test waits.
import "../options/check-settings.ts";
import { createEstimates } from "./estimates.ts";
import { createItem, type Item } from "./item.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function picture(name: string): Item {
  const item = createItem(new File(["…"], name));
  return { ...item, source: imageSource(), settings: { ...item.settings, kind: "image", options: {} } };
}

test("estimates stop at a conversion, and end with the list", async () => {
  const [one, two] = [picture("one.png"), picture("two.png")];
  const items = signal<readonly Item[]>([one]);
  const log: string[] = [];
  const device = {
    async *estimate({ input }: { input: File }, { signal: stop }: { signal: AbortSignal }) {
      log.push(input.name);
      await new Promise((_, reject) => {
        stop.onabort = () => {
          log.push(`${input.name} stopped`);
          reject(stop.reason);
        };
      });
    },
  };
  const estimates = createEstimates({ items }, device as unknown as LocalClient);
  estimates.see(one.id, true);
  await vi.waitFor(() => expect(log).toEqual(["one.png"]));
  items.value = [one, { ...two, starting: { percent: 10 } }];
  expect(log).toEqual(["one.png", "one.png stopped"]);
  items.value = [one, two];
  await vi.waitFor(() => expect(log.at(-1)).toBe("one.png"));
  estimates.end();
  expect(log.at(-1)).toBe("one.png stopped");
  const before = log.length;
  items.value = [picture("three.png"), one];
  estimates.see(two.id, true);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(log).toHaveLength(before);
});
