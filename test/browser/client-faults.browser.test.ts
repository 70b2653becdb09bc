import type { Page } from "@playwright/test";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { type ClientLab, openClientLab, openKit, spoilWorkers } from "./client-rig.ts";

// Errors of requests that cannot even be stored.
let rig: ClientLab;
beforeAll(async () => {
  rig = await openClientLab();
  await rig.serve(await clip("wav", { seconds: 1 }), "sound.wav");
});
afterAll(() => rig?.close());
beforeEach(async () => {
  await rig.lab.page.goto(rig.lab.url);
  return () => rig.lab.page.evaluate(() => kit.client.close());
});

/** Runs a task on a file of the lab; returns its error, or the error that rejected the request. */
const errorOf = (page: Page = rig.lab.page) =>
  page.evaluate(async () => {
    const plain = ({ kind, message, retryable }: { kind: string; message: string; retryable: boolean }) => ({
      ...{ kind, message, retryable },
    });
    try {
      const input = await kit.file("/files/sound.wav");
      const { error } = await kit.client.tasks.wait(await kit.client.tasks.create({ input, kind: "audio" }));
      return error && plain(error);
    } catch (thrown) {
      return plain(thrown as never);
    }
  });

test.for([
  {
    name: "DataError",
    kind: "input_unreachable",
    what: "could not store the file, which may have been changed, moved or deleted after it was chosen",
  },
  {
    name: "DataCloneError",
    kind: "service_unavailable",
    what: "could not copy the data to store; try again",
  },
  {
    name: "UnknownError",
    kind: "service_unavailable",
    what: "could not use the database of this page; try again",
  },
] as const)("a $name of the database becomes a clear error", async ({ name, kind, what }) => {
  await spoilWorkers(
    rig.lab.page,
    `const put = IDBObjectStore.prototype.put;
    IDBObjectStore.prototype.put = function (...args) {
      if (this.name === "inputs") throw new DOMException("Its words.", "${name}");
      return put.apply(this, args);
    };`,
  );
  await openKit(rig.lab.page, { name: "throws" });
  const error = { kind, message: `The browser ${what}: Its words.`, retryable: name !== "DataError" };
  expect(await errorOf()).toEqual(error);
});

test("rejects a handle whose file no longer exists", async () => {
  await openKit(rig.lab.page, { name: "nowhere" });
  const error = await rig.lab.page.evaluate(async () => {
    const root = await navigator.storage.getDirectory();
    const input = await root.getFileHandle("lost.wav", { create: true });
    await root.removeEntry("lost.wav");
    const { kind, message } = await kit.client.tasks.create({ input, kind: "audio" }).then(
      () => ({ kind: "", message: "" }),
      (thrown) => thrown,
    );
    return { kind, message };
  });
  expect(error).toEqual({
    kind: "input_unreachable",
    message:
      "The file lost.wav no longer exists: it was moved or deleted after it was chosen; choose it again.",
  });
});

test("resolves a relative URL against the page's URL", async () => {
  await openKit(rig.lab.page, { name: "relative" });
  const input = await rig.lab.page.evaluate(async () => {
    const task = await kit.client.tasks.create({ input: "files/sound.wav", kind: "audio" });
    return [task.input, (await kit.client.tasks.wait(task)).status];
  });
  expect(input).toEqual([new URL("files/sound.wav", rig.lab.url).href, "succeeded"]);
});

test("a wrong `workers` URL fails the task with a clear error", async () => {
  await openKit(rig.lab.page, { name: "astray", workers: "/nowhere" });
  const { kind, message } = (await errorOf()) ?? {};
  expect(kind).toBe("worker_lost");
  expect(message).toBe(
    'The media worker could not be started: its file could not be loaded. If your bundler did not find it, serve dist/workers and dist/core of the package side by side on the page\'s own origin, and name the first as workers: "/…/workers/".',
  );
});

test("rejects tasks on an insecure page, and says why", async () => {
  const page = await rig.lab.context.newPage();
  const { origin, pathname } = new URL(rig.lab.url);
  await page.route("http://insecure.test/**", async (route) => {
    const url = route.request().url().replace("http://insecure.test", origin);
    await route.fulfill({ response: await route.fetch({ url }) });
  });
  await page.goto(`http://insecure.test${pathname}`);
  await openKit(page, { name: "insecure" });
  expect(await errorOf(page)).toEqual({
    kind: "service_unavailable",
    message:
      "The local client needs a page that is served over https:// or from localhost: the browser denies others files and locks.",
    retryable: false,
  });
  await page.close();
  await openKit(rig.lab.page, { name: "secure" });
});
