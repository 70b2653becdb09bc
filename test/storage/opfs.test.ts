import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Lab, openLab } from "../browser/lab.ts";
import { CASES } from "../browser/opfs.page.ts";
import { CASES as FULL } from "../browser/opfs-full.page.ts";
import { CASES as OTHER } from "../browser/opfs-other.page.ts";
import { withRoom } from "../browser/room.ts";

const MB = 1024 * 1024;
let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
});
afterEach(() => expect(lab.complaints.splice(0)).toEqual([]));
afterAll(() => lab?.close());

test.for(Object.keys(CASES))("the browser's own files in a page: %s", (name) =>
  lab.run("/test/browser/opfs.page.ts", name, "page"),
);

test.for(Object.keys(CASES))("the browser's own files in a worker: %s", (name) =>
  lab.run("/test/browser/opfs.page.ts", name, "worker"),
);

test.for(Object.keys(OTHER))("the browser's own files, but for a part: %s", (name) =>
  lab.run("/test/browser/opfs-other.page.ts", name, "worker"),
);

test.for(
  Object.keys(FULL).flatMap((name) => (["page", "worker"] as const).map((where) => [name, where] as const)),
)("the browser's own files with little room: %s, in a %s", ([name, where]) =>
  withRoom(lab, 4 * MB, () => lab.run("/test/browser/opfs-full.page.ts", name, where)),
);
