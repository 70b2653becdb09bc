import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { MediaError } from "../../src/media/errors.ts";
import { probeMedia } from "../../src/probe/probe.ts";
import { clip } from "../fixtures/clips.ts";
import { CLIP_FOLDER, makeClip } from "../fixtures/make-clip.ts";
import { makePng } from "../inputs/png.ts";
import { bytesReader, nativeFfprobe, probeFile } from "./probe-file.ts";

const SHORT = "-f lavfi -i testsrc2=size=160x90 -f lavfi -i sine -t 0".split(" ");
const encode = (text: string) => new TextEncoder().encode(text);
const cut = async (path: Promise<string>, part: number) => {
  const bytes = await readFile(await path);
  return bytes.subarray(0, Math.floor(bytes.length * part));
};
// A linear congruential generator: random bytes, but the same in every run.
const random = (length: number, seed: number, head: number[] = []) => {
  let state = seed;
  const bytes = Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  });
  bytes.set(head);
  return bytes;
};
// A PNG whose header claims this size.
const pngHeader = async (width: number, height: number) => {
  const bytes = Buffer.from(await readFile(await clip("png")));
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};
// A JPEG whose frame header names another coding (ITU-T T.81, table B.1).
const jpegCoding = async (marker: number) => {
  const bytes = Buffer.from(await readFile(await clip("jpeg")));
  bytes[bytes.indexOf(Buffer.from([0xff, 0xc0])) + 1] = marker;
  return bytes;
};
const mp4WithSize = async (width: number) => {
  const bytes = Buffer.from(await readFile(await clip("mp4_silent")));
  const entry = bytes.indexOf("avc1", bytes.indexOf("stsd"));
  bytes.writeUInt16BE(width, entry + 28);
  return bytes;
};

// An Apple icon of two pictures in JPEG 2000.
const icon = async () => {
  const still = "-f lavfi -i testsrc2=size=64x64 -frames:v 1 -c:v jpeg2000 -format j2k -f rawvideo".split(
    " ",
  );
  const picture = await readFile(await makeClip("j2k", still));
  const part = (name: string, body: Buffer) => {
    const head = Buffer.alloc(8);
    head.write(name, "latin1");
    head.writeUInt32BE(8 + body.length, 4);
    return Buffer.concat([head, body]);
  };
  return part("icns", Buffer.concat([part("icp6", picture), part("ic12", picture)]));
};

const encrypted = async () => {
  const key = "00112233445566778899aabbccddeeff";
  const keys = ["-encryption_scheme", "cenc-aes-ctr", "-encryption_key", key, "-encryption_kid", key];
  const clear = "-f lavfi -i testsrc2=size=64x64:d=0.4 -f lavfi -i sine=d=0.4".split(" ");
  return readFile(await makeClip("mp4", [...clear, ...keys]));
};

const tone = "-f lavfi -i sine=duration=0.1".split(" ");
const crowd = async () => {
  const text = join(CLIP_FOLDER, "crowd.srt");
  await writeFile(text, "1\n00:00:00,000 --> 00:00:00,100\nHello\n");
  const tracks = Array.from({ length: 10 }, (_, index) => [
    ...["-map", "1", `-metadata:s:s:${index}`, `title=${"word ".repeat(2400)}`],
  ]);
  return makeClip("mkv", [...tone, "-i", text, "-map", "0", ...tracks.flat()]);
};
const book = () =>
  makeClip("flac", [
    ...tone,
    ...Array.from({ length: 60 }, (_, page) => ["-metadata", `page${page}=${"word ".repeat(800)}`]).flat(),
  ]);

