import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { dropped } from "../../src/media/dropped.ts";
import { stitch } from "../../src/mux/stitch.ts";
import { keepClip, makeClip } from "../fixtures/make-clip.ts";
import { runNative } from "../judge/native.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { bytesReader, probeFile } from "../probe/probe-file.ts";
import { encodeChunk } from "./native-encode.ts";

// The left half is clear, the right half opaque red; the chunks must not lose a picture's transparency.
const clip = (codec: "libvpx" | "libvpx-vp9") =>
  makeClip("webm", [
    ...[
      "-f",
      "lavfi",
      "-i",
      "color=red:s=320x240:d=2:r=25,format=yuva420p,geq=lum='p(X,Y)':cb='cb(X,Y)':cr='cr(X,Y)':a='255*gte(X,160)'",
    ],
    ...["-c:v", codec, "-pix_fmt", "yuva420p", "-auto-alt-ref", "0", "-b:v", "500k", "-deadline", "realtime"],
  ]);

async function alphaOf(path: string): Promise<number[][]> {
  const filters = "alphaextract,scale=4:1:flags=area,format=gray";
  const { output } = await runNative([
    "-c:v",
    "libvpx-vp9",
    "-i",
    path,
    "-vf",
    filters,
    "-f",
    "rawvideo",
    "-",
  ]);
  const frames = [...new Uint8Array(output)];
  return Array.from({ length: frames.length / 4 }, (_, at) => [frames[4 * at] ?? 0, frames[4 * at + 3] ?? 0]);
}

test.for(["libvpx", "libvpx-vp9"] as const)(
  "%s keeps its transparency in WebM, whole, trimmed and in parts",
  async (codec) => {
    const path = await clip(codec);
    const { source } = await probeFile(path);
    expect(source.has_alpha).toBe(true);
    for (const options of [
      { format: "webm", width: 160 },
      { format: "webm", start: 0.5, end: 1.5, fps: 10 },
    ] as const) {
      const plan = createPlan(source, "video", options);
      expect(dropped("video", options, source)).toEqual([]);
      const [chunk] = plan.chunks;
      if (!chunk) throw new Error("A short plan has a chunk.");
      const { path: whole } = await encodeChunk(path, source, plan, chunk);
      const parts = [0, 1].map(() => whole);
      const inputs = await Promise.all(
        parts.map(async (part) => bytesReader(new Uint8Array(await readFile(part)))),
      );
      const seconds = "end" in options ? 1 : 2;
      const body = stitch({
        format: "webm",
        video: inputs.map((input, at) => ({ input, at: at * seconds })),
        audio: null,
      });
      const joined = await keepClip("webm", `${whole} twice`, async (file) =>
        writeFile(file, new Uint8Array(await new Response(body).arrayBuffer())),
      );
      const frames = await alphaOf(joined);
      expect(frames).toHaveLength(2 * ("end" in options ? 10 : 50));
      for (const [clear = 255, opaque = 0] of frames) {
        expect(clear).toBeLessThan(8);
        expect(opaque).toBeGreaterThan(247);
      }
    }
  },
);
