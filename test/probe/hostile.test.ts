import { expect, test, vi } from "vitest";
import { cutFragment } from "../../src/probe/cut-movie.ts";
import { readTransparency } from "../../src/probe/transparency.ts";
import { checkProgram } from "../../src/probe/transport-stream.ts";
import { bytesReader } from "./probe-file.ts";

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
  expect(await readTransparency(source, bytesReader(gifOf(least)), signal)).toEqual({ has_alpha: true });
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
function countViews(bytes: Uint8Array) {
  let count = 0;
  const { getUint32 } = DataView.prototype;
  const spy = vi.spyOn(DataView.prototype, "getUint32").mockImplementation(function (
    this: DataView,
    ...args: Parameters<DataView["getUint32"]>
  ) {
    count++;
    return getUint32.apply(this, args);
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
  await expect(checkProgram(TRANSPORT, bytesReader(bytes), signal)).resolves.toBeUndefined();
});
