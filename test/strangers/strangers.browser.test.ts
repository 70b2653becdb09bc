import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { writeOrientedClip } from "../judge/oriented.ts";
import { HOSTS } from "./hosts.ts";
import { type Entry, manifestText, tableOf, tryStrangers } from "./run.ts";

const home = await mkdtemp(join(tmpdir(), "framewright-strangers-test-"));
afterAll(() => rm(home, { recursive: true, force: true }));

test("tries each file of a folder on every host, and continues where it stopped", async () => {
  const folder = join(home, "files");
  const good = await clip("mp4");
  await cp(good, join(folder, "some+one", "good.mp4"), { recursive: true });
  await writeFile(join(folder, "some+one", "cut.mp4"), (await readFile(good)).subarray(0, 900));
  await writeOrientedClip(6, join(folder, "some+one", "rotated.mp4"));
  await writeFile(join(folder, "some+one", "list.mp4"), "eggs, milk, a film for Saturday\n");
  const log = join(home, "log.jsonl");
  const run = () => tryStrangers(folder, HOSTS, log, AbortSignal.timeout(170_000));

  const entries = await run();
  const by = (path: string) => [...entries.values()].find((entry) => entry.path === path) as Entry;
  const results = (path: string) => HOSTS.map((name) => by(path).hosts[name]?.result);
  expect(results("good.mp4")).toEqual(["read", "read", "read"]);
  expect(results("rotated.mp4")).toEqual(["read", "read", "read"]);
  expect(by("rotated.mp4")).toMatchObject({ from: "some/one", decodes: "clean", codecs: "h264" });
  expect(results("cut.mp4")).toEqual(["refused", "refused", "refused"]);
  expect(by("list.mp4")).toEqual({
    from: "some/one",
    path: "list.mp4",
    decodes: "no",
    hosts: Object.fromEntries(
      HOSTS.map((name) => [
        name,
        { result: "refused", reason: "input_unsupported: The file is text, not media." },
      ]),
    ),
  });
  expect(tableOf(entries.values(), ["native"])).toContain("| all | 2 | 2 | 0 |");

  const written = await readFile(log, "utf8");
  expect(manifestText(await run())).toBe(manifestText(entries));
  expect(await readFile(log, "utf8")).toBe(written);
});
