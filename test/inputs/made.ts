import { readFile } from "node:fs/promises";
import { type ClipName, clip } from "../fixtures/clips.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { noiseBytes } from "../fixtures/virtual-file.ts";

/** The first part of a clip. */
export async function truncated(name: ClipName, share: number): Promise<Buffer> {
  const bytes = await readFile(await clip(name, { seconds: 1 }));
  return bytes.subarray(0, Math.floor(bytes.length * share));
}

/** A broadcast recording: a transport stream that starts and ends anywhere. */
export async function recording(): Promise<Buffer> {
  const bytes = await readFile(await clip("mpegts", { seconds: 2 }));
  return bytes.subarray(5 * 188 + 77, -5 * 188 - 33);
}

/** Random-looking bytes. */
export function randomBytes(count: number): Buffer {
  return noiseBytes(count, "bad input");
}

/** A GIF that claims a size in its header and in its one frame. */
export async function gifOfSize(width: number, height: number): Promise<Buffer> {
  const bytes = Buffer.from(await readFile(await clip("gif", { seconds: 1 })));
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  return bytes;
}

/** A JPEG that claims a size in its frame header. */
export async function jpegOfSize(width: number, height: number): Promise<Buffer> {
  const bytes = Buffer.from(await readFile(await clip("jpeg", { seconds: 1 })));
  const frame = bytes.indexOf(Buffer.from("ffc0", "hex"));
  bytes.writeUInt16BE(height, frame + 5);
  bytes.writeUInt16BE(width, frame + 7);
  return bytes;
}

/** Raw video whose text header claims a size, with the bytes of one small frame. */
export function y4mOfSize(width: number, height: number): Buffer {
  return Buffer.concat([
    Buffer.from(`YUV4MPEG2 W${width} H${height} F25:1 Ip A1:1 C420jpeg\nFRAME\n`),
    Buffer.alloc(10_000, 128),
  ]);
}

/** An MP4 whose headers claim a size that its stream does not have. */
export async function mp4OfSize(width: number, height: number): Promise<Buffer> {
  const bytes = Buffer.from(await readFile(await clip("mp4_faststart", { seconds: 1 })));
  // The size is 28 bytes after the start of the sample entry's name, and in 16.16 at the end of tkhd.
  const entry = bytes.indexOf("avc1", bytes.indexOf("stsd"));
  bytes.writeUInt16BE(width, entry + 28);
  bytes.writeUInt16BE(height, entry + 30);
  const header = bytes.indexOf("tkhd");
  bytes.writeUInt32BE(width * 65_536, header + 80);
  bytes.writeUInt32BE(height * 65_536, header + 84);
  return bytes;
}

/** An MP4 that claims to be hundreds of years long. */
export async function mp4WithoutEnd(): Promise<Buffer> {
  const bytes = Buffer.from(await readFile(await clip("mp4_faststart", { seconds: 1 })));
  for (const [name, offset] of [
    ["mvhd", 20],
    ["tkhd", 24],
    ["mdhd", 20],
  ] as const) {
    for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + 4)) {
      bytes.writeUInt32BE(0xfffffff0, at + offset);
    }
  }
  return bytes;
}

/** An MP4 with empty tracks: a fragmented file without its fragments. */
export async function mp4WithoutSamples(): Promise<Buffer> {
  const bytes = await readFile(await clip("mp4_fragmented", { seconds: 1 }));
  return bytes.subarray(0, bytes.indexOf("moof") - 4);
}

/** A WAV file whose data is empty. */
export async function wavWithoutData(): Promise<Buffer> {
  const path = await makeClip("wav", ["-f", "lavfi", "-i", "sine", "-t", "0.1", "-bitexact"]);
  const bytes = Buffer.from((await readFile(path)).subarray(0, 44));
  bytes.writeUInt32LE(36, 4);
  bytes.writeUInt32LE(0, 40);
  return bytes;
}

/** A WebM file that ends before its first cluster. */
export async function webmWithoutClusters(): Promise<Buffer> {
  const bytes = await readFile(await clip("webm", { seconds: 1 }));
  return bytes.subarray(0, bytes.indexOf(Buffer.from("1f43b675", "hex")));
}
