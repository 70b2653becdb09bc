import { expect, test, vi } from "vitest";
import { hasPhotoFacts, readOrientation } from "../../src/probe/exif.ts";
import { readBlockTimes, readSoundChanges, repairMatroska } from "../../src/probe/matroska.ts";
import { cutFragment, readIntactEnds } from "../../src/probe/mp4-truncation.ts";
import { probeMedia } from "../../src/probe/probe.ts";
import { memoryReader } from "../../src/probe/reader.ts";
import { measureFlacEnd, measureFrames } from "../../src/probe/sound-frames.ts";
import { readTransparency } from "../../src/probe/transparency.ts";
import { checkProgram } from "../../src/probe/transport-stream.ts";

const bytesReader = (bytes: Uint8Array) => memoryReader([bytes]);
const signal = new AbortController().signal;

// One pixel of a picture with a transparent color; its LZW data states `least` bits per color.
function gifOf(least: number): Buffer {
  return Buffer.concat([
    Buffer.from("GIF89a"),
    Buffer.from([1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]),
    Buffer.from([0x21, 0xf9, 4, 1, 0, 0, 0, 0]),
    Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0]),
    Buffer.from([least, 2, 0x4c, 0x01, 0, 0x3b]),
  ]);
}

test.for([12, 60, 255])("a GIF with LZW codes of %d bits may be transparent", async (least) => {
  const source = { format: "gif", pixel_format: "bgra" } as Parameters<typeof readTransparency>[0];
  expect(await readTransparency(source, bytesReader(gifOf(least)), signal)).toEqual({
    has_alpha: true,
    binary_alpha: true,
  });
});

test("a GIF with codes of 2 bits that does not use its transparent color is opaque", async () => {
  const source = { format: "gif", pixel_format: "bgra" } as Parameters<typeof readTransparency>[0];
  expect(await readTransparency(source, bytesReader(gifOf(2)), signal)).toEqual({ has_alpha: false });
});

function boxOf(kind: string, size = 8): Buffer {
  const box = Buffer.alloc(8);
  box.writeUInt32BE(size);
  box.write(kind, 4, "latin1");
  return box;
}

// Counts the numbers that a parser reads.
function countViews(bytes: Uint8Array, method: "getUint16" | "getUint32" = "getUint32") {
  let count = 0;
  const own = DataView.prototype[method];
  const spy = vi.spyOn(DataView.prototype, method).mockImplementation(function (
    this: DataView,
    ...args: Parameters<DataView["getUint32"]>
  ) {
    count++;
    return own.apply(this, args);
  });
  return { reader: bytesReader(bytes), count: () => count, [Symbol.dispose]: () => spy.mockRestore() };
}

test("many fragments before a wrong box are walked only a bounded number of times", async () => {
  const pairs = Array.from({ length: 1000 }, () => Buffer.concat([boxOf("moof"), boxOf("mdat")]));
  const bytes = Buffer.concat([...pairs, boxOf("????")]);
  using views = countViews(bytes);
  expect(await cutFragment(views.reader)).toBeNull();
  expect(views.count()).toBeLessThan(2 * bytes.length);
});

test("a cut fragment is found behind complete ones", async () => {
  const pair = Buffer.concat([boxOf("moof"), boxOf("mdat")]);
  const bytes = Buffer.concat([...Array.from({ length: 200 }, () => pair), boxOf("moof"), boxOf("mdat", 99)]);
  expect(await cutFragment(bytesReader(bytes))).toBe(200 * 16);
});

// A packet of a transport stream; `payload` fills its end.
function packetOf(id: number, starts: boolean, payload: Uint8Array): Buffer {
  const packet = Buffer.alloc(188, 0xff);
  packet.set([0x47, (starts ? 0x40 : 0) | (id >> 8), id & 0xff, payload.length < 184 ? 0x30 : 0x10]);
  if (payload.length < 184) packet[4] = 183 - payload.length;
  packet.set(payload, 188 - payload.length);
  return packet;
}

const TRANSPORT = {
  format: { format_name: "mpegts" },
  streams: [{ codec_type: "video", id: "0x100" }],
};

