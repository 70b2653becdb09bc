import { readFile, writeFile } from "node:fs/promises";
import { keepClip, makeClip } from "../fixtures/make-clip.ts";
import { taggedSound, WORK } from "./tags.ts";

/** Tag formats that ffmpeg does not write. */
export const ID3_KINDS = ["ID3v1", "unsynchronised ID3v2.3", "unsynchronised ID3v2.4"] as const;

/** Makes an MP3 with the tags of every tagged clip in this format, and with its cover where the format has one. */
export async function id3Sound(kind: (typeof ID3_KINDS)[number]): Promise<string> {
  const tagged = await taggedSound("mp3");
  const version = kind === "unsynchronised ID3v2.3" ? "3" : "4";
  const copy = ["-i", tagged, "-map", "0", "-c", "copy", "-id3v2_version", version];
  const original = await makeClip("mp3", copy);
  return keepClip("mp3", `${kind} of ${original}`, async (path) => {
    const file = await readFile(original);
    const end = 10 + sevenBits(file, 6);
    const [head, body, sound] = [file.subarray(0, 10), file.subarray(10, end), file.subarray(end)];
    if (kind === "ID3v1") return writeFile(path, Buffer.concat([sound, version1()]));
    const tag = version === "3" ? unsynchronise(body) : unsynchroniseFrames(body);
    head[5] = 0x80;
    head.set(toSevenBits(tag.length), 6);
    return writeFile(path, Buffer.concat([head, tag, sound]));
  });
}

function version1(): Buffer {
  const { title, artist, album, date, comment } = WORK;
  const field = (text: string, bytes: number) => Buffer.from(text.padEnd(bytes, "\0"), "latin1");
  const texts = [field(title, 30), field(artist, 30), field(album, 30), field(date.slice(0, 4), 4)];
  // Track 3, genre 8 (Jazz).
  return Buffer.concat([Buffer.from("TAG"), ...texts, field(comment, 28), Buffer.from([0, 3, 8])]);
}

function unsynchronise(bytes: Buffer): Buffer {
  const unsynchronized = [...bytes].flatMap((byte, at) => {
    const next = bytes[at + 1] ?? 0;
    return byte === 0xff && (next === 0 || next >= 0xe0) ? [byte, 0] : [byte];
  });
  return Buffer.from(unsynchronized);
}

// In ID3v2.4 a frame's size counts the bytes after unsynchronisation.
function unsynchroniseFrames(bytes: Buffer): Buffer {
  const frames: Buffer[] = [];
  let at = 0;
  while (bytes[at]) {
    const head = bytes.subarray(at, at + 10);
    const size = sevenBits(bytes, at + 4);
    const body = unsynchronise(bytes.subarray(at + 10, at + 10 + size));
    head.set(toSevenBits(body.length), 4);
    head[9] = 0x02;
    frames.push(head, body);
    at += 10 + size;
  }
  return Buffer.concat([...frames, bytes.subarray(at)]);
}

function sevenBits(bytes: Buffer, at: number): number {
  return [...bytes.subarray(at, at + 4)].reduce((value, byte) => value * 128 + byte, 0);
}

function toSevenBits(value: number): number[] {
  return [21, 14, 7, 0].map((shift) => (value >> shift) & 0x7f);
}
