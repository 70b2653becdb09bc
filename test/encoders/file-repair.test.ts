import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { repairFile } from "../../src/encoders/file-repair.ts";
import { makePng, pngChunk } from "../inputs/png.ts";
import { ICON_COLOR, maskedBitmap, writeIcon } from "../judge/icons.ts";

const SEVEN_BITS = [21, 14, 7, 0];
const sevenBits = (value: number) => Buffer.from(SEVEN_BITS.map((shift) => (value >> shift) & 127));

/** A compressed frame of an ID3 tag that states the length of its contents. */
function frame(name: string, length: number): Buffer {
  const body = Buffer.concat([sevenBits(length), deflateSync(Buffer.from("\u0003Title"))]);
  return Buffer.concat([Buffer.from(name), sevenBits(body.length), Buffer.from([0, 9]), body]);
}

/** A file that begins with an ID3 tag of version 2.4. */
function tagged(content: readonly Buffer[], after: Buffer, flags = 0): Buffer {
  const tag = Buffer.concat(content);
  return Buffer.concat([
    Buffer.from([...Buffer.from("ID3"), 4, 0, flags]),
    sevenBits(tag.length),
    tag,
    after,
  ]);
}

function repaired(bytes: Buffer, format: string): Buffer {
  const read = (start: number, end: number) => new Uint8Array(bytes.subarray(start, end));
  const file = { size: bytes.length, loadedBytes: 0, read };
  const { size, read: readRepaired } = repairFile(file, { format, passesProfile: false });
  return Buffer.from(readRepaired(0, size));
}

const HUGE = 2 ** 28 - 1;

test("hides compressed frames of an ID3 tag that would take hundreds of megabytes, and no others", () => {
  const bytes = tagged([frame("TIT2", 6), frame("APIC", HUGE), frame("TXXX", HUGE)], Buffer.alloc(64));
  const namesOf = (format: string) =>
    ["TIT2", "APIC", "TXXX"].map((name) => {
      const at = bytes.indexOf(name);
      return repaired(bytes, format).toString("latin1", at, at + 4);
    });
  expect(namesOf("mp3")).toEqual(["TIT2", "XPIC", "XXXX"]);
  expect(namesOf("wav")).toEqual(["TIT2", "APIC", "TXXX"]);
});

test("finds such a frame after an extended header and a large cover, and takes no sound for a frame", () => {
  const extension = Buffer.from([0, 0, 0, 6, 1, 0]);
  const cover = Buffer.concat([Buffer.from("APIC"), sevenBits(100_000), Buffer.alloc(100_002)]);
  const sound = Buffer.from("fff15080013ffc21000a7f2034c8de01", "hex");
  const bytes = tagged([extension, cover, frame("TXXX", HUGE)], sound, 0x40);
  const expected = Buffer.from(bytes);
  expected.write("X", bytes.indexOf("TXXX"));
  expect(repaired(bytes, "mp3").equals(expected)).toBe(true);
});

const hidden = (bytes: Buffer) => {
  const before = bytes.toString("latin1");
  const after = repaired(bytes, "mp3").toString("latin1");
  return [...before].flatMap((letter, at) => (letter === after[at] ? [] : [before.slice(at, at + 4)]));
};

test("hides such frames of every tag at the start, also behind a footer and unsynchronised", () => {
  const last = tagged([frame("TPE1", HUGE)], Buffer.alloc(64));
  const footer = Buffer.concat([Buffer.from("3DI"), Buffer.alloc(7)]);
  const second = tagged([frame("TALB", HUGE)], Buffer.concat([footer, last]), 0x90);
  expect(hidden(tagged([frame("TIT2", 6)], second))).toEqual(["TALB", "TPE1"]);
});

test("hides the frames that would take too much together", () => {
  const names = Array.from({ length: 9 }, (_, at) => `TX0${at}`);
  const frames = names.map((name) => frame(name, 2 ** 20 * 2 - 1));
  const lengths = frames.map((each) => each.readUInt32BE(10));
  const allowed = names.filter(
    (_, at) => lengths.slice(0, at + 1).reduce((sum, own) => sum + own) <= 2 ** 26,
  );
  expect(allowed.length).toBeLessThan(names.length);
  expect(hidden(tagged(frames, Buffer.alloc(64)))).toEqual(names.slice(allowed.length));
});

test("finds such a frame behind one whose size has eight bits a byte", () => {
  const long = Buffer.concat([
    Buffer.from("COMM"),
    Buffer.from([0, 0, 1, 200, 0, 0]),
    Buffer.alloc(456, "c"),
  ]);
  expect(hidden(tagged([long, frame("TXXX", HUGE)], Buffer.alloc(64)))).toEqual(["TXXX"]);
});

test("reads a bounded number of frames and tags", () => {
  const empty = Buffer.from("TIT2\0\0\0\0\0\0", "latin1");
  const many = tagged(
    Array.from({ length: 20_000 }, () => empty),
    Buffer.alloc(64),
  );
  expect(hidden(many)).toEqual(["TIT2"]);
  expect(
    repaired(many, "mp3")
      .subarray(10 + 10_000 * 10)
      .indexOf("\0IT2"),
  ).toBe(0);
  const tags = Array.from({ length: 200 }, () => tagged([frame("TIT2", 6)], Buffer.alloc(0)));
  expect(hidden(Buffer.concat([...tags, Buffer.alloc(64)]))).toEqual([tags[0]?.toString("latin1", 0, 4)]);
});