const BAD: readonly { name: string; bytes: () => Promise<Uint8Array> | Uint8Array; message: RegExp }[] = [
  { name: "an empty file", bytes: () => new Uint8Array(0), message: /empty/ },
  { name: "one byte", bytes: () => encode("x"), message: /no media/ },
  { name: "zeros", bytes: () => new Uint8Array(100_000), message: /no media/ },
  {
    name: "a web page",
    bytes: () => encode("\n<!DOCTYPE html>\n<html><body>Not found</body></html>"),
    message: /web page/,
  },
  {
    name: "a web page in capitals",
    bytes: () => encode("<HTML><HEAD><TITLE>404</TITLE></HEAD></HTML>"),
    message: /web page/,
  },
  {
    name: "a web page with a comment first",
    bytes: () => encode(`<!-- ${"x".repeat(200)} --><html>`),
    message: /web page/,
  },
  {
    name: "text",
    bytes: () => encode("Dear all,\r\nplease find attached. Grüße\n".repeat(300)),
    message: /text/,
  },
  { name: "JSON", bytes: () => encode('{"error":"not found"}'), message: /text/ },
  { name: "subtitles", bytes: () => encode("1\n00:00:00,000 --> 00:00:01,000\nHello\n"), message: /text/ },
  {
    name: "a playlist",
    bytes: () => encode("#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1/secret.ts\n"),
    message: /playlist/,
  },
  {
    name: "a list of files",
    bytes: () => encode("ffconcat version 1.0\nfile /etc/passwd\n"),
    message: /text/,
  },
  { name: "an Apple icon", bytes: icon, message: /no readable/ },
  { name: "an encrypted MP4", bytes: encrypted, message: /The file is encrypted/ },
  { name: "random bytes", bytes: () => random(200_000, 1), message: /not media/ },
  {
    name: "random bytes behind the start of an MP4",
    bytes: () => random(200_000, 2, [0, 0, 0, 24, 0x66, 0x74, 0x79, 0x70]),
    message: /incomplete/,
  },
  {
    name: "random bytes behind the start of a WebM",
    bytes: () => random(200_000, 3, [0x1a, 0x45, 0xdf, 0xa3]),
    message: /not media/,
  },
  {
    name: "random bytes behind the start of an MP3",
    bytes: () => random(200_000, 4, [0xff, 0xfb, 0x90, 0x64]),
    message: /not media/,
  },
  { name: "a zip file", bytes: () => random(5000, 5, [0x50, 0x4b, 3, 4]), message: /not media/ },
  {
    name: "an MP4 cut off before its index",
    bytes: () => cut(clip("mp4"), 0.6),
    message: /incomplete.*should have more/,
  },
  { name: "an MP4 cut off within its index", bytes: () => cut(clip("mp4"), 0.99), message: /incomplete/ },
  {
    name: "an MP4 with its index first, cut off in it",
    bytes: () => cut(clip("mp4_faststart"), 0.01),
    message: /incomplete/,
  },
  {
    name: "a WebM cut off in its header",
    bytes: () => cut(clip("webm"), 0.002),
    message: /cut off within its first pictures or sound/,
  },
  ...[-8, 0, 4, 8, 100].map((more) => ({
    name: `a WebM cut off ${more} bytes from its first cluster`,
    bytes: async () => {
      const file = await readFile(await clip("webm"));
      return file.subarray(0, file.indexOf("1f43b675", "hex") + more);
    },
    message: /cut off within its first pictures or sound/,
  })),
  { name: "a JPEG cut off in its header", bytes: () => cut(clip("jpeg"), 0.02), message: /read/ },
  {
    name: "an MP4 of zero length",
    bytes: async () => readFile(await makeClip("mp4", SHORT)),
    message: /empty|no readable sound/,
  },
  {
    name: "a WebM of zero length",
    bytes: async () => readFile(await makeClip("webm", [...SHORT, "-c:v", "libvpx"])),
    message: /not media/,
  },
  {
    name: "a WAV of zero length",
    bytes: async () => readFile(await makeClip("wav", SHORT)),
    message: /empty/,
  },
  {
    name: "a FLAC of zero length",
    bytes: async () => readFile(await makeClip("flac", [...SHORT, "-map", "1:a"])),
    message: /empty/,
  },
  {
    name: "an Ogg of zero length",
    bytes: async () => readFile(await makeClip("ogg", [...SHORT, "-map", "1:a"])),
    message: /not media/,
  },
  { name: "an absurdly wide PNG", bytes: () => pngHeader(100_000, 90), message: /100000x90/ },
  { name: "an absurdly high PNG", bytes: () => pngHeader(160, 2_000_000_000), message: /2000000000/ },
  { name: "a PNG of too many pixels", bytes: () => pngHeader(16_384, 16_384), message: /too many to decode/ },
  { name: "a JPEG with arithmetic coding", bytes: () => jpegCoding(0xc9), message: /arithmetic coding/ },
  {
    name: "a progressive JPEG with arithmetic coding",
    bytes: () => jpegCoding(0xca),
    message: /arithmetic coding/,
  },
  { name: "a hierarchical JPEG", bytes: () => jpegCoding(0xc5), message: /hierarchical/ },
  { name: "a BigTIFF", bytes: () => random(5000, 6, [0x49, 0x49, 0x2b, 0, 8, 0, 0, 0]), message: /BigTIFF/ },
  {
    name: "a PNG of one pixel whose data expand to megabytes",
    bytes: () => makePng({ width: 1, height: 1, bits: 8, type: 0 }, Buffer.alloc(2 ** 23)),
    message: /far more compressed data/,
  },
  { name: "a PNG of zero width", bytes: () => pngHeader(0, 90), message: /read/ },
  { name: "an absurdly wide MP4", bytes: () => mp4WithSize(60_000), message: /60000x90/ },
  {
    name: "a Matroska of books in its titles",
    bytes: async () => readFile(await crowd()),
    message: /tracks, tags and chapters take \d{6} b/,
  },
];