test.for([
  { name: "is not in force", payload: 184 },
  { name: "has packets without contents", payload: 0 },
])("a table that $name is joined from a bounded number of bytes", async ({ payload }) => {
  // Table 0 of 1,021 bytes that is not current.
  const start = Buffer.concat([Buffer.from([0, 0, 0xb3, 0xfd, 0, 1, 0xc0, 0, 0]), Buffer.alloc(175)]);
  const rest = Array.from({ length: 1000 }, () => packetOf(0, false, new Uint8Array(payload)));
  const bytes = Buffer.concat([packetOf(0, true, start), ...rest]);
  let copied = 0;
  const { set } = Uint8Array.prototype;
  const spy = vi.spyOn(Uint8Array.prototype, "set").mockImplementation(function (this: Uint8Array, ...args) {
    copied++;
    return set.apply(this, args);
  });
  await checkProgram(TRANSPORT, bytesReader(bytes), signal);
  spy.mockRestore();
  expect(copied).toBeLessThan(4 * rest.length);
});

test("a program table too short for its header is ignored", async () => {
  const programs = [0, 0, 0xb0, 13, 0, 1, 0xc1, 0, 0, 0, 1, 0xe0, 0x20, 0, 0, 0, 0];
  const short = [0, 2, 0xb0, 9, 0, 1, 0xc1, 0, 0, 0, 0, 0, 0];
  const tables = [packetOf(0, true, Uint8Array.from(programs)), packetOf(0x20, true, Uint8Array.from(short))];
  const bytes = Buffer.concat([...tables, ...tables]);
  await expect(checkProgram(TRANSPORT, bytesReader(bytes), signal)).resolves.toEqual({ soundChanges: false });
});

function countReads(bytes: Uint8Array) {
  const reader = bytesReader(bytes);
  let reads = 0;
  return {
    size: reader.size,
    reads: () => reads,
    read: (range: { start: number; end: number }) => {
      reads++;
      return reader.read(range);
    },
  };
}

test("a FLAC of empty metadata blocks takes a bounded number of reads", async () => {
  const padding = Buffer.alloc(4 * 20_000, Buffer.from([1, 0, 0, 0]));
  const reader = countReads(Buffer.concat([Buffer.from("fLaC"), padding]));
  expect(await measureFlacEnd(reader)).toBeNull();
  expect(reader.reads()).toBeLessThan(3000);
});

test("a cut-off Matroska file of false clusters takes a bounded number of reads", async () => {
  const start = Buffer.from("1a45dfa380" + "1853806701ffffffffffffff", "hex");
  const clusters = Buffer.alloc(300_000, Buffer.from("1f43b67581ec", "hex"));
  const reader = countReads(Buffer.concat([start, clusters]));
  expect(await repairMatroska(reader, "matroska", signal)).toBe(reader);
  expect(reader.reads()).toBeLessThan(1000);
});

test("a Matroska file of unknown size is cut off if its last cluster ends early, even behind a whole block", async () => {
  const start = "1a45dfa380" + "1853806701ffffffffffffff" + "1549a96680" + "1654ae6b80";
  const block = "a38581000080ff";
  const truncatedWith = async (size: string) => {
    const file = Buffer.from(`${start}1f43b675${size}e78100${block}`, "hex");
    return (await readBlockTimes(bytesReader(file), signal))?.truncated;
  };
  expect([await truncatedWith("8a"), await truncatedWith("91"), await truncatedWith("ff")]).toEqual([
    false,
    true,
    false,
  ]);
});

test("a Matroska file with AAC, whose frames do not state what may change, is not read for changes", async () => {
  const reader = countReads(Buffer.alloc(1000));
  const source = { format: "matroska", codecs: { audio: "aac" } } as Parameters<typeof readSoundChanges>[1];
  expect(await readSoundChanges(reader, source, signal)).toBeNull();
  expect(reader.reads()).toBe(0);
});

test("an MP3 of empty tags takes a bounded number of reads", async () => {
  const tags = Buffer.alloc(10 * 20_000, Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 0, 0]));
  const reader = countReads(tags);
  expect(await measureFrames(reader, "mp3", signal)).toBeNull();
  expect(reader.reads()).toBeLessThan(100);
});

// A tag of an FLV with a picture, at a time in milliseconds.
function flvTag(time: number): Buffer {
  const body = Buffer.from([0x22, 0, 0, 0, 0]);
  const tag = Buffer.alloc(11 + body.length + 4);
  tag.writeUIntBE((9 << 24) | body.length, 0, 4);
  tag.writeUIntBE(time & 0xffffff, 4, 3);
  tag[7] = time >>> 24;
  tag.set(body, 11);
  tag.writeUInt32BE(11 + body.length, 16);
  return tag;
}

