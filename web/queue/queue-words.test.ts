import { expect, test } from "vitest";
import type { Source, TaskStatus } from "../../src/index.ts";
import { createTask } from "../../src/runs/task.ts";
import { announce } from "./announcements.ts";
import { createItem, type Item } from "./item.ts";
import { stateOf, totalsOf } from "./queue.ts";

const source: Source = { object: "source", url: "file:", kind: "video", format: "mp4" };
const request = { input: "file:", kind: "video", options: {}, metadata: {} } as const;

function item(name: string, more: Partial<Item> = {}): Item {
  return { ...createItem(`https://a.example/${name}`), ...more };
}

function taskOf(status: TaskStatus, created_at = 1000, finished_at: number | null = null): Item["task"] {
  return {
    ...createTask(request, (prefix) => `${prefix}_1`, created_at),
    status,
    finished_at,
  } as Item["task"];
}

const at = (progress: number) => ({ progress, speed: null, eta: null });

test("an item has the state of its task, or before that of its reading", () => {
  const states = [
    item("a"),
    item("a", { fault: { kind: "input_unsupported", message: "" } }),
    item("a", { source, fault: { kind: "invalid_options", message: "" } }),
    item("a", { source, starting: { percent: null } }),
    item("a", { source, task: taskOf("processing") }),
    item("a", { source, task: taskOf("queued"), waiting: { name: "a", size: 1, reason: "gone" } }),
  ].map(stateOf);
  expect(states).toEqual(["reading", "unusable", "ready", "sending", "processing", "waiting"]);
});

test("ids ascend, and names come from the URLs", () => {
  const items = ["b%20c.mp4?x=1", "", "%ff/"].map((part) => createItem(`https://a.example/${part}`));
  expect(items.map(({ name }) => name)).toEqual(["b c.mp4", "a.example", "%ff"]);
  expect(items.map(({ id }) => id).toSorted()).toEqual(items.map(({ id }) => id));
});

test("totals cover the current batch, without tasks that ended before it", () => {
  const items = [
    item("old", { task: taskOf("succeeded", 10, 500) }),
    item("done", { task: taskOf("succeeded", 1000, 3000) }),
    item("half", { task: taskOf("processing", 1000), pace: at(50) }),
    item("next", { task: taskOf("queued", 1000) }),
    item("draft", { source }),
  ];
  expect(totalsOf(items)).toEqual({ ready: 1, running: 2, succeeded: 2, over: 2, percent: 50 });
  expect(totalsOf(items.slice(0, 2)).percent).toBeNull();
});

test("announces starts, quarters, ends and failures; counts many at once", () => {
  const draft = item("clip.mp4", { source });
  const running = { ...draft, task: taskOf("processing") };
  const announced = (before: Item, after: Item) => announce([before], [after]);
  expect(announce([], [draft])).toBe("");
  expect(announced(draft, running)).toBe("clip.mp4: converting.");
  expect(announced(running, { ...running, pace: at(24) })).toBe("");
  expect(announced({ ...running, pace: at(24) }, { ...running, pace: at(51) })).toBe("clip.mp4: 50 %.");
  expect(announced(running, { ...draft, task: taskOf("succeeded") })).toBe("clip.mp4: done.");
  const error = { kind: "out_of_memory", message: "No.", retryable: false } as const;
  const failed = { ...running, task: { ...running.task, status: "failed", error } as Item["task"] };
  expect(announced(running, failed)).toBe("clip.mp4: failed. There was not enough memory.");
  const many = ["a", "b", "c", "d"].map((name) => item(name, { source }));
  const started = many.map((each) => ({ ...each, task: taskOf("processing") }));
  expect(announce(many, started)).toBe("4 files: converting.");
});
