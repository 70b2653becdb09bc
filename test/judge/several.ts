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

/** Makes an M4A whose genre is a number: 22 is the 22nd genre of ID3v1, Ska. */
export async function m4aOfGenreNumber(): Promise<string> {
  const original = await soundWith("m4a", { genre: "XY", compilation: "1" });
  return keepClip("m4a", `a number as the genre of ${original}`, async (path) => {
    const file = await readFile(original);
    // An item of two letters becomes one of a number of two bytes.
    const at = file.indexOf("\u00a9gen", 0, "latin1");
    file.write("gnre", at, "latin1");
    file.writeUInt32BE(0, at + 12);
    file.writeUInt16BE(22, at + 20);
    await writeFile(path, file);
  });
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

/** Makes an MP3 whose ID3v2.4 tag has these frames, which may repeat. */
export async function mp3With(
  frames: readonly (readonly [name: string, content: string])[],
): Promise<string> {
  const plain = await makeClip("mp3", [...SOUND, "-id3v2_version", "0", "-write_xing", "0"]);
  return keepClip("mp3", `${JSON.stringify(frames)} in ${plain}`, async (path) =>
    writeFile(path, Buffer.concat([id3Tag(frames), await readFile(plain)])),
  );
}

/** Makes an MP3 with an APEv2 tag at its end, and an ID3 tag from ffmpeg that states only the encoder. */
export async function mp3WithApe(
  items: readonly (readonly [name: string, value: string])[],
): Promise<string> {
  const plain = await makeClip("mp3", SOUND);
  return keepClip("mp3", `APE ${JSON.stringify(items)} in ${plain}`, async (path) => {
    const body = Buffer.concat(
      items.map(([name, value]) =>
        Buffer.concat([number(Buffer.byteLength(value)), number(0), Buffer.from(`${name}\0${value}`)]),
      ),
    );
    const sizes = [2000, body.length + 32, items.length, 0, 0, 0].map(number);
    const footer = Buffer.concat([Buffer.from("APETAGEX"), ...sizes]);
    await writeFile(path, Buffer.concat([await readFile(plain), body, footer]));
  });
}

/** Makes a WAV or AIFF with an ID3v2.4 tag of these frames in a chunk after the sound. */
export async function chunkWith(
  extension: "wav" | "aiff",
  frames: readonly (readonly [name: string, content: string])[],
): Promise<string> {
  const plain = await makeClip(extension, [...SOUND, "-bitexact"]);
  return keepClip(extension, `ID3 ${JSON.stringify(frames)} in ${plain}`, async (path) => {
    const [file, tag] = [await readFile(plain), id3Tag(frames)];
    const size = Buffer.alloc(4);
    const write = extension === "wav" ? "writeUInt32LE" : "writeUInt32BE";
    size[write](tag.length);
    const padded = Buffer.concat([tag, Buffer.alloc(tag.length % 2)]);
    const whole = Buffer.concat([file, Buffer.from(extension === "wav" ? "id3 " : "ID3 "), size, padded]);
    whole[write](whole.length - 8, 4);
    await writeFile(path, whole);
  });
}

/** Makes an M4A with several values of its artist, as several data atoms of one item. */
export async function m4aWith(artists: readonly [string, ...string[]], codec = "aac"): Promise<string> {
  const [first, ...others] = artists;
  const plain = await makeClip("m4a", [...SOUND, "-c:a", codec, "-metadata", `artist=${first}`]);
  return keepClip("m4a", `${artists.join("\n")} in ${plain}`, async (path) => {
    const file = await readFile(plain);
    const boxes = ["moov", "udta", "meta", "ilst", "\u00a9ART"].map(
      (name) => file.indexOf(name, 0, "latin1") - 4,
    );
    const item = boxes[4] ?? 0;
    const end = item + file.readUInt32BE(item);
    const more = others.map((text) => {
      const head = Buffer.from("00000000646174610000000100000000", "hex");
      head.writeUInt32BE(16 + Buffer.byteLength(text));
      return Buffer.concat([head, Buffer.from(text)]);
    });
    const bytes = Buffer.concat(more);
    for (const at of boxes) file.writeUInt32BE(file.readUInt32BE(at) + bytes.length, at);
    await writeFile(path, Buffer.concat([file.subarray(0, end), bytes, file.subarray(end)]));
  });
}

/** Lists the text frames of the ID3v2.4 tag at the start of a file as `NAME=text`, except ffmpeg's own. */
export async function readId3Texts(path: string): Promise<string[]> {
  const file = await readFile(path);
  const texts: string[] = [];
  for (let at = 10; file.subarray(at, at + 1).toString() === "T"; ) {
    const size = sevenBits(file, at + 4);
    const name = file.subarray(at, at + 4).toString();
    texts.push(
      `${name}=${file
        .subarray(at + 11, at + 10 + size)
        .toString()
        .replace(/\0$/, "")}`,
    );
    at += 10 + size;
  }
  return texts.filter((text) => !text.startsWith("TSSE="));
}

function id3Tag(frames: readonly (readonly [name: string, content: string])[]): Buffer {
  const body = Buffer.concat(
    frames.map(([name, content]) => {
      const bytes = Buffer.concat([Buffer.of(3), Buffer.from(content)]);
      return Buffer.concat([Buffer.from(name), toSevenBits(bytes.length), Buffer.alloc(2), bytes]);
    }),
  );
  return Buffer.concat([Buffer.from("ID3\u0004\0\0"), toSevenBits(body.length), body]);
}

function sevenBits(bytes: Buffer, at: number): number {
  return [...bytes.subarray(at, at + 4)].reduce((value, byte) => value * 128 + byte, 0);
}

function toSevenBits(value: number): Buffer {
  return Buffer.from([21, 14, 7, 0].map((shift) => (value >> shift) & 0x7f));
}