const VIDEO = { codec_type: "video", codec_name: "flv1", width: 64, height: 48, pix_fmt: "yuv420p" };
const SOUND = { codec_type: "audio", codec_name: "pcm_s16be", channels: 1, sample_rate: "8000" };
const FLV_HEADER = Buffer.from([0x46, 0x4c, 0x56, 1, 1, 0, 0, 0, 9, 0, 0, 0, 0]);

function aiffOf(bits: number): Buffer {
  const comm = Buffer.alloc(18);
  comm.writeUInt16BE(1, 0);
  comm.writeUInt16BE(bits, 6);
  const chunk = (name: string, body: Buffer) => {
    const head = Buffer.from(`${name}....`);
    head.writeUInt32BE(body.length, 4);
    return Buffer.concat([head, body]);
  };
  return chunk(
    "FORM",
    Buffer.concat([Buffer.from("AIFF"), chunk("COMM", comm), chunk("SSND", Buffer.alloc(808))]),
  );
}

test.for([
  {
    name: "FLV whose times go back by 99 s",
    format: "flv",
    stream: { ...VIDEO, r_frame_rate: "25/1", avg_frame_rate: "25/1" },
    bytes: Buffer.concat([FLV_HEADER, flvTag(99_000), Buffer.alloc(600_000), flvTag(0), flvTag(0)]),
  },
  { name: "AIFF with frames of 0 bytes", format: "aiff", stream: SOUND, bytes: aiffOf(0) },
])("the length of an $name is not its packets'", async ({ format, stream, bytes }) => {
  const report = {
    format: { format_name: format, duration: "5.000000" },
    streams: [{ index: 0, duration: "5.000000", ...stream }],
  };
  const reader = bytesReader(bytes);
  const source = await probeMedia(reader, { url: "https://example.com/a" }, async () => report, signal);
  expect(source.duration).toBe(5);
  expect(source.streams?.[0]?.duration).toBe(5);
});

function nested(kind: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([boxOf(kind, 8 + body.length), body]);
}

function table(kind: string, numbers: readonly number[]): Buffer {
  return nested(kind, Buffer.from(Uint32Array.from([0, ...numbers]).buffer).swap32());
}

test.for([
  { shared: 0, sizes: [0] },
  { shared: 1, sizes: [] },
])("2^32 packets of a movie in crowded chunks are not walked: %o", ({ shared, sizes }) => {
  const crowded = Array.from({ length: 100_000 }, () => 0);
  const stbl = nested(
    "stbl",
    table("stsz", [shared, 0xffff_ffff, ...sizes]),
    table("stsc", [1, 1, 0xffff_ffff, 1]),
    table("stts", [1, 0xffff_ffff, 1]),
    table("stco", [crowded.length, ...crowded]),
  );
  const hdlr = nested("hdlr", Buffer.alloc(8), Buffer.from("vide"));
  const mdhd = table("mdhd", [0, 0, 1000, 0, 0]);
  const moov = nested("moov", nested("trak", nested("mdia", mdhd, hdlr, nested("minf", stbl))));
  const view = new DataView(moov.buffer, moov.byteOffset, moov.length);
  const started = performance.now();
  readIntactEnds({ moov: view, start: 0 } as Parameters<typeof readIntactEnds>[0], 2 ** 32);
  expect(performance.now() - started).toBeLessThan(2000);
});

test("a directory of EXIF data to which thousands of places point is read only a bounded number of times", async () => {
  const [places, tags] = [2000, 2000];
  const end = 2 + places * 14;
  const pointers = Array.from({ length: places }, (_, at) => {
    const pointer = Buffer.from("Exif\0\0MM\0*\0\0\0\0", "latin1");
    pointer.writeUInt32BE(end - (2 + at * 14 + 6), 10);
    return pointer;
  });
  const directory = Buffer.alloc(2 + tags * 12);
  directory.writeUInt16BE(tags);
  const bytes = Buffer.concat([Buffer.from([0xff, 0xd8]), ...pointers, directory]);
  using views = countViews(bytes, "getUint16");
  expect(await readOrientation(views.reader, signal)).toBe(null);
  expect(await hasPhotoFacts(views.reader, signal)).toBe(false);
  expect(views.count()).toBeLessThan(200_000);
});
