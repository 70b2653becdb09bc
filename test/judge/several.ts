import { readFile, writeFile } from "node:fs/promises";
import { keepClip, makeClip } from "../fixtures/make-clip.ts";

const SOUND = ["-f", "lavfi", "-i", "sine=440:d=2:r=44100"];

/** Makes sound with tags, as `-metadata` of ffmpeg. */
export function soundWith(
  extension: string,
  tags: Readonly<Record<string, string>>,
  seconds = 2,
): Promise<string> {
  const sound = ["-f", "lavfi", "-i", `sine=440:d=${seconds}:r=44100`];
  return makeClip(extension, [
    ...sound,
    ...Object.entries(tags).flatMap((tag) => ["-metadata", tag.join("=")]),
  ]);
}

/** Makes a FLAC whose comments are these, several of one name included, which ffmpeg cannot write. */
export async function flacWith(comments: readonly string[]): Promise<string> {
  const original = await makeClip("flac", SOUND);
  return keepClip("flac", `${comments.join("\n")} in ${original}`, async (path) => {
    const file = await readFile(original);
    const texts = ["test", ...comments].map((text) => Buffer.from(text));
    const list = texts.flatMap((text) => [number(text.length), text]);
    const block = Buffer.concat([...list.slice(0, 2), number(comments.length), ...list.slice(2)]);
    // STREAMINFO comes first, and has 34 bytes.
    const head = Buffer.from([4, block.length >> 16, (block.length >> 8) & 255, block.length & 255]);
    await writeFile(path, Buffer.concat([file.subarray(0, 42), head, block, withoutBlocks(file)]));
  });
}

/** Lists the comments of a FLAC or an Ogg as `NAME=text`, without those of ffmpeg. */
export async function readComments(path: string): Promise<string[]> {
  const file = await readFile(path);
  const at = file.subarray(0, 4).toString() === "fLaC" ? flacComments(file) : oggComments(file);
  const comments: string[] = [];
  let next = at + 4 + file.readUInt32LE(at);
  const count = file.readUInt32LE(next);
  next += 4;
  for (let index = 0; index < count; index++) {
    const length = file.readUInt32LE(next);
    comments.push(file.subarray(next + 4, next + 4 + length).toString());
    next += 4 + length;
  }
  return comments.filter((comment) => !/^encoder=/i.test(comment));
}

function flacComments(file: Buffer): number {
  let at = 4;
  while (((file[at] ?? 0) & 127) !== 4) at += 4 + file.readUIntBE(at + 1, 3);
  return at + 4;
}

function oggComments(file: Buffer): number {
  const opus = file.indexOf("OpusTags");
  return opus >= 0 ? opus + 8 : file.indexOf("\u0003vorbis") + 7;
}

// The frames of a FLAC, after a block of padding, which is the last block.
function withoutBlocks(file: Buffer): Buffer {
  let at = 4;
  for (let last = false; !last; ) {
    last = ((file[at] ?? 0) & 128) !== 0;
    at += 4 + file.readUIntBE(at + 1, 3);
  }
  return Buffer.concat([Buffer.from([129, 0, 0, 0]), file.subarray(at)]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
