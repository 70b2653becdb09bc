import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { CASES } from "../browser/indexeddb.page.ts";
import { CASES as NONE } from "../browser/indexeddb-none.page.ts";
import { type Lab, openLab } from "../browser/lab.ts";
import { withRoom } from "../browser/room.ts";

let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ own: {} });
});
afterEach(() => expect(lab.complaints.splice(0)).toEqual([]));
afterAll(() => lab?.close());

test.for(Object.keys(CASES))("IndexedDB in a page %s", (name) =>
  lab.run("/test/browser/indexeddb.page.ts", name, "page"),
);

test.for(Object.keys(CASES))("IndexedDB in a worker %s", (name) =>
  lab.run("/test/browser/indexeddb.page.ts", name, "worker"),
);

test.for(Object.keys(NONE))("a worker without IndexedDB %s", (name) =>
  lab.run("/test/browser/indexeddb-none.page.ts", name, "worker"),
);

test("reports a store without room, and works again once there is some", async () => {
  // The browser counts what other tests stored here with a delay.
  const empty = await openLab({ own: {} });
  onTestFinished(() => empty.close());
  const put = () =>
    empty.page.evaluate(async () => {
      const { openIndexedDb } = await import("../../src/stores/indexeddb.ts");
      const { pieces, close } = await openIndexedDb({ name: "full" });
      const random = new Uint8Array(8 * 1024 * 1024);
      for (let at = 0; at < random.length; at += 65_536) {
        crypto.getRandomValues(random.subarray(at, at + 65_536));
      }
      const failure = await pieces.put("task_1", "chunk 0", random).then(
        () => null,
        ({ kind, message, retryable }) => ({ kind, message, retryable }),
      );
      const piece = await pieces.get("task_1", "chunk 0");
      close();
      return { failure, is_stored: piece !== null };
    });
  const failure = {
    kind: "storage_full",
    message: "The browser has no room left for this page; delete finished tasks, or free space on the disk.",
    retryable: false,
  };
  expect(await withRoom(empty, 1024 * 1024, put)).toEqual({ failure, is_stored: false });
  expect(await put()).toEqual({ failure: null, is_stored: true });
  expect(empty.complaints).toEqual([]);
});

test("waits for an older version in another tab, then reports it", async () => {
  const old = await lab.newPage();
  await old.evaluate(async () => {
    const request = indexedDB.open("blocked", 1);
    await new Promise((resolve) => {
      request.onupgradeneeded = () => {
        for (const name of ["tasks", "steps"]) request.result.createObjectStore(name, { keyPath: "id" });
        request.result.createObjectStore("pieces", { keyPath: ["run_id", "name"] });
      };
      request.onsuccess = resolve;
    });
    Object.assign(window, { held: request.result });
  });
  const open = (blockedMs: number) =>
    lab.page.evaluate(async (blockedMs) => {
      const { openIndexedDb } = await import("../../src/stores/indexeddb.ts");
      let blocked = 0;
      const onBlocked = () => void blocked++;
      return openIndexedDb({ name: "blocked", blockedMs, onBlocked }).then(
        (stores) => {
          stores.close();
          return { blocked, version: "open" };
        },
        ({ kind, message, retryable }) => ({ blocked, kind, message, retryable }),
      );
    }, blockedMs);
  const error = {
    kind: "service_unavailable",
    message:
      "The store of this page cannot be opened: another tab has an older version of the page; close it and try again.",
    retryable: true,
  };
  expect(await open(300)).toEqual({ blocked: 1, ...error });
  // The browser fires `blocked` only for the first that waits.
  expect(await open(300)).toEqual({ blocked: 0, ...error });
  const patient = open(60_000);
  await old.close();
  expect(await patient).toEqual({ blocked: 0, version: "open" });
});

test("a tab closes its store for a newer version in another tab, and reports it", async () => {
  await lab.page.evaluate(async () => {
    const { openIndexedDb } = await import("../../src/stores/indexeddb.ts");
    const messages: string[] = [];
    const stores = await openIndexedDb({ name: "newer", onClosed: (error) => messages.push(error.message) });
    Object.assign(window, { messages, stores });
  });
  const newer = await lab.newPage();
  const version = await newer.evaluate(async () => {
    const request = indexedDB.open("newer", 99);
    await new Promise((resolve, reject) => {
      request.onsuccess = resolve;
      request.onerror = reject;
      request.onblocked = reject;
    });
    request.result.close();
    return request.result.version;
  });
  expect(version).toBe(99);
  const result = await lab.page.evaluate(async () => {
    const { messages, stores } = window as unknown as {
      messages: string[];
      stores: { tasks: { all(): Promise<unknown> } };
    };
    const error = await stores.tasks
      .all()
      .catch(({ kind, message, retryable }) => ({ kind, message, retryable }));
    return { messages, error };
  });
  const message = "A newer version of this page was opened in another tab; reload this one.";
  expect(result).toEqual({
    messages: [message],
    error: { kind: "service_unavailable", message, retryable: false },
  });
  await newer.close();
});
