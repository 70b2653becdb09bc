import { expect, test } from "vitest";
import type { LocalClient } from "../../src/browser/index.ts";
import type { Client, EncoderChoice, Task, Update } from "../../src/index.ts";
import { createTask } from "../../src/runs/task.ts";
import { createItemFollower } from "./create-queue.ts";
import { createItem, type Item } from "./item.ts";
import type { ItemList } from "./item-list.ts";

const request = { input: "https://a.example/b.mp4", kind: "video", options: {}, metadata: {} } as const;
const queued = createTask(request, (prefix) => `${prefix}_1`, 0) as Task;
const encoding = {
  ...{ ...queued, status: "processing" },
  steps: queued.steps.map((step, n) => (n === 2 ? { ...step, status: "processing" } : step)),
} as Task;

/** Follows a task of a service whose updates name no encoder; each event stream opened reports the next choice. */
function followThere(choices: (EncoderChoice | null | undefined)[]) {
  let item: Item = { ...createItem(request.input), task: queued };
  let requests = 0;
  let listener = (_: Update<Task>) => {};
  const client = {
    on(_run: string, event: "update" | "error", added: typeof listener) {
      if (event === "update") listener = added;
      return () => {};
    },
    async *watch(record: Task) {
      yield { record, progress: 10, speed: null, eta: null, error: null, choice: choices[requests++] };
      throw new Error("Only the first event is read.");
    },
  };
  const list = {
    find: () => item,
    change(_: string, changes: Partial<Item>) {
      item = { ...item, ...changes };
    },
  };
  const clients = { of: () => client as unknown as Client, lose() {} };
  const follower = createItemFollower(list as unknown as ItemList, {} as LocalClient, clients);
  follower.follow(item);
  return {
    async tell(record: Task) {
      listener({ record, progress: 10, speed: null, eta: null, error: null, choice: null });
      await new Promise((resolve) => setTimeout(resolve));
      return [item.pace?.choice, requests];
    },
  };
}

test("asks a service for the encoder during the encode, until it names one", async () => {
  const light = { encoder: "light", reason: "it is small" };
  const { tell } = followThere([null, light]);
  expect(await tell(queued)).toEqual([undefined, 0]);
  expect(await tell(encoding)).toEqual([undefined, 1]);
  expect(await tell(encoding)).toEqual([light, 2]);
  expect(await tell(encoding)).toEqual([light, 2]);
});

test("asks only once a service that does not report encoders", async () => {
  const { tell } = followThere([undefined]);
  expect(await tell(encoding)).toEqual([undefined, 1]);
  expect(await tell(encoding)).toEqual([undefined, 1]);
});
