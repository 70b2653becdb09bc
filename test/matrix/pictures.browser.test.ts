import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp, { type Sharp } from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dropped } from "../../src/media/dropped.ts";
import type { Dropped, Source } from "../../src/media/source.ts";
import { type ClientLab, openClientLab, openKit } from "../browser/client-rig.ts";
import { clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { makePng } from "../inputs/png.ts";
import { type ChunkedHost, openChunkedHost } from "../integrity/chunked-host.ts";
import { apngWithDelays, gifOf } from "../judge/animations.ts";
import { jpegWithGainMap } from "../judge/color-profiles.ts";
import { readFacts } from "../judge/facts.ts";
import { ICON_COLOR, type IconPicture, maskedBitmap, writeIcon } from "../judge/icons.ts";
import { runNative } from "../judge/native.ts";
import { ORIENTED } from "../judge/oriented.ts";
import { readSound } from "../judge/sound.ts";

type Kind = "audio" | "image" | "animation" | "video";
interface Result {
  output: Source & { dropped?: Dropped[] };
  path: string;
}

const LIMIT = { timeout: 240_000 };
const HOSTS = ["light", "native", "page"] as const;

let folder: string;
let host: ChunkedHost;
let page: ClientLab;
beforeAll(async () => {
  [folder, host, page] = await Promise.all([
    mkdtemp(join(tmpdir(), "framewright-pictures-")),
    openChunkedHost({ natives: 1 }),
    openClientLab(),
  ]);
  await openKit(page.lab.page, { name: "pictures" });
});
afterAll(async () => {
  await Promise.all([host?.close(), page?.close()]);
  await rm(folder, { recursive: true, force: true });
});

let outputs = 0;

async function convert(name: (typeof HOSTS)[number], kind: Kind, input: string, options: object) {
  const path = join(folder, `${outputs++}`);
  if (name === "page") {
    const request = { path: await page.serve(input), kind, options };
    const { base64, source } = await page.lab.page.evaluate(async ({ path, ...work }) => {
      const task = { input: await kit.file(path), ...work } as Parameters<typeof kit.client.run>[0];
      const { blob, source } = await kit.client.run(task);
      return { base64: await kit.base64(blob), source };
    }, request);
    await writeFile(path, Buffer.from(base64, "base64"));
    return { path, output: source } as Result;
  }
  const forced = { encoder: name, chunk_seconds: null, may_refuse: true };
  const { task, bytes } = await host.run(input, { kind, options: { ...options } }, forced);
  if (!bytes) throw new Error(JSON.stringify(task.error));
  await writeFile(path, bytes);
  return { path, output: task.steps[2]?.output } as Result;
}

/** Returns the milliseconds for which each frame of a picture is shown. */
async function delaysOf(path: string): Promise<number[]> {
  return (await sharp(path, { animated: true }).metadata()).delay ?? [];
}

async function pixelsOf(path: string, x: number, y: number): Promise<number[][]> {
  const { data, info } = await sharp(path, { animated: true })
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const height = info.pageHeight ?? info.height;
  return Array.from({ length: info.height / height }, (_, frame) => {
    const at = 4 * ((frame * height + y) * info.width + x);
    return [...data.subarray(at, at + 4)];
  });
}

const drawn = (size: string, ...args: string[]) =>
  makeClip("png", ["-f", "lavfi", "-i", `testsrc2=s=${size}`, "-frames:v", "1", ...args]);

// Text and shapes, as a screenshot has them.
const DRAWING = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" width="240" height="160">${Array.from(
    { length: 8 },
    (_, row) => `<text x="8" y="${18 * row + 16}" font-size="14">The quick brown fox ${row * 371}</text>`,
  ).join("")}<circle cx="190" cy="110" r="36" fill="#c33"/></svg>`,
);

const PNGS: Readonly<Record<string, () => Promise<Buffer>>> = {
  palette: () =>
    sharp(DRAWING).flatten({ background: "#fff" }).png({ palette: true, colours: 16 }).toBuffer(),
  gray: () =>
    sharp(DRAWING).flatten({ background: "#fff" }).greyscale().toColourspace("b-w").png().toBuffer(),
  RGB: () => sharp(DRAWING).flatten({ background: "#fff" }).png().toBuffer(),
  RGBA: () => sharp(DRAWING).png().toBuffer(),
  "16 bit": async () => readFile(await drawn("240x160", "-pix_fmt", "rgb48be")),
  "1 bit": async () => readFile(await drawn("240x160", "-pix_fmt", "monob")),
};

// Decoding these takes more memory than the light encoder, and the probe of a page, have.
const large = (extension: string) =>
  makeClip(extension, ["-f", "lavfi", "-i", "color=0x808080:s=4200x4000", "-frames:v", "1"]);

test(
  "a large JPEG 2000 or TIFF is read by its header, and decoded where there is memory",
  LIMIT,
  async () => {
    for (const extension of ["jp2", "tif"]) {
      const source = await large(extension);
      const { width, height } = await host.probe(source);
      expect([width, height]).toEqual([4200, 4000]);
    }
    const refused = convert("light", "image", await large("jp2"), { format: "png", width: 42 });
    await expect(refused).rejects.toThrow(/"code":"memory"/);
    for (const name of ["native", "page"] as const) {
      const { path } = await convert(name, "image", await large("jp2"), { format: "png", width: 42 });
      expect(await pixelsOf(path, 21, 20)).toEqual([[128, 128, 128, 255]]);
    }
  },
);

const iconPicture = (bits: 8 | 24, width: number, height: number) => {
  return { data: maskedBitmap({ bits, width, height }), width, height };
};

test("the mask of an icon or a cursor becomes transparency", LIMIT, async () => {
  const [icon, cursor] = ["masked.ico", "masked.cur"].map((name) => join(folder, name)) as [string, string];
  const small = Array<IconPicture>(255).fill(iconPicture(24, 16, 12));
  await writeFile(icon, writeIcon([...small, iconPicture(8, 32, 24)]));
  await writeFile(cursor, writeIcon([iconPicture(24, 32, 24)], "cursor"));
  for (const name of HOSTS) {
    for (const [input, format] of [
      [icon, "png"],
      [cursor, "gif"],
    ] as const) {
      const { path, output } = await convert(name, "image", input, { format });
      const [hidden = [], visible] = [...(await pixelsOf(path, 8, 12)), ...(await pixelsOf(path, 24, 12))];
      expect([hidden[3], visible], `${format} by ${name}`).toEqual([0, [...ICON_COLOR, 255]]);
      expect(output).toMatchObject({ width: 32, height: 24 });
      expect(output.dropped?.filter(({ kind }) => kind === "alpha") ?? []).toEqual([]);
    }
    const { output } = await convert(name, "image", icon, { format: "jpeg" });
    expect(output.dropped).toContainEqual({ kind: "alpha", index: 255, reason: "no_place_in_format" });
  }
});

const EXIF = { IFD0: { Make: "Framewright" }, IFD3: { GPSLatitudeRef: "N" } };

/** A photo whose EXIF data state a camera and a place. */
async function photoIn(format: "jpeg" | "png" | "webp" | "tiff" | "avif"): Promise<string> {
  const path = join(folder, `photo.${format}`);
  const photo = sharp(DRAWING).flatten({ background: "#fff" }).withExif(EXIF);
  if (format !== "tiff") {
    await photo.toFormat(format).toFile(path);
    return path;
  }
  const tiff = await photo.tiff({ compression: "lzw" }).toBuffer();
  // sharp writes no EXIF data here: the unit of the resolution becomes the name of a computer.
  tiff.writeUInt16LE(316, tiff.lastIndexOf(Buffer.from([40, 1, 3, 0])));
  await writeFile(path, tiff);
  return path;
}

async function movingPhoto(): Promise<string> {
  const path = join(folder, "moving.webp");
  const frame = (background: string) =>
    sharp({ create: { width: 32, height: 32, channels: 3, background } })
      .png()
      .toBuffer();
  const frames = await Promise.all(["#c33", "#3c3"].map(frame));
  await sharp(frames, { join: { animated: true } })
    .withExif(EXIF)
    .webp()
    .toFile(path);
  return path;
}

test("a photo's EXIF data are listed as dropped, and an orientation alone is not", LIMIT, async () => {
  for (const format of ["jpeg", "png", "webp", "tiff", "avif"] as const) {
    const source = await host.probe(await photoIn(format));
    expect([format, source.exif]).toEqual([format, true]);
    expect(dropped("image", { format: "webp" }, source)).toEqual([{ kind: "tags", reason: "private" }]);
  }
  for (const format of ["jpeg", "png", "webp", "tiff"] as const) {
    const path = join(folder, `turned.${format}`);
    await writeFile(path, await ORIENTED[format](6));
    expect((await host.probe(path)).exif).toBeUndefined();
  }
});

describe.each(HOSTS)("on %s", (name) => {
  test("a photo loses its EXIF data, and says so", LIMIT, async () => {
    const source = await photoIn("jpeg");
    // The light encoder reads no animated WebP.
    for (const kind of name === "light" ? (["image"] as const) : (["image", "animation"] as const)) {
      const work = await convert(name, kind, kind === "image" ? source : await movingPhoto(), {});
      expect(work.output.dropped).toEqual([{ kind: "tags", reason: "private" }]);
      expect((await sharp(work.path).metadata()).exif).toBeUndefined();
    }
  });

  test("every frame of an APNG lasts as long as browsers show it", LIMIT, async () => {
    const source = await apngWithDelays([10, 0, 1, 2, 300]);
    const shown = [100, 100, 100, 20, 3000];
    for (const format of ["gif", "webp"] as const) {
      const { path, output } = await convert(name, "animation", source, { format });
      expect(await delaysOf(path)).toEqual(shown);
      expect(output.duration).toBeCloseTo(3.32, 3);
    }
    const video = await convert(name, "video", source, { format: "mp4" });
    const { picture, duration } = await readFacts(video.path);
    expect(picture?.times).toEqual([0, 0.1, 0.2, 0.3, 0.32]);
    expect(duration).toBeCloseTo(3.32, 3);
    if (name !== "native") return;
    const { path } = await convert(name, "animation", source, { format: "avif" });
    expect((await readFacts(path)).picture?.duration).toBeCloseTo(3.32, 3);
  });

  test("the frames of a GIF last as long as browsers show them", LIMIT, async () => {
    const frames = [0, 1, 2, 5].map((delay, at) => ({ delay, color: (at % 3) + 1 }));
    const { path, output } = await convert(name, "animation", await gifOf(frames), { format: "webp" });
    expect(await delaysOf(path)).toEqual([100, 100, 20, 50]);
    expect(output.duration).toBeCloseTo(0.27, 3);
  });

  test("an animation of equal pictures stays an animation", LIMIT, async () => {
    const source = await gifOf(Array(4).fill({ delay: 50, color: 1 }));
    const { path, output } = await convert(name, "animation", source, { format: "webp", loop: 3 });
    expect(output).toMatchObject({ animated: true, duration: 2 });
    expect(await delaysOf(path)).toEqual([2000]);
    expect((await sharp(path).metadata()).loop).toBe(3);
    expect(await pixelsOf(path, 8, 8)).toEqual([[expect.closeTo(255, -1), 0, expect.closeTo(0, -1), 255]]);
  });

  test("a GIF is transparent where a frame was removed", LIMIT, async () => {
    const frames = [
      { delay: 50, color: 1 },
      { delay: 50, color: 2, disposal: 2 },
      { delay: 50, color: 3, side: 16 },
    ] as const;
    for (const [format, colors] of [
      ["gif", 4],
      ["webp", 256],
    ] as const) {
      const source = await gifOf(frames, colors);
      const { path, output } = await convert(name, "animation", source, { format });
      expect(output.dropped).toBeUndefined();
      const alpha = async (at: number) => (await pixelsOf(path, at, at)).map((pixel) => pixel[3]);
      expect(await alpha(4), format).toEqual([255, 255, 255]);
      expect(await alpha(24), format).toEqual([255, 255, 0]);
    }
  });

  test("transparency is lost only where pixels are transparent", LIMIT, async () => {
    const lost = [{ kind: "alpha", index: 0, reason: "no_place_in_format" }];
    const dropped = async (kind: Kind, input: string, format: string) =>
      (await convert(name, kind, input, { format })).output.dropped;
    const opaque = await gifOf([
      { delay: 50, color: 1 },
      { delay: 50, color: 2, side: 16 },
    ]);
    expect(await dropped("video", opaque, "mp4")).toBeUndefined();
    expect(await dropped("image", await clip("png_alpha"), "gif")).toEqual(lost);
    for (const [alpha, reason] of [
      [0, undefined],
      [128, lost],
    ] as const) {
      const path = join(folder, `palette-${alpha}.png`);
      await writeFile(path, palettePng(alpha));
      expect(await dropped("image", path, "gif")).toEqual(reason);
    }
    // The light encoder reads no animated WebP.
    if (name === "light") return;
    expect(
      await dropped("video", await clip("webp_animated", { seconds: 1, rate: 10 }), "mp4"),
    ).toBeUndefined();
  });

  test("VP9 with transparency keeps it in WebM", LIMIT, async () => {
    const half = "color=red:s=64x48:d=0.4:r=10,format=yuva420p,geq=lum='p(X,Y)':a='255*gte(X,32)'";
    const codec = ["-c:v", "libvpx-vp9", "-pix_fmt", "yuva420p", "-auto-alt-ref", "0", "-b:v", "300k"];
    const source = await makeClip("webm", ["-f", "lavfi", "-i", half, ...codec]);
    const { path, output } = await convert(name, "video", source, { format: "webm", width: 32 });
    expect(output).toMatchObject({ has_alpha: true });
    expect(output.dropped).toBeUndefined();
    const filter = "alphaextract,scale=2:1:flags=area,format=gray";
    const alpha = await runNative([
      ...["-c:v", "libvpx-vp9", "-i", path, "-vf", filter, "-frames:v", "1", "-f", "rawvideo", "-"],
    ]);
    const [clear = 255, opaque = 0] = alpha.output;
    expect([clear < 20, opaque > 235]).toEqual([true, true]);
  });

  test.each(Object.keys(PNGS))("an ordinary PNG does not grow: %s", LIMIT, async (kind) => {
    const own = (await PNGS[kind]?.()) ?? Buffer.alloc(0);
    const input = join(folder, `${kind}.png`);
    await writeFile(input, own);
    const { path, output } = await convert(name, "image", input, { format: "png" });
    expect(output.filesize).toBeLessThanOrEqual(own.length);
    const pixels = (file: string) => sharp(file).toColourspace("srgb").ensureAlpha().raw().toBuffer();
    // Sixteen bits are rounded to eight.
    const [made, expected] = await Promise.all([pixels(path), pixels(input)]);
    const worst = made.reduce((most, value, at) => Math.max(most, Math.abs(value - (expected[at] ?? 0))), 0);
    expect(worst).toBeLessThanOrEqual(kind === "16 bit" ? 1 : 0);
  });

  test("a turned PNG of few colors keeps a palette", LIMIT, async () => {
    const own = (await PNGS.palette?.()) ?? Buffer.alloc(0);
    const input = join(folder, "turned.png");
    await writeFile(input, own);
    const { path, output } = await convert(name, "image", input, { format: "png", rotate: 90 });
    expect((await readFacts(path)).picture?.pixel_format).toBe("pal8");
    expect(output.filesize).toBeLessThan(1.2 * own.length);
    // Turned letters compress worse.
    expect(output.larger_than_source).toBe((output.filesize ?? 0) > own.length ? true : undefined);
    const pixels = (picture: Sharp) => picture.ensureAlpha().raw().toBuffer();
    expect(await pixels(sharp(path))).toEqual(await pixels(sharp(own).rotate(90)));
  });

  test.each(["pcm_s24le", "pcm_f32le"])(
    "%s stays so in a WAV, and a loud 5.1 does not clip",
    LIMIT,
    async (codec) => {
      const voices = Array.from({ length: 6 }, () => "0.95*sin(2*PI*440*t)").join("|");
      const sound = `aevalsrc=${voices}:c=5.1:d=1:s=48000`;
      const source = await makeClip("wav", ["-f", "lavfi", "-i", sound, "-c:a", codec]);
      const { path } = await convert(name, "audio", source, { format: "wav", channels: 2 });
      expect((await readFacts(path)).sound).toMatchObject({ codec, channels: 2 });
      const { channels } = await readSound(path, { channels: 2 });
      for (const samples of channels) {
        const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
        expect(peak).toBeCloseTo(0.95, 2);
      }
    },
  );

  test("a gain map that is lost is named", LIMIT, async () => {
    const path = join(folder, "gain-map.jpg");
    await writeFile(path, await jpegWithGainMap());
    const { output } = await convert(name, "image", path, { format: "jpeg" });
    expect(output.dropped).toEqual([{ kind: "gain_map", reason: "not_supported" }]);
  });
});

const palettePng = (alpha: number) =>
  makePng({ width: 2, height: 1, bits: 8, type: 3 }, Buffer.from([0, 0, 1]), {
    PLTE: [255, 0, 0, 0, 255, 0],
    tRNS: [alpha],
  });
