import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { MediaError } from "../../src/media/errors.ts";
import { probeMedia } from "../../src/probe/probe.ts";
import { clip } from "../fixtures/clips.ts";
import { CLIP_FOLDER, makeClip } from "../fixtures/make-clip.ts";
import { bytesReader, nativeFfprobe } from "./probe-file.ts";

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
const mp4WithSize = async (width: number) => {
  const bytes = Buffer.from(await readFile(await clip("mp4_silent")));
  const entry = bytes.indexOf("avc1", bytes.indexOf("stsd"));
  bytes.writeUInt16BE(width, entry + 28);
  return bytes;
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

const BAD: readonly [name: string, bytes: () => Promise<Uint8Array> | Uint8Array, message: RegExp][] = [
  ["an empty file", () => new Uint8Array(0), /empty/],
  ["one byte", () => encode("x"), /no media/],
  ["zeros", () => new Uint8Array(100_000), /no media/],
  ["a web page", () => encode("\n<!DOCTYPE html>\n<html><body>Not found</body></html>"), /web page/],
  ["a web page in capitals", () => encode("<HTML><HEAD><TITLE>404</TITLE></HEAD></HTML>"), /web page/],
  ["a web page with a comment first", () => encode(`<!-- ${"x".repeat(200)} --><html>`), /web page/],
  ["text", () => encode("Dear all,\r\nplease find attached. Grüße\n".repeat(300)), /text/],
  ["JSON", () => encode('{"error":"not found"}'), /text/],
  ["subtitles", () => encode("1\n00:00:00,000 --> 00:00:01,000\nHello\n"), /text/],
  ["a playlist", () => encode("#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1/secret.ts\n"), /playlist/],
  ["a list of files", () => encode("ffconcat version 1.0\nfile /etc/passwd\n"), /text/],
  ["random bytes", () => random(200_000, 1), /not media/],
  [
    "random bytes behind the start of an MP4",
    () => random(200_000, 2, [0, 0, 0, 24, 0x66, 0x74, 0x79, 0x70]),
    /incomplete/,
  ],
  [
    "random bytes behind the start of a WebM",
    () => random(200_000, 3, [0x1a, 0x45, 0xdf, 0xa3]),
    /not media/,
  ],
  [
    "random bytes behind the start of an MP3",
    () => random(200_000, 4, [0xff, 0xfb, 0x90, 0x64]),
    /not media/,
  ],
  ["a zip file", () => random(5000, 5, [0x50, 0x4b, 3, 4]), /not media/],
  ["an MP4 cut off before its index", () => cut(clip("mp4"), 0.6), /incomplete.*should have more/],
  ["an MP4 cut off within its index", () => cut(clip("mp4"), 0.99), /incomplete/],
  ["an MP4 with its index first, cut off in it", () => cut(clip("mp4_faststart"), 0.01), /incomplete/],
  ["a WebM cut off in its header", () => cut(clip("webm"), 0.002), /not media|no readable sound/],
  ["a JPEG cut off in its header", () => cut(clip("jpeg"), 0.02), /read/],
  ["an MP4 of zero length", async () => readFile(await makeClip("mp4", SHORT)), /empty|no readable sound/],
  [
    "a WebM of zero length",
    async () => readFile(await makeClip("webm", [...SHORT, "-c:v", "libvpx"])),
    /not media/,
  ],
  ["a WAV of zero length", async () => readFile(await makeClip("wav", SHORT)), /empty/],
  ["a FLAC of zero length", async () => readFile(await makeClip("flac", [...SHORT, "-map", "1:a"])), /empty/],
  [
    "an Ogg of zero length",
    async () => readFile(await makeClip("ogg", [...SHORT, "-map", "1:a"])),
    /not media/,
  ],
  ["an absurdly wide PNG", () => pngHeader(100_000, 90), /100000x90|read/],
  ["an absurdly high PNG", () => pngHeader(160, 2_000_000_000), /2000000000|read/],
  ["a PNG of zero width", () => pngHeader(0, 90), /read|0x90/],
  ["an absurdly wide MP4", () => mp4WithSize(60_000), /60000x90/],
  [
    "a Matroska of books in its titles",
    async () => readFile(await crowd()),
    /tracks, tags and chapters take \d{6} b/,
  ],
  [
    "a FLAC of a book in its tags",
    async () => readFile(await book()),
    /tracks, tags and chapters take \d{6} b/,
  ],
];

test.for(BAD)("rejects %s as unsupported within 5 s", async ([name, bytes, message]) => {
  const file = await bytes();
  // Without an extension, which native ffprobe would guess by.
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
  ["mp4_faststart", 0.5],
  ["webm", 0.5],
  ["mkv", 0.5],
  ["mp3", 0.5],
  ["wav", 0.5],
  ["ogg", 0.5],
  ["flac", 0.5],
] as const)("probes a %s cut off in the middle by its header", async ([name, part]) => {
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