test.for(BAD)("rejects $name as unsupported within 5 s", async ({ name, bytes, message }) => {
  const file = await bytes();
  // The name has no extension, by which native ffprobe would guess the format.
  const path = join(CLIP_FOLDER, `bad-${name.replaceAll(/\W+/g, "-")}`);
  await writeFile(path, file);
  const started = performance.now();
  const probed = probeMedia(
    bytesReader(file),
    { url: "https://example.com/a.mp4" },
    nativeFfprobe(path),
    AbortSignal.timeout(120_000),
  );
  const error: MediaError = await probed.then(
    (source) => expect.fail(`probed as ${JSON.stringify(source)}`),
    (thrown) => thrown,
  );
  expect(error).toMatchObject({ name: "MediaError", kind: "input_unsupported", retryable: false });
  expect(error.message).toMatch(message);
  expect(performance.now() - started).toBeLessThan(5000);
});

test.for([
  { name: "mp4_faststart", part: 0.5 },
  { name: "webm", part: 0.5 },
  { name: "mkv", part: 0.5 },
  { name: "mp3", part: 0.5 },
  { name: "wav", part: 0.5 },
  { name: "ogg", part: 0.5 },
  { name: "flac", part: 0.5 },
] as const)("probes a $name cut off in the middle by its header", async ({ name, part }) => {
  const bytes = await cut(clip(name, { seconds: 5 }), part);
  const path = join(CLIP_FOLDER, `half-${name}`);
  await writeFile(path, bytes);
  const origin = { url: "https://example.com/a" };
  const source = await probeMedia(
    bytesReader(bytes),
    origin,
    nativeFfprobe(path),
    AbortSignal.timeout(120_000),
  );
  expect(source.streams?.length).toBeGreaterThan(0);
});

test("rejects with the reader's own error", async () => {
  const bytes = await readFile(await clip("mp4"));
  const broken = new Error("the network is down");
  for (const at of [0, 1, 2, 3]) {
    let reads = 0;
    const reader = {
      size: bytes.length,
      async read({ start, end }: { start: number; end: number }) {
        if (reads++ >= at) throw broken;
        return new Uint8Array(bytes.subarray(start, end));
      },
    };
    const never = () => expect.fail("ffprobe must not run");
    const origin = { url: "https://example.com/a" };
    await expect(probeMedia(reader, origin, never, AbortSignal.timeout(120_000))).rejects.toBe(broken);
  }
});

test("rejects with the abort's reason, before ffprobe starts and while it runs", async () => {
  const bytes = await readFile(await clip("avi"));
  const reason = new Error("stopped");
  const origin = { url: "https://example.com/a" };
  const hanging = (_: unknown, signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(new Error("killed"))));
  await expect(probeMedia(bytesReader(bytes), origin, hanging, AbortSignal.abort(reason))).rejects.toBe(
    reason,
  );
  const stop = new AbortController();
  const probed = probeMedia(bytesReader(bytes), origin, hanging, stop.signal);
  setTimeout(() => stop.abort(reason), 50);
  await expect(probed).rejects.toBe(reason);
});

test("turns a crash of ffprobe into probe_failed without its message", async () => {
  const bytes = await readFile(await clip("avi"));
  const faulty = () => Promise.reject(new TypeError("x is not a function"));
  const origin = { url: "https://example.com/a" };
  await expect(
    probeMedia(bytesReader(bytes), origin, faulty, AbortSignal.timeout(120_000)),
  ).rejects.toMatchObject({
    kind: "probe_failed",
    message: expect.not.stringContaining("function"),
  });
});

test("a FLAC of a book in its tags is probed without the pages that fit no record", async () => {
  const { source } = await probeFile(await book());
  const pages = Object.keys(source.tags ?? {}).length + (source.long_tags ?? []).length;
  expect(pages).toBe(60);
  expect(source.long_tags?.length).toBeGreaterThan(40);
});