test("hides data of a PNG beyond what its pictures need, and starts anew at each frame", () => {
  const whole = makePng({ width: 1, height: 1, bits: 8, type: 0 }, Buffer.alloc(2));
  const head = whole.subarray(0, 33);
  const part = (name: string) => pngChunk(name, Buffer.alloc(3000));
  // Only animations have frames, but any PNG can contain the header of one.
  const chunks = ["IDAT", "IDAT", "fcTL", "IDAT", "fdAT", "fdAT", "IEND"].map((name) =>
    name.endsWith("AT") ? part(name) : pngChunk(name, Buffer.alloc(0)),
  );
  const bytes = repaired(Buffer.concat([head, ...chunks]), "png");
  const names = [];
  for (let at = 33; at < bytes.length; at += 12 + bytes.readUInt32BE(at))
    names.push(bytes.toString("latin1", at + 4, at + 8));
  expect(names).toEqual(["IDAT", "IDAx", "fcTL", "IDAx", "fdAT", "fdAx", "IEND"]);
});

test("ends a PNG after a bounded number of hidden chunks, which take memory", () => {
  const whole = makePng({ width: 1, height: 1, bits: 8, type: 0 }, Buffer.alloc(2));
  const [empty, text] = ["IDAT", "zTXt"].map((name) => pngChunk(name, Buffer.alloc(0)));
  const chunks = Array.from({ length: 30_000 }, (_, at) => (at % 2 === 0 ? text : empty) as Buffer);
  const bytes = Buffer.concat([whole.subarray(0, 33), pngChunk("IDAT", Buffer.alloc(9000)), ...chunks]);
  const read = (start: number, end: number) => new Uint8Array(bytes.subarray(start, end));
  const file = repairFile(
    { size: bytes.length, loadedBytes: 0, read },
    { format: "png", passesProfile: false },
  );
  const names = new Map<string, number>();
  // The names of some chunks begin in one read and end in the next.
  const parts = Array.from({ length: Math.ceil(bytes.length / 1000) }, (_, at) =>
    file.read(at * 1000, Math.min(bytes.length, at * 1000 + 1000)),
  );
  const repaired = Buffer.concat(parts);
  for (let at = 33; at < repaired.length; at += 12 + repaired.readUInt32BE(at)) {
    const name = repaired.toString("latin1", at + 4, at + 8);
    names.set(name, (names.get(name) ?? 0) + 1);
    if (name === "IEND") break;
  }
  expect([names.get("IEND"), (names.get("zTXx") ?? 0) + (names.get("IDAx") ?? 0)]).toEqual([1, 10_000]);
});

test("ends a tag after a bounded number of reads", () => {
  // Sizes of 4 with seven bits a byte, which with eight point to other parts of the file.
  const sizes = [
    [0, 0x80, 0, 4],
    [0, 0, 0x80, 4],
  ];
  const frames = Array.from({ length: 6000 }, (_, at) =>
    Buffer.from([...Buffer.from("abcd"), ...(sizes[at % 2] ?? []), ...Buffer.from("aaaaaa")]),
  );
  const bytes = tagged(frames, Buffer.alloc(9 * 2 ** 20, "a"));
  let reads = 0;
  const read = (start: number, end: number) => {
    reads++;
    return new Uint8Array(bytes.subarray(start, end));
  };
  const file = repairFile(
    { size: bytes.length, loadedBytes: 0, read },
    { format: "mp3", passesProfile: false },
  );
  expect(reads).toBeGreaterThan(990);
  expect(reads).toBeLessThan(1010);
  expect(Buffer.from(file.read(0, 100_000)).indexOf("\0bcd")).toBeGreaterThan(0);
});

const BITMAP_START = 22;
const SIDE = 48;

/** Returns the first, the last and the middle pixel of an icon's only bitmap of 32 bits, as red, green, blue and alpha. */
function pixelsOf(icon: Buffer): number[][] {
  expect([icon.readUInt16LE(2), icon.readUInt16LE(BITMAP_START + 14)]).toEqual([1, 32]);
  const pixels = icon.subarray(BITMAP_START + 40);
  return [0, SIDE ** 2 - 1, SIDE / 2].map((at) => {
    const [blue = 0, green = 0, red = 0, alpha = 0] = pixels.subarray(4 * at);
    return [red, green, blue, alpha];
  });
}

test("turns the mask of a bitmap of any depth into alpha, in icons and cursors", () => {
  for (const bits of [1, 4, 8, 16, 24, 32] as const) {
    const picture = { data: maskedBitmap({ bits, width: SIDE, height: SIDE }), width: SIDE, height: SIDE };
    const visible = [...ICON_COLOR, 255];
    for (const kind of ["icon", "cursor"] as const) {
      const [first, last, middle] = pixelsOf(repaired(writeIcon([picture], kind), "bmp"));
      expect([first?.[3], last, middle], `${bits} bits`).toEqual([0, visible, visible]);
    }
  }
});

test("does not change an icon that is damaged or has an alpha of its own", () => {
  const size = { width: SIDE, height: SIDE };
  const own = writeIcon([{ data: maskedBitmap({ bits: 32, opaque: true, ...size }), ...size }]);
  const plain = writeIcon([{ data: maskedBitmap({ bits: 8, ...size }), ...size }]);
  const cut = plain.subarray(0, plain.length - 1);
  const endless = Buffer.from(plain);
  endless.writeInt32LE(2 ** 31 - 2, BITMAP_START + 8);
  for (const icon of [own, cut, endless]) expect(repaired(icon, "bmp").equals(icon)).toBe(true);
});
