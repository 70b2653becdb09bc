import { expect, test } from "vitest";
import { createTask } from "../../src/core/task.ts";
import type { Source, TaskStatus } from "../../src/index.ts";
import { announce } from "./announcements.ts";
import { createItem } from "./create-item.ts";
import type { Item } from "./item.ts";
import { stateOf } from "./queue.ts";
import { totalsOf } from "./totals.ts";

const source: Source = { object: "source", url: "file:", kind: "video", format: "mp4" };
const request = { input: "file:", kind: "video", options: {}, metadata: {} } as const;

function item(name: string, more: Partial<Item> = {}): Item {
  return { ...createItem(`https://a.example/${name}`), ...more };
}

function taskOf(status: TaskStatus, created_at = 1000, finished_at: number | null = null): Item["task"] {
  return { ...createTask(request, (sort) => `${sort}_1`, created_at), status, finished_at } as Item["task"];
}

const at = (progress: number) => ({ progress, speed: null, eta: null });

test("items stand as their task does, and before there is one as they are read", () => {
  const states = [
    item("a"),
    item("a", { fault: { kind: "input_unsupported", message: "" } }),
    item("a", { source, fault: { kind: "invalid_options", message: "" } }),
    item("a", { source, starting: { sent: null } }),
    item("a", { source, task: taskOf("processing") }),
    item("a", { source, task: taskOf("queued"), waiting: { name: "a", size: 1, reason: "gone" } }),
  ].map(stateOf);
  expect(states).toEqual(["reading", "unusable", "ready", "sending", "processing", "waiting"]);
});

test("ids rise, and names are read from addresses", () => {
  const items = ["b%20c.mp4?x=1", "", "%ff/"].map((part) => createItem(`https://a.example/${part}`));
  expect(items.map(({ name }) => name)).toEqual(["b c.mp4", "a.example", "%ff"]);
  expect(items.map(({ id }) => id).toSorted()).toEqual(items.map(({ id }) => id));
});

test("a batch is measured together, without what had ended before it", () => {
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

test("starts, quarters, ends and faults are said once, and many at once are counted", () => {
  const draft = item("clip.mp4", { source });
  const running = { ...draft, task: taskOf("processing") };
  const said = (before: Item, after: Item) => announce([before], [after]);
  expect(announce([], [draft])).toBe("");
  expect(said(draft, running)).toBe("clip.mp4: converting.");
  expect(said(running, { ...running, pace: at(24) })).toBe("");
  expect(said({ ...running, pace: at(24) }, { ...running, pace: at(51) })).toBe("clip.mp4: 50 %.");
  expect(said(running, { ...draft, task: taskOf("succeeded") })).toBe("clip.mp4: done.");
  const error = { kind: "out_of_memory", message: "No.", retryable: false } as const;
  const failed = { ...running, task: { ...running.task, status: "failed", error } as Item["task"] };
  expect(said(running, failed)).toBe("clip.mp4: failed. There was not enough memory.");
  const many = ["a", "b", "c", "d"].map((name) => item(name, { source }));
  const started = many.map((each) => ({ ...each, task: taskOf("processing") }));
  expect(announce(many, started)).toBe("4 files: converting.");
});
