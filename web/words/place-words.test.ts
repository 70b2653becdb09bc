import { expect, test } from "vitest";
import type { Task } from "../../src/index.ts";
import { createTask } from "../../src/runs/task.ts";
import { createItem } from "../queue/create-item.ts";
import type { Item } from "../queue/item.ts";
import { describeEncoder, describePlace } from "./place-words.ts";

const draft = createItem("https://a.example/b.mp4");
const edge: Item = {
  ...{ ...draft, service: "https://media.example" },
  wishes: { ...draft.wishes, place: "edge" },
};

function taskOf(status: Task["status"], encoded?: { encoder: string; reason: string }): Task {
  const request = { input: "file:", kind: "video", options: {}, metadata: {} } as const;
  const task = createTask(request, (prefix) => `${prefix}_1`, 0);
  const output = encoded
    ? ({ object: "source", url: "", kind: "video", format: "mp4", ...encoded } as const)
    : null;
  return {
    ...task,
    status,
    steps: task.steps.map((step, n) => (n === 2 ? { ...step, output } : step)),
  } as Task;
}

test("describes the place before, during and after a task, with the encoder and its reason", () => {
  expect(describePlace(draft)).toBe("Will run on this device; nothing is sent anywhere.");
  expect(describePlace({ ...edge, service: null })).toBe("Will run on the edge; its address is sent there.");
  expect(describePlace({ ...edge, service: null, input: new Blob() })).toBe(
    "Will run on the edge; the file is sent there.",
  );
  expect(describePlace({ ...edge, task: taskOf("queued") })).toBe("Runs on the edge (media.example).");
  expect(describePlace({ ...draft, task: taskOf("failed") })).toBe("Ran on this device.");
  const choice = { encoder: "webcodecs", reason: "Faster here: 8 s, not 16 s." };
  const pace = { progress: 12, speed: null, eta: null, choice };
  const how = "with the browser's own encoder (WebCodecs). Faster here: 8 s, not 16 s.";
  expect(describePlace({ ...draft, task: taskOf("processing"), pace })).toBe(`Runs on this device ${how}`);
  expect(describePlace({ ...draft, task: taskOf("failed"), pace })).toBe(`Ran on this device ${how}`);
  const reason = "Encoded in 2 parts; a reload repeats at most one.";
  expect(describePlace({ ...draft, task: taskOf("succeeded", { encoder: "wasm", reason }) })).toBe(
    `Made on this device with FFmpeg in WebAssembly. ${reason}`,
  );
  expect(describeEncoder({ encoder: "wasm", reason })).toBe(`with FFmpeg in WebAssembly. ${reason}`);
  const copied = { encoder: "copy", reason: "Copied without re-encoding." };
  expect(describePlace({ ...draft, task: taskOf("succeeded", copied) })).toBe(
    "Made on this device. Copied without re-encoding.",
  );
  expect(describeEncoder(copied)).toBe("Copied without re-encoding.");
  expect(describeEncoder({})).toBe(null);
});
