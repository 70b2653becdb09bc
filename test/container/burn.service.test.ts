import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { writeAss } from "../../src/subtitles/ass.ts";
import { clip } from "../fixtures/clips.ts";
import { type Rig, startRig } from "./rig.ts";

const FONT = createRequire(import.meta.url).resolve("dejavu-fonts-ttf/ttf/DejaVuSans.ttf");

let folder: string;
let rig: Rig;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-no-libass-"));
  // This machine's ffmpeg behind a wrapper that hides libass.
  const { PATH = "" } = process.env;
  const real = `PATH=${PATH}; export PATH`;
  const program = `#!/bin/sh\n${real}\ncase "$*" in\n*-filters*) ffmpeg "$@" | grep -v ' ass ' ;;\n*) exec ffmpeg "$@" ;;\nesac\n`;
  await writeFile(join(folder, "ffmpeg"), program);
  await chmod(join(folder, "ffmpeg"), 0o755);
  rig = await startRig({ PATH: `${folder}:${PATH}` });
});
afterAll(async () => {
  await rig?.close();
  await rm(folder, { recursive: true, force: true });
});

test("an ffmpeg without libass refuses burnt-in subtitles with a reason, and a path that is none is refused", async () => {
  const subtitles = [{ url: "https://example.com/a.srt", burn: true }];
  const job = await rig.job(await clip("mp4", { seconds: 1 }), "video", { subtitles });
  const colors = { letters: [255, 255, 255], outline: null, box: null };
  const look = { width: 160, height: 90, font: "DejaVu Sans", size: 8, colors };
  const text = new TextEncoder().encode(writeAss([], look));
  const further = [
    { url: rig.origin.serve("/text", { file: text }), size: text.length, etag: "v1" },
    { url: rig.origin.serve("/font", { file: FONT }), size: 757_076, etag: "v1" },
  ];
  expect(await rig.run({ ...job, further })).toMatchObject({
    state: "failed",
    error: {
      kind: "encoder_unavailable",
      message: "No encoder here can do this (native: native ffmpeg cannot draw subtitles into pictures).",
    },
  });
  const bad = {
    ...job,
    further,
    plan: { ...job.plan, video: { ...job.plan.video, burn: { file: "../x" } } },
  };
  const refused = await rig.call("POST", "/jobs", bad);
  expect([refused.status, await refused.json()]).toMatchObject([400, { kind: "request_invalid" }]);
  const lacking = await rig.call("POST", "/jobs", job);
  expect([lacking.status, await lacking.json()]).toMatchObject([400, { param: "further" }]);
});
