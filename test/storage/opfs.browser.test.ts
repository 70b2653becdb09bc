import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Lab, openLab } from "../browser/lab.ts";
import { CASES } from "../browser/opfs.page.ts";
import { CASES as FULL } from "../browser/opfs-full.page.ts";
import { CASES as OTHER } from "../browser/opfs-other.page.ts";
import { withRoom } from "../browser/room.ts";

const MB = 1024 * 1024;
let lab: Lab;
beforeAll(async () => {
  lab = await openLab({ own: {} });
});
afterEach(() => expect(lab.complaints.splice(0)).toEqual([]));
afterAll(() => lab?.close());

// A thousand objects take long, and a page writes them just as a worker does.
const IN_A_PAGE = Object.keys(CASES).filter((name) => !name.startsWith("clears more"));
test.for(IN_A_PAGE)("OPFS in a page: %s", (name) => lab.run("/test/browser/opfs.page.ts", name, "page"));

test.for(Object.keys(CASES))("OPFS in a worker: %s", (name) =>
  lab.run("/test/browser/opfs.page.ts", name, "worker"),
);

test.for(Object.keys(OTHER))("OPFS with a part missing: %s", (name) =>
  lab.run("/test/browser/opfs-other.page.ts", name, "worker"),
);

test.for(
  Object.keys(FULL).flatMap((name) => (["page", "worker"] as const).map((where) => [name, where] as const)),
)("OPFS with little room: %s, in a %s", async ([name, where]) => {
  // The browser counts what other tests stored with a delay.
  const empty = await openLab({ own: {} });
  onTestFinished(() => empty.close());
  await withRoom(empty, 4 * MB, () => empty.run("/test/browser/opfs-full.page.ts", name, where));
  expect(empty.complaints).toEqual([]);
});

test("a tab that closes during a write leaves nothing of it", async () => {
  const tab = await lab.newPage();
  await tab.evaluate(async () => {
    const { createOpfsStorage } = await import("../../src/storage/opfs.ts");
    const storage = await createOpfsStorage("closed-tab");
    await storage.write("whole", new Uint8Array(10), "video/mp4");
    let pulls = 0;
    const endless = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (pulls++ < 8) return controller.enqueue(new Uint8Array(65_536));
        document.title = "in the middle";
        await new Promise(() => {});
      },
    });
    void storage.write("half", endless, "video/mp4");
  });
  await tab.waitForFunction(() => document.title === "in the middle");
  await tab.close();
  const files = await lab.page.evaluate(async () => {
    const { createOpfsStorage } = await import("../../src/storage/opfs.ts");
    const origin = await navigator.storage.getDirectory();
    const folder = await (await origin.getDirectoryHandle("closed-tab")).getDirectoryHandle("unfinished");
    const names = async () => Array.fromAsync(folder.keys());
    const before = (await names()).length;
    // The file that the closed tab was writing stays locked until the browser releases it.
    let storage = await createOpfsStorage("closed-tab");
    while ((await names()).length > 0) storage = await createOpfsStorage("closed-tab");
    return [before > 0, (await storage.files("")).map(({ key }) => key)];
  });
  expect(files).toEqual([true, ["whole"]]);
});
