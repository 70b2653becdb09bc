import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { afterAll, describe, expect, test, vi } from "vitest";
import { dropped } from "../../src/media/index.ts";
import type { Source } from "../../src/media/source.ts";
import { readColors } from "../../src/probe/color-profile.ts";
import { probeMedia } from "../../src/probe/probe.ts";
import type { ByteReader } from "../../src/runs/ports.ts";
import { full, ispe } from "../fixtures/heic.ts";
import { heifOf, type Item } from "../fixtures/heif.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { pngChunk } from "../inputs/png.ts";
import {
  iccOf,
  jpegInParts,
  PROFILES,
  pngWithCodePoints,
  SRGB_PROFILES,
  tableProfile,
  writePatches,
} from "../judge/color-profiles.ts";
import { bytesReader, nativeFfprobe } from "./probe-file.ts";

const folder = await mkdtemp(join(tmpdir(), "framewright-color-profile-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const signal = new AbortController().signal;
let files = 0;

/** A PNG whose profile expands to `bytes` zeros. */
async function endlessProfile(bytes: number): Promise<Buffer> {
  const png = await writePatches("png", SRGB_PROFILES[1] as Buffer);
  const body = Buffer.concat([Buffer.from("x\0\0", "latin1"), deflateSync(Buffer.alloc(bytes))]);
  const at = png.indexOf("iCCP") - 4;
  const own = at < 0 ? 0 : png.readUInt32BE(at) + 12;
  const start = at < 0 ? 33 : at;
  return Buffer.concat([png.subarray(0, start), pngChunk("iCCP", body), png.subarray(start + own)]);
}
async function probe(bytes: Buffer): Promise<Source> {
  const path = join(folder, `input-${files++}`);
  await writeFile(path, bytes);
  return probeMedia(bytesReader(bytes), { url: "file:picture" }, nativeFfprobe(path), signal);
}

const P3 = PROFILES["Display P3"];

/** A JPEG with segments behind its start. */
async function jpegWith(...segments: { marker: number; body: Buffer }[]): Promise<Buffer> {
  const jpeg = await readFile(
    await makeClip("jpg", ["-f", "lavfi", "-i", "color=red:s=32x32", "-frames:v", "1"]),
  );
  const inserted = segments.map(({ marker, body }) => {
    const head = Buffer.from([0xff, marker, 0, 0]);
    head.writeUInt16BE(body.length + 2, 2);
    return Buffer.concat([head, body]);
  });
  return Buffer.concat([jpeg.subarray(0, 2), ...inserted, jpeg.subarray(2)]);
}
const icc = (body: Buffer, part = 1, count = 1) => ({
  marker: 0xe2,
  body: Buffer.concat([Buffer.from(`ICC_PROFILE\0${String.fromCharCode(part, count)}`, "latin1"), body]),
});

describe("omits a profile that changes nothing", () => {
  test.for(SRGB_PROFILES.map((profile, at) => ({ profile, at })))("sRGB $at", async ({ profile }) => {
    expect((await probe(await writePatches("jpeg", profile))).color_profile).toBeUndefined();
  });
  test("gamma without primaries", async () => {
    const png = await writePatches("png", P3);
    const at = png.indexOf("iCCP") - 4;
    const rest = png.subarray(at + 12 + png.readUInt32BE(at));
    const bare = Buffer.concat([png.subarray(0, at), pngChunk("gAMA", Buffer.from([0, 0, 177, 143])), rest]);
    expect((await probe(bare)).color_profile).toBeUndefined();
  });
});

test("names the colors and their conversion", async () => {
  const { color_profile } = await probe(await writePatches("png", P3));
  expect(color_profile?.space).toBe("RGB");
  const matrix = [1.225, -0.225, 0, -0.042, 1.042, 0, -0.02, -0.079, 1.098];
  const { to_srgb } = color_profile ?? {};
  const own = to_srgb && "matrix" in to_srgb ? to_srgb.matrix : [];
  for (const [at, value] of matrix.entries()) expect(own[at]).toBeCloseTo(value, 2);
  expect((await probe(await pngWithCodePoints())).color_profile?.name).toBe("Display P3");
});

describe("reads a lookup table for another rendering intent", () => {
  test.for(["A2B1", "A2B2"] as const)("%s", async (tag) => {
    const expected = await probe(await jpegInParts(tableProfile(), P3, 65_000));
    const source = await probe(await jpegInParts(tableProfile(tag), P3, 65_000));
    expect(source.color_profile?.to_srgb).toBeDefined();
    expect(source.color_profile).toEqual(expected.color_profile);
  });
  test("of gray, which is not converted", async () => {
    const profile = iccOf("GRAY", { A2B1: Buffer.from("mft1\0\0\0\0\x01\x03\x02\0") }, "Lab ");
    const png = await readFile(
      await makeClip("png", ["-f", "lavfi", "-i", "color=gray:s=32x32,format=gray", "-frames:v", "1"]),
    );
    const chunk = pngChunk("iCCP", Buffer.concat([Buffer.from("x\0\0", "latin1"), deflateSync(profile)]));
    const source = await probe(Buffer.concat([png.subarray(0, 33), chunk, png.subarray(33)]));
    expect(source.color_profile).toEqual({ space: "GRAY" });
  });
});

test("prefers code points to an ICC profile in a PNG", async () => {
  const png = await writePatches("png", PROFILES.ProPhoto);
  const coded = Buffer.concat([
    png.subarray(0, 33),
    pngChunk("cICP", Buffer.from([1, 13, 0, 1])),
    png.subarray(33),
  ]);
  expect((await probe(coded)).color_profile).toBeUndefined();
});

test("clips the values between the stages of a lookup table", async () => {
  const [offsetB, offsetMatrix, offsetM] = [32, 32 + 12 + 512 + 24, 32 + 12 + 512 + 24 + 48];
  const head = Buffer.alloc(32);
  head.write("mAB ");
  head.set([3, 3], 8);
  for (const [at, offset] of [offsetB, offsetMatrix, offsetM].entries())
    head.writeUInt32BE(offset, 12 + 4 * at);
  const measured = Buffer.alloc(12 + 512);
  measured.write("curv");
  measured.writeUInt32BE(256, 8);
  for (let at = 0; at < 256; at++) {
    const share = at / 255;
    measured.writeUInt16BE(Math.round(65_535 * share * share * (3 - 2 * share)), 12 + 2 * at);
  }
  const straight = Buffer.from("curv\0\0\0\0\0\0\0\0");
  // The lightness of white is 1.05; gray has neither a nor b.
  const matrix = Buffer.alloc(48);
  for (const at of [0, 1, 2]) matrix.writeInt32BE(Math.round(0.35 * 65_536), 4 * at);
  for (const at of [10, 11]) matrix.writeInt32BE(Math.round((128 / 255) * 65_536), 4 * at);
  const tag = Buffer.concat([head, measured, straight, straight, matrix, straight, straight, straight]);
  const source = await probe(await jpegWith(icc(iccOf("RGB ", { A2B0: tag }, "Lab "))));
  const { to_srgb } = source.color_profile ?? {};
  const table = Buffer.from(to_srgb && "table" in to_srgb ? to_srgb.table : "", "base64");
  for (const part of [0, 1, 2]) {
    const light = (1.5 * table.readUInt16BE(table.length - 6 + 2 * part)) / 65_535 - 0.25;
    expect(light).toBeCloseTo(1, 2);
  }
});

describe("keeps the profile of a picture whose header exceeds 8 MiB, and reads no byte twice:", () => {
  const MIB = 2 ** 20;
  const pictures = {
    "a JPEG": async () =>
      jpegWith(icc(P3), ...Array.from({ length: 160 }, () => ({ marker: 0xed, body: Buffer.alloc(65_000) }))),
    "a PNG": async () => {
      const png = await writePatches("png", P3);
      const at = png.indexOf("IDAT") - 4;
      const comments = Array.from({ length: 40 }, () => pngChunk("prVt", Buffer.alloc(MIB / 4)));
      return Buffer.concat([png.subarray(0, at), ...comments, png.subarray(at)]);
    },
  } as const;
  test.for(Object.keys(pictures) as (keyof typeof pictures)[])("%s", async (name) => {
    const reader = bytesReader(await pictures[name]());
    let count = 0;
    const counted: ByteReader = {
      ...reader,
      read(range, until) {
        count += Math.min(range.end, reader.size) - range.start;
        return reader.read(range, until);
      },
    };
    const { color_profile } = await readColors(counted, { isGray: false }, signal);
    expect(color_profile?.to_srgb).toBeDefined();
    expect(count).toBeLessThanOrEqual(8 * MIB);
  });
});

describe("ignores, as viewers do,", () => {
  const fixed = (...values: number[]) => {
    const bytes = Buffer.alloc(4 * values.length);
    for (const [at, value] of values.entries()) bytes.writeInt32BE(Math.round(value * 65_536), 4 * at);
    return bytes;
  };
  const STRAIGHT = Buffer.from("curv\0\0\0\0\0\0\0\0");
  const CURVES = { rTRC: STRAIGHT, gTRC: STRAIGHT, bTRC: STRAIGHT };
  // This curve has a = 1/65,536 and b = 1, so its power starts at -65,536.
  const STEEP = Buffer.concat([Buffer.from("para\0\0\0\0\0\x01\0\0"), fixed(2.4, 1 / 65_536, 1)]);
  const colorants = (x: number) => {
    const tag = (...values: number[]) => Buffer.concat([Buffer.from("XYZ \0\0\0\0"), fixed(...values)]);
    return { rXYZ: tag(x, 0.2, 0), gXYZ: tag(0.3, 0.7, 0), bXYZ: tag(0.2, 0.1, 0.8) };
  };
  const ignored = {
    "a truncated profile": async () => jpegWith(icc(P3.subarray(0, 200))),
    "a profile that lacks a segment": async () => {
      const jpeg = await jpegInParts(P3);
      const second = jpeg.indexOf(Buffer.from("ICC_PROFILE\0\x02", "latin1"));
      return Buffer.concat([jpeg.subarray(0, second - 4), jpeg.subarray(second + 14 + 200)]);
    },
    "a truncated lookup table": async () => jpegWith(icc(tableProfile().subarray(0, 20_000))),
    "a profile without curves": async () => jpegWith(icc(iccOf("RGB ", {}))),
    "colorants out of range": async () => jpegWith(icc(iccOf("RGB ", { ...CURVES, ...colorants(20_000) }))),
    "a curve that starts out of range": async () =>
      jpegWith(icc(iccOf("RGB ", { ...colorants(0.3), rTRC: STEEP, gTRC: STEEP, bTRC: STEEP }))),
    "a gamma out of range": async () => {
      const png = await writePatches("png", P3);
      const at = png.indexOf("iCCP") - 4;
      const rest = png.subarray(at + 12 + png.readUInt32BE(at));
      const points = [31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6_000];
      const body = Buffer.alloc(32);
      for (const [index, point] of points.entries()) body.writeUInt32BE(point, 4 * index);
      const chunks = [pngChunk("gAMA", Buffer.from([0, 0, 0, 50])), pngChunk("cHRM", body)];
      return Buffer.concat([png.subarray(0, at), ...chunks, rest]);
    },
    noise: async () => jpegWith(icc(Buffer.alloc(500, 0x5a))),
    "a profile of gray for colors": async () =>
      jpegWith(icc(iccOf("GRAY", { kTRC: Buffer.from("curv\0\0\0\0\0\0\0\0") }))),
    "compressed data without end": async () => endlessProfile(64_000_000),
  } as const;
  test.for(Object.keys(ignored) as (keyof typeof ignored)[])("%s", async (name) => {
    const source = await probe(await ignored[name]());
    expect(source.width).toBeGreaterThan(0);
    const isEmbedded = name !== "a gamma out of range";
    expect(source.color_profile).toEqual(isEmbedded ? { ignored: true } : undefined);
    const lost = isEmbedded ? [{ kind: "color_profile", reason: "not_supported" }] : [];
    for (const format of ["png", "webp"] as const) expect(dropped("image", { format }, source)).toEqual(lost);
  });
});

test("expands a profile in pieces of 4 KiB, because a browser expands each at once", async () => {
  const pieces: number[] = [];
  const Native = DecompressionStream;
  class Counting extends Native {
    override readonly writable: WritableStream<BufferSource>;
    constructor(format: CompressionFormat) {
      super(format);
      const counter = new TransformStream<BufferSource, BufferSource>({
        transform(piece, controller) {
          pieces.push(piece.byteLength);
          controller.enqueue(piece);
        },
      });
      void counter.readable.pipeTo(super.writable).catch(() => {});
      this.writable = counter.writable;
    }
  }
  vi.stubGlobal("DecompressionStream", Counting);
  try {
    expect((await probe(await endlessProfile(64_000_000))).color_profile).toEqual({ ignored: true });
  } finally {
    vi.unstubAllGlobals();
  }
  expect(Math.max(...pieces)).toBe(4096);
});

describe("reports colors that an output lacks", () => {
  const table = iccOf("RGB ", { A2B0: Buffer.from("mpet\0\0\0\0\x03\x03\x02\0") }, "Lab ");
  const inks = iccOf("CMYK", { A2B0: Buffer.from("mft1\0\0\0\0\x04\x03\x02\0") }, "Lab ");
  const lost = { kind: "color_profile", reason: "not_supported" };

  test("a profile with another kind of table", async () => {
    const source = await probe(await jpegWith(icc(table)));
    expect(source.color_profile).toEqual({ space: "RGB" });
    expect(dropped("image", { format: "webp" }, source)).toEqual([lost]);
    expect(dropped("image", { format: "png" }, source)).toEqual([]);
  });
  test("a CMYK profile", async () => {
    const source = await probe(await jpegWith(icc(inks)));
    expect(dropped("image", { format: "png" }, source)).toEqual([lost]);
  });
  test("a profile of 300,000 bytes", async () => {
    const part = (at: number) =>
      icc(at === 1 ? Buffer.concat([table, Buffer.alloc(50_000)]) : Buffer.alloc(50_000), at, 6);
    const source = await probe(await jpegWith(...[1, 2, 3, 4, 5, 6].map(part)));
    expect(dropped("image", { format: "webp" }, source)).toEqual([lost]);
  });
  test.for([
    {
      name: "XMP",
      body: 'http://ns.adobe.com/xap/1.0/\0<x xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/"/>',
      marker: 0xe1,
    },
    { name: "ISO 21496-1", body: "urn:iso:std:iso:ts:21496:-1\0\0\0\0\0", marker: 0xe2 },
  ])("a gain map by $name", async ({ body, marker }) => {
    const photo = await jpegWith({ marker, body: Buffer.from(body, "latin1") });
    // ffprobe mistakes two small JPEGs in one file for a video.
    const source = await probe(Buffer.concat([photo, await jpegWith()]));
    expect([source.kind, source.gain_map]).toEqual(["image", true]);
    expect(dropped("image", { format: "jpeg" }, source)).toEqual([
      { kind: "gain_map", reason: "not_supported" },
    ]);
    expect(dropped("image", { format: "webp" }, source)).toEqual([
      { kind: "gain_map", reason: "no_place_in_format" },
    ]);
  });
  test.for([
    { name: "an item", type: "tmap", properties: [] },
    {
      name: "an auxiliary picture",
      type: "hvc1",
      properties: [full("auxC", 0, Buffer.from("urn:com:apple:photo:2020:aux:hdrgainmap\0"))],
    },
  ])("a gain map of a HEIC in $name", async ({ type, properties }) => {
    const data = Buffer.alloc(4);
    const photo = { type: "hvc1", data, properties: [ispe(64, 64)] };
    const read = (...items: Item[]) =>
      readColors(bytesReader(heifOf(["heic", "mif1"], [photo, ...items])), { isGray: false }, signal);
    expect(await read({ type, data, properties })).toEqual({ gain_map: true });
    expect(await read()).toEqual({});
  });
});
