import { expect, test, vi } from "vitest";
import { createRunAlarm } from "../../../worker/run/run-alarm.ts";

function open() {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  const storage = { setAlarm: vi.fn(async (_at: number) => {}) };
  return { alarm: createRunAlarm(storage, "task_1"), storage, log };
}

test("a duty that fails keeps none of the others from being done, in their order", async () => {
  const { alarm, log } = open();
  const done: string[] = [];
  const duty = (name: string, fails = false): [string, () => Promise<void>] => [
    name,
    async () => {
      done.push(name);
      if (fails) throw new Error("the project is full");
    },
  ];
  const names = ["start", "watch", "cleanup", "mirror"];
  await alarm.run(Object.fromEntries(names.map((name) => duty(name, name !== "mirror"))));
  expect(done).toEqual(names);
  expect(log.mock.calls.map(([line]) => JSON.parse(String(line)).work)).toEqual(names.slice(0, -1));
  log.mockRestore();
});

test("backs off while a duty fails, up to a minute, and starts over once all are done", async () => {
  const { alarm, log } = open();
  const fails = { mirror: () => Promise.reject(new Error("KV is away")) };
  const pauses: number[] = [];
  for (let time = 0; time < 8; time++) pauses.push(await alarm.run(fails));
  expect(pauses).toEqual([2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  expect(await alarm.run({ mirror: async () => {} })).toBe(0);
  expect(await alarm.run(fails)).toBe(2000);
  log.mockRestore();
});

test("an alarm is set again only to an earlier time, or after it has gone off", async () => {
  const { alarm, storage, log } = open();
  for (const at of [5000, 6000, 4000]) await alarm.set(at);
  alarm.gone();
  await alarm.set(9000);
  expect(storage.setAlarm.mock.calls).toEqual([[5000], [4000], [9000]]);
  log.mockRestore();
});
