import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createChangeWatch } from "../../../src/browser/local-client.ts";
import type { Run } from "../../../src/browser/media-api.ts";
import { readEvents, type SentEvent } from "../../../src/client/read-events.ts";
import type { Update } from "../../../src/client/update.ts";
import { createChanges, createRunEvents, streamEvents, writeEvent } from "../../../worker/run/events.ts";
import { EVENTS, history, move as moved, QUEUED } from "../../client/records.ts";
import { rowWith } from "./run-row.ts";

const STATES = history();
const TIMES = { between: 1000, heartbeat: 15_000 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A task that changes when a test says so, and the stream of its events. */
function follow(lastVersion = 0) {
  const changes = createChanges();
  let at: number | null = 0;
  const latest = () => {
    const record = at === null ? undefined : STATES[at];
    return record ? writeEvent({ version: (at ?? 0) + 1, record }) : null;
  };
  const stream = streamEvents(latest, changes, lastVersion, TIMES);
  const move = (state: number | null) => {
    at = state;
    changes.tell();
  };
  return { stream, move };
}

function collect(stream: ReadableStream<Uint8Array>) {
  const events: SentEvent[] = [];
  const collected = { events, ended: false, ids: () => events.map(({ id }) => Number(id)) };
  void (async () => {
    for await (const event of readEvents(stream)) events.push(event);
    collected.ended = true;
  })();
  return collected;
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test("sends the latest change at most once a second, and the end at once", async () => {
  const { stream, move } = follow();
  const received = collect(stream);
  await pass(0);
  expect(received.ids()).toEqual([1]);
  move(1);
  move(2);
  await pass(999);
  expect(received.ids()).toEqual([1]);
  await pass(1);
  expect(received.ids()).toEqual([1, 3]);
  await pass(5000);
  move(7);
  await pass(0);
  expect(received.ids()).toEqual([1, 3, 8]);
  expect(JSON.parse(received.events.at(-1)?.data ?? "")).toEqual({
    record: STATES[7],
    progress: 52,
    speed: expect.closeTo(20 / 3.8),
    eta: expect.closeTo(1.8),
    choice: null,
  });
  move(STATES.length - 1);
  await pass(0);
  expect([received.ids(), received.ended]).toEqual([[1, 3, 8, STATES.length], true]);
  expect(vi.getTimerCount()).toBe(0);
});

test("a resumed connection skips events it has seen, and comments keep it alive", async () => {
  const { stream, move } = follow(3);
  const reader = stream.getReader();
  const read = async () => new TextDecoder().decode((await reader.read()).value);
  const first = read();
  await pass(14_999);
  move(2);
  await pass(1);
  expect(await first).toBe(": still here\n\n");
  const second = read();
  await pass(0);
  move(3);
  await pass(0);
  expect(await second).toMatch(/^event: update\nid: 4\ndata: \{.*\}\n\n$/);
  await reader.cancel();
});

test("a slow reader skips the states in between, which are not kept in memory", async () => {
  const { stream, move } = follow();
  for (const state of STATES.keys()) {
    move(state);
    await pass(2000);
  }
  const received = collect(stream);
  await pass(0);
  expect([received.ids(), received.ended]).toEqual([[STATES.length], true]);
});

test("deleting a task ends its streams, and a reader that leaves keeps no timers", async () => {
  const { stream, move } = follow();
  const received = collect(stream);
  await pass(10);
  move(null);
  await pass(0);
  expect([received.ids(), received.ended]).toEqual([[1], true]);
  const other = follow();
  const reader = other.stream.getReader();
  await reader.read();
  void reader.read();
  await pass(10);
  await reader.cancel();
  other.move(1);
  await pass(0);
  expect(vi.getTimerCount()).toBe(0);
});

test("the service estimates the time left as a page does", async () => {
  // Slow from the middle: an estimate by the overall average would be half of that by the latest speed.
  const percents = [10, 20, 30, 40, 50, 52, 54, 56, 58, 60];
  const states = history([...EVENTS.slice(0, 5), ...percents.map((percent) => moved(2, percent))]).slice(6);
  let at = 0;
  const events = createRunEvents(() => rowWith({ record: states[at] ?? QUEUED, version: at + 1 }));
  const watch = createChangeWatch(async () => ({ record: states[0] ?? QUEUED, choice: null }));
  const inPage: Update<Run>[] = [];
  watch.add(QUEUED.id, { update: (update) => inPage.push(update), fail: () => {} });
  const stream = events.follow("p", 0);
  if (!(stream instanceof ReadableStream)) throw new Error("There is nothing to follow.");
  const received = collect(stream);
  await pass(1000);
  for (at = 1; at < states.length; at++) {
    watch.changed({ record: states[at] ?? QUEUED, choice: null });
    events.changed();
    await pass(1000);
  }
  const etas = received.events.map(({ data }) => JSON.parse(data).eta);
  expect(etas).toEqual(inPage.map(({ eta }) => eta));
  // 35 percent are left, at 2 a second recently and about 6 overall.
  expect(etas.at(-1)).toBeCloseTo(35 / (2 ** 0.8 * (50 / 9) ** 0.2));
  watch.close();
  await stream.cancel().catch(() => {});
});
