import { expect, test, vi } from "vitest";
import { createRunAlarm } from "../../../worker/run/schedule.ts";

function open(arm = vi.fn(async (_pause: number) => {})) {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  const storage = { setAlarm: vi.fn(async (_at: number) => {}) };
  return { alarm: createRunAlarm(storage, "task_1", arm), storage, arm, log };
}

test("a failed duty does not keep the others from running, in their order", async () => {
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
  const { alarm, arm, log } = open();
  const fails = { mirror: () => Promise.reject(new Error("KV is away")) };
  for (let time = 0; time < 8; time++) await alarm.run(fails);
  await alarm.run({ mirror: async () => {} });
  await alarm.run(fails);
  const pauses = [2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000, 0, 2000];
  expect(arm.mock.calls.flat()).toEqual(pauses);
  log.mockRestore();
});

test("an alarm that cannot be set as due is set all the same, later each time", async () => {
  const { alarm, storage, log } = open(vi.fn(() => Promise.reject(new Error("A setting is wrong."))));
  vi.useFakeTimers({ now: 0 });
  for (let time = 0; time < 7; time++) {
    alarm.forget();
    await alarm.run({});
  }
  vi.useRealTimers();
  const pauses = [2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000];
  expect(storage.setAlarm.mock.calls.flat()).toEqual(pauses);
  log.mockRestore();
});

test("an alarm is set again only to an earlier time, or after it has gone off", async () => {
  const { alarm, storage, log } = open();
  for (const at of [5000, 6000, 4000]) await alarm.set(at);
  alarm.forget();
  await alarm.set(9000);
  expect(storage.setAlarm.mock.calls).toEqual([[5000], [4000], [9000]]);
  log.mockRestore();
});
