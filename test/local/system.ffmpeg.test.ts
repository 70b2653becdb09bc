import { execFileSync } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { findProgram, requireTools } from "../../worker/local/system.ts";
import { runScript } from "./run-script.ts";

// A PATH with only the programs of a test.
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-path-"));
  return () => rm(folder, { recursive: true, force: true });
});

test("finds installed programs", () => {
  const path = findProgram("ffmpeg") ?? "";
  expect(execFileSync(path, ["-version"], { encoding: "utf8" })).toMatch(/^ffmpeg version /);
  expect(() => requireTools(["ffmpeg", "ffprobe"])).not.toThrow();
});

test("ignores files that are not executable", async () => {
  await writeFile(join(folder, "ffmpeg"), "", { mode: 0o644 });
  expect(findProgram("ffmpeg", { PATH: folder })).toBeNull();
  expect(findProgram("ffmpeg", {})).toBeNull();
});

test("without apt-get, exits with code 1 and one line that names the missing programs", async () => {
  await symlink(findProgram("ffmpeg") ?? "", join(folder, "ffmpeg"));
  const script = runScript("system", ["ffmpeg", "ffprobe", "chromium"], { PATH: folder });
  expect(await script.ended).toBe(1);
  expect(script.output()).toBe(
    "error: ffprobe, chromium missing on this machine: install ffmpeg and chromium and try again.\n",
  );
});

test("quotes the error of a failing apt-get", async () => {
  // A real failure: apt-get with folders that do not exist.
  const apt = findProgram("apt-get");
  if (!apt) return;
  await writeFile(
    join(folder, "apt-get"),
    `#!/bin/sh\nexec ${apt} -o Dir=${folder} -o Dir::State=${folder}/none/none "$@"\n`,
    { mode: 0o755 },
  );
  const script = runScript("system", ["chromium"], { PATH: folder });
  expect(await script.ended).toBe(1);
  expect(script.output()).toContain("Installing chromium with apt-get (chromium missing on this machine)…\n");
  expect(script.output()).toMatch(/^error: apt-get \w+ failed: .+/m);
});
