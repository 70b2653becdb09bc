import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { readHeaderFacts } from "../../src/encoders/light/header-facts.ts";
import { type ClipName, clip } from "../fixtures/clips.ts";

const size = { width: 160, height: 90 };
const IMAGES: [ClipName, object][] = [
  ["jpeg", { format_name: "jpeg_pipe", codec_name: "mjpeg", ...size, frames: 1, pix_fmt: "yuvj420p" }],
  ["png", { format_name: "png_pipe", codec_name: "png", ...size, frames: 1, pix_fmt: "rgb24" }],
  ["png_alpha", { format_name: "png_pipe", codec_name: "png", ...size, frames: 1, pix_fmt: "rgba" }],
  [
    "png_odd",
    { format_name: "png_pipe", codec_name: "png", width: 161, height: 91, frames: 1, pix_fmt: "rgb24" },
  ],
  ["png_animated", { format_name: "apng", codec_name: "apng", ...size, frames: 50, pix_fmt: "rgb24" }],
  ["gif", { format_name: "gif", codec_name: "gif", ...size, pix_fmt: "bgra" }],
  ["gif_animated", { format_name: "gif", codec_name: "gif", ...size, frames: 2, pix_fmt: "bgra" }],
  ["webp", { format_name: "webp_pipe", codec_name: "webp", ...size, frames: 1 }],
  ["webp_animated", { format_name: "webp_pipe", codec_name: "webp", ...size, frames: 50 }],
  ["bmp", { format_name: "bmp_pipe", codec_name: "bmp", ...size, frames: 1 }],
  ["avif", { format_name: "avif", codec_name: "av1", ...size, frames: 1 }],
];

test.for(IMAGES)("reads the facts in the header of %s", async ([name, facts]) => {
  expect(readHeaderFacts(await readFile(await clip(name)))).toMatchObject(facts);
});

test.for<ClipName>(["mp4", "webm", "mp3", "wav", "avi", "mpegts"])(
  "leaves the header of %s to ffprobe",
  async (name) => {
    expect(readHeaderFacts(await readFile(await clip(name)))).toBeNull();
  },
);

test.for(IMAGES)(
  "reads nothing from a %s cut off in its header, and its size from then on",
  async ([name]) => {
    const file = await readFile(await clip(name));
    const whole = readHeaderFacts(file);
    const { width, height, frames = 0, format_name, codec_name } = whole ?? {};
    let least: number | null = null;
    for (let length = 0; length <= Math.min(file.length, 1024); length++) {
      const facts = readHeaderFacts(file.subarray(0, length));
      if (facts === null) expect([length, least]).toEqual([length, null]);
      else {
        least ??= length;
        expect(facts).toMatchObject({ width, height });
        // An animation looks like a still until more of its header is there.
        if (facts.frames === frames) expect(facts).toMatchObject({ format_name, codec_name });
        else expect(facts.frames).toBeLessThan(frames);
      }
    }
    // No format has its size in fewer bytes.
    expect(least).toBeGreaterThanOrEqual(10);
  },
);

test("reads the size of the whole picture, not of its tiles", () => {
  const box = (kind: string, ...parts: Uint8Array[]) => {
    const body = Buffer.concat(parts);
    const head = Buffer.alloc(8);
    head.writeUInt32BE(body.length + 8);
    head.write(kind, 4, "latin1");
    return Buffer.concat([head, body]);
  };
  const ispe = (width: number, height: number) => {
    const body = Buffer.alloc(12);
    body.writeUInt32BE(width, 4);
    body.writeUInt32BE(height, 8);
    return box("ispe", body);
  };
  const properties = box("iprp", box("ipco", ispe(512, 512), ispe(4032, 3024), ispe(320, 240)));
  const file = Buffer.concat([
    box("ftyp", Buffer.from("heic\0\0\0\0mif1heic", "latin1")),
    box("meta", Buffer.alloc(4), properties),
  ]);
  expect(readHeaderFacts(file)).toMatchObject({
    format_name: "heic",
    codec_name: "hevc",
    width: 4032,
    height: 3024,
  });
});
