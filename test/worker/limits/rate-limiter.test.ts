import { expect, test } from "vitest";
import { createWaitQuota } from "../../../worker/limits/limits.ts";
import {
  createRateLimiter,
  createUsage,
  type Limited,
  REPORT_MS,
  type Usage,
} from "../../../worker/limits/rate-limiter.ts";

const KEY = { id: "key_1", project: "p" };

/** A Worker instance whose messages to the project's home wait until the test sends them. */
function open(usage: Usage, clock: { now: number }, limits = { requests: 5, creations: 2 }) {
  const messages: { ms: number; send: () => Promise<void> }[] = [];
  let broken = false;
  const limiter = createRateLimiter({
    limits,
    home: () => ({
      async countUse(key_id, use) {
        if (broken) throw new Error("away");
        return usage.add(key_id, use, clock.now);
      },
    }),
    later: (ms, send) => void messages.push({ ms, send }),
    now: () => clock.now,
  });
  return {
    messages,
    breakHome: (is: boolean) => {
      broken = is;
    },
    take: (count: number, what: Limited = "requests", key = KEY) =>
      Array.from({ length: count }, () => limiter.take(key, what)),
    async flush() {
      for (const { send } of messages.splice(0)) await send();
    },
  };
}

test("counts down to the limit, rejects the excess and starts over a minute after the first request", async () => {
  const clock = { now: 10_000 };
  const { take } = open(createUsage(), clock);
  const first = take(1)[0];
  expect(first).toEqual({ allowed: true, limit: 5, remaining: 4, seconds: 60 });
  clock.now += 20_500;
  expect(take(5)).toEqual([
    ...[3, 2, 1, 0].map((remaining) => ({ allowed: true, limit: 5, remaining, seconds: 40 })),
    { allowed: false, limit: 5, remaining: 0, seconds: 40 },
  ]);
  clock.now = 69_999;
  expect(take(1)).toEqual([{ allowed: false, limit: 5, remaining: 0, seconds: 1 }]);
  clock.now = 70_000;
  expect(take(1)).toEqual([{ allowed: true, limit: 5, remaining: 4, seconds: 60 }]);
});

test("creations have their own limit, and so does each key", () => {
  const { take } = open(createUsage(), { now: 0 });
  expect(take(3, "creations").map(({ allowed }) => allowed)).toEqual([true, true, false]);
  expect(take(1)[0]).toMatchObject({ allowed: true, remaining: 4 });
  expect(take(1, "creations", { ...KEY, id: "key_2" })[0]).toMatchObject({ allowed: true, remaining: 1 });
});

test("instances share their counts: the first message goes out at once, later ones rarely", async () => {
  const clock = { now: 0 };
  const usage = createUsage();
  const [here, there] = [open(usage, clock), open(usage, clock)];
  here.take(3);
  expect(here.messages.map(({ ms }) => ms)).toEqual([0]);
  await here.flush();
  clock.now = 10_000;
  there.take(1);
  await there.flush();
  // Four are used in the minute that began with the first request.
  expect(there.take(2)).toEqual([
    { allowed: true, limit: 5, remaining: 0, seconds: 50 },
    { allowed: false, limit: 5, remaining: 0, seconds: 50 },
  ]);
  expect(there.messages.map(({ ms }) => ms)).toEqual([REPORT_MS]);
  await there.flush();
  // This instance learns of it only with its next message.
  expect(here.take(1)[0]).toMatchObject({ allowed: true, remaining: 1 });
  await here.flush();
  expect(here.take(1)[0]).toMatchObject({ allowed: false, remaining: 0 });
});

test("counts that could not be sent go with the next message, and none are lost", async () => {
  const clock = { now: 0 };
  const usage = createUsage();
  const { take, flush, breakHome } = open(usage, clock, { requests: 100, creations: 9 });
  take(3);
  breakHome(true);
  await flush();
  take(2);
  breakHome(false);
  await flush();
  expect(usage.add(KEY.id, { requests: 0, creations: 0 }, clock.now).requests).toBe(5);
  expect(take(1)[0]?.remaining).toBe(94);
});

test("a lost message is followed by another", () => {
  const clock = { now: 0 };
  const { take, messages } = open(createUsage(), clock);
  take(2);
  clock.now = 29_999;
  take(1);
  expect(messages).toHaveLength(1);
  clock.now = 30_000;
  take(1);
  expect(messages).toHaveLength(2);
});

test("rarely checks for room while there is some, and refuses when there is none", async () => {
  const clock = { now: 0 };
  let waiting = 0;
  let checks = 0;
  const room = createWaitQuota(
    3,
    async () => {
      checks++;
      return waiting;
    },
    () => clock.now,
  );
  const take = async (count: number, key = "a") => {
    const results: boolean[] = [];
    for (let index = 0; index < count; index++) results.push(await room.take(key));
    return results;
  };
  expect([await take(3), checks]).toEqual([[true, true, true], 1]);
  waiting = 3;
  expect([await take(2), checks]).toEqual([[false, false], 3]);
  waiting = 2;
  expect([await take(2), checks]).toEqual([[true, true], 5]);
  clock.now = 5000;
  waiting = 3;
  expect(await take(1)).toEqual([false]);
  waiting = 1;
  expect([await room.take("b", 3), await room.take("b", 2)]).toEqual([false, true]);
});
