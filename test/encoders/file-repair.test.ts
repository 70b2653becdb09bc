import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { repairFile } from "../../src/encoders/file-repair.ts";

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
  return Buffer.from(repairFile(file, { format, passesProfile: false }).read(0, bytes.length));
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
