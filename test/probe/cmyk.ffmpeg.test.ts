import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { refuseScans } from "../../src/encoders/light/light-estimate.ts";
import { parseFfprobe } from "../../src/media/ffmpeg/ffprobe.ts";
import { type JpegKind, plainJpeg, progressiveJpeg } from "../fixtures/jpeg.ts";
import { runFfmpeg, runFfprobe } from "../fixtures/make-clip.ts";
import { colorDistance, readPicture } from "../judge/picture.ts";
import { imageSource } from "../plan/source.ts";

// ITU-T T.871 for YCbCr, whose RGB is the ink; a color is what three inks and black leave.
const ROWS: readonly {
  kind: JpegKind;
  samples: readonly [number, number, number, number];
  color: readonly [number, number, number];
}[] = [
  { kind: "cmyk", samples: [228, 28, 50, 240], color: [215, 26, 47] },
  { kind: "ycck", samples: [192, 64, 64, 228], color: [137, 0, 158] },
];

test.each(ROWS)("a JPEG in $kind has its colors, and no alpha", async ({ kind, samples, color }) => {
  const folder = await mkdtemp(join(tmpdir(), "framewright-cmyk-"));
  try {
    const [jpeg, png] = [join(folder, "a.jpg"), join(folder, "a.png")];
    const bytes = plainJpeg(kind, samples);
    await writeFile(jpeg, bytes);
    const source = parseFfprobe(await runFfprobe(jpeg), { url: jpeg, filesize: bytes.length });
    expect(source).toMatchObject({ kind: "image", format: "jpeg", width: 16, height: 16, has_alpha: false });
    await runFfmpeg(["-i", jpeg, png]);
    const { at } = await readPicture(png);
    for (const x of [0, 15]) expect(colorDistance(at(x, x), [...color, 255])).toBeLessThan(6);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("the buffers of a progressive JPEG count its black component", () => {
  const [coded_width, coded_height] = [6400, 4800];
  const source = imageSource({ format: "jpeg", coded_width, coded_height, pixel_format: "gbrap" });
  const refusal = refuseScans(progressiveJpeg(coded_width, coded_height), source);
  expect(refusal).toMatchObject({ code: "memory" });
  const samples = 4 * coded_width * coded_height;
  expect(refusal && "needed_bytes" in refusal && refusal.needed_bytes).toBeGreaterThan(2 * samples);
});
