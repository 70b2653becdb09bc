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

test("hides compressed frames of an ID3 tag that would take hundreds of megabytes, and no others", () => {
  const frames = Buffer.concat([frame("TIT2", 6), frame("APIC", 2 ** 28 - 1), frame("TXXX", 2 ** 28 - 1)]);
  const bytes = Buffer.concat([
    Buffer.from("ID3\x04\0\0"),
    sevenBits(frames.length),
    frames,
    Buffer.alloc(64),
  ]);
  const file = {
    size: bytes.length,
    loadedBytes: 0,
    read: (start: number, end: number) => new Uint8Array(bytes.subarray(start, end)),
  };
  const namesOf = (format: string) => {
    const read = Buffer.from(repairFile(file, { format, passesProfile: false }).read(0, bytes.length));
    return ["TIT2", "APIC", "TXXX"].map((name) => {
      const at = bytes.indexOf(name);
      return read.toString("latin1", at, at + 4);
    });
  };
  expect(namesOf("mp3")).toEqual(["TIT2", "XPIC", "XXXX"]);
  expect(namesOf("wav")).toEqual(["TIT2", "APIC", "TXXX"]);
});
