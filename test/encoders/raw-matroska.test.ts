import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rawMatroskaPicture, rawMatroskaStart } from "../../src/encoders/raw-matroska.ts";
import { makeClip, runFfprobe } from "../fixtures/make-clip.ts";
import { runNative } from "../judge/native.ts";

const SIZE = { width: 64, height: 36 } as const;
const BYTES = (SIZE.width * SIZE.height * 3) / 2;
// Seconds: none, one that is no whole number of milliseconds, a pause, and more than 32 bits of microseconds.
const TIMES = [0, 0.033367, 2.5, 5000] as const;

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "framewright-raw-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.for([
  ["I420", "yuv420p"],
  ["NV12", "nv12"],
] as const)(
  "pictures as %s come out of native ffmpeg at their times as they went in",
  async ([layout, pixels]) => {
    const source = `testsrc2=s=${SIZE.width}x${SIZE.height}:r=25`;
    const raw = ["-f", "lavfi", "-i", source, "-frames:v", String(TIMES.length), "-pix_fmt", pixels];
    const pictures = await readFile(await makeClip("raw", [...raw, "-f", "rawvideo"]));
    const parts = [rawMatroskaStart({ ...SIZE, layout, fps: 25 })];
    for (const [index, at] of TIMES.entries()) {
      const picture = pictures.subarray(index * BYTES, (index + 1) * BYTES);
      parts.push(rawMatroskaPicture(Math.round(at * 1e6), BYTES), picture);
    }
    const path = join(folder, `${layout}.mkv`);
    await writeFile(path, Buffer.concat(parts));
    const report = (await runFfprobe(path, ["-show_entries", "packet=pts_time"])) as {
      streams: object[];
      packets: { pts_time: string }[];
    };
    expect(report.streams).toMatchObject([
      { codec_name: "rawvideo", pix_fmt: pixels, avg_frame_rate: "25/1" },
    ]);
    expect(report.packets.map(({ pts_time }) => Number(pts_time))).toEqual(TIMES);
    const { output } = await runNative(["-i", path, "-fps_mode", "passthrough", "-f", "rawvideo", "-"]);
    expect(Buffer.compare(output, pictures)).toBe(0);
  },
);
