import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import {
  measureStream,
  parseMediaPlaylist,
  writeMaster,
  writeMediaPlaylist,
} from "../../src/media/ffmpeg/manifests.ts";
import { WASM_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import type { AdaptiveVideoOptions } from "../../src/media/options.ts";
import { finishStream } from "../encoders/finish-stream.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { noiseClip, noiseSound } from "../judge/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { runNative } from "../judge/native.ts";
import { parseMaster, parseMedia } from "../judge/playlists.ts";
import { encode } from "./native-encode.ts";

const BASE = "https://example.com/";

async function stream(input: string, options: AdaptiveVideoOptions = {}) {
  const { path, plan, source } = await encode(input, "adaptive_video", options, { toolset: WASM_TOOLS });
  const folder = dirname(path);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = async (file: string) => ({
    name: relative(folder, file),
    mime: "",
    bytes: await readFile(file),
  });
  const files = finishStream(await Promise.all(paths.map(read)), plan, source);
  // Replaces ffmpeg's playlists with the product's, as a player finds them.
  for (const { name, bytes } of files.filter((file) => file.name.endsWith(".m3u8"))) {
    await writeFile(join(folder, name), bytes);
  }
  const text = (name: string) => new TextDecoder().decode(files.find((file) => file.name === name)?.bytes);
  const master = parseMaster(text("master.m3u8"), BASE);
  const media = (url: string) => parseMedia(text(url.slice(BASE.length)), url);
  return { path, files, master, media, names: files.map(({ name }) => name) };
}

function big(): Promise<string> {
  return makeClip("mp4", [
    ..."-f lavfi -i testsrc2=size=640x360:rate=25:duration=7".split(" "),
    ..."-c:v libx264 -preset ultrafast -crf 18 -pix_fmt yuv420p -g 33".split(" "),
  ]);
}

test("two renditions have the right names, sizes and measured rates", async () => {
  const { master, names, files, media } = await stream(await big());
  expect(master.variants).toMatchObject([
    { url: `${BASE}360p/playlist.m3u8`, resolution: "640x360", frame_rate: 25, audio: undefined },
    { url: `${BASE}240p/playlist.m3u8`, resolution: "426x240", frame_rate: 25, audio: undefined },
  ]);
  expect(names.at(-1)).toBe("master.m3u8");
  expect(names).toEqual(
    expect.arrayContaining(["360p/seg_00000.m4s", "360p/seg_00001.m4s", "240p/seg_00001.m4s"]),
  );
  const size = (url: string) =>
    (files.find(({ name }) => name === url.slice(BASE.length))?.bytes.length ?? 0) * 8;
  for (const { url, bandwidth, average_bandwidth, codecs } of master.variants) {
    expect(codecs).toMatch(/^avc1\.6400[0-9a-f]{2}$/);
    const { segments, ended, kind, target } = media(url);
    expect({ ended, kind, target, lengths: segments.map(({ seconds }) => seconds) }).toEqual({
      ...{ ended: true, kind: "VOD", target: 6, lengths: [6, 1] },
    });
    const peak = Math.max(...segments.map((segment) => size(segment.url) / segment.seconds));
    const bits = segments.reduce((sum, segment) => sum + size(segment.url), 0);
    expect([bandwidth, average_bandwidth]).toEqual([Math.ceil(peak), Math.ceil(bits / 7)]);
  }
});

test("all renditions have keyframes at the same times, two seconds apart", async () => {
  const { path } = await stream(await big());
  for (const name of ["360p", "240p"]) {
    const playlist = join(dirname(path), name, "playlist.m3u8");
    const { output } = await runNative(["-i", playlist, "-c", "copy", "-f", "framecrc", "-"]);
    const keys = await keyframes(playlist);
    expect([name, keys]).toEqual([name, [0, 2, 4, 6]]);
    expect(
      output
        .toString()
        .split("\n")
        .filter((line) => line.startsWith("0,")),
    ).toHaveLength(175);
  }
});

async function keyframes(path: string): Promise<number[]> {
  const { log } = await runNative(["-skip_frame", "nokey", "-i", path, "-vf", "showinfo", "-f", "null", "-"]);
  const times = [...log.matchAll(/pts_time:([\d.]+)/g)].map((match) => Number(match[1]));
  return times.map((time) => Math.round((time - (times[0] ?? 0)) * 1000) / 1000);
}

test("audio is a separate group as long as the video", async () => {
  const { master, media, path } = await stream(await noiseClip(7), { quality: "high" });
  expect(Object.values(master.audio)).toEqual([`${BASE}audio/playlist.m3u8`]);
  expect(master.variants).toMatchObject([
    { audio: "audio", codecs: expect.stringMatching(/^avc1\.\w{6},mp4a\.40\.2$/) },
  ]);
  const seconds = media(`${BASE}audio/playlist.m3u8`).segments.map((segment) => segment.seconds);
  expect(Math.abs(seconds.reduce((sum, each) => sum + each, 0) - 7)).toBeLessThan(0.05);
  const copy = `${path}.mkv`;
  await runNative(["-y", "-i", path, "-map", "0:v", "-map", "0:a", "-c", "copy", copy]);
  const { picture, sound } = await readFacts(copy);
  expect(picture?.times).toHaveLength(175);
  expect(sound).toMatchObject({ codec: "aac", channels: 2, sample_rate: 48_000 });
});

test("a stream without video has one audio variant", async () => {
  const { master, names } = await stream(await noiseSound("wav", 2));
  expect(master).toMatchObject({
    audio: {},
    variants: [{ url: `${BASE}audio/playlist.m3u8`, codecs: "mp4a.40.2" }],
  });
  expect(master.variants[0]?.resolution).toBeUndefined();
  expect(names).toEqual(["audio/init_0.mp4", "audio/seg_00000.m4s", "audio/playlist.m3u8", "master.m3u8"]);
});

test("a very short stream has a target duration of one second", async () => {
  const { media, master } = await stream(await noiseClip(1), { start: 0.4, end: 0.6 });
  expect(media(master.variants[0]?.url ?? "").target).toBe(1);
});

test("measures peak and average rates over segments", () => {
  const segment = (size: number, seconds: number) => ({ size, seconds });
  expect(measureStream([segment(6000, 6), segment(3000, 2)])).toEqual({ peak: 12_000, average: 9000 });
  expect(measureStream([segment(40_000, 4), segment(20_000, 4)])).toEqual({ peak: 80_000, average: 60_000 });
  expect(measureStream([])).toEqual({ peak: 0, average: 0 });
});

test("parses a media playlist, and joins runs with separate init segments into one", () => {
  const text =
    '#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:2\n#EXT-X-MAP:URI="../a/init_1.mp4"\n#EXTINF:6.006000,\nseg_00002.m4s\n#EXTINF:0.400000,\nseg_00003.m4s\n#EXT-X-ENDLIST\n';
  const run = parseMediaPlaylist("a/playlist.m3u8", text);
  expect(run).toEqual({
    init: "a/init_1.mp4",
    segments: [
      { name: "a/seg_00002.m4s", seconds: 6.006, line: "#EXTINF:6.006000," },
      { name: "a/seg_00003.m4s", seconds: 0.4, line: "#EXTINF:0.400000," },
    ],
  });
  const first = { name: "a/seg_00000.m4s", seconds: 6.6, line: "#EXTINF:6.600000," };
  expect(writeMediaPlaylist("a/", [{ init: "a/init_0.mp4", segments: [first] }, run])).toBe(
    [
      "#EXTM3U",
      "#EXT-X-VERSION:7",
      "#EXT-X-TARGETDURATION:7",
      "#EXT-X-MEDIA-SEQUENCE:0",
      "#EXT-X-PLAYLIST-TYPE:VOD",
      "#EXT-X-INDEPENDENT-SEGMENTS",
      '#EXT-X-MAP:URI="init_0.mp4"',
      "#EXTINF:6.600000,",
      "seg_00000.m4s",
      '#EXT-X-MAP:URI="init_1.mp4"',
      "#EXTINF:6.006000,",
      "seg_00002.m4s",
      "#EXTINF:0.400000,",
      "seg_00003.m4s",
      "#EXT-X-ENDLIST",
      "",
    ].join("\n"),
  );
});

test("encrypts segments but no init segment, and writes the vector of one whose place is not its number", () => {
  const segment = (number: number) => ({ name: `a/seg_0000${number}.m4s`, seconds: 6, line: "#EXTINF:6.0," });
  const runs = [
    { init: "a/init_0.mp4", segments: [segment(0), segment(1)] },
    { init: "a/init_1.mp4", segments: [segment(2), segment(4), segment(5)] },
  ];
  const keyOf = (text: string) =>
    text.split("\n").filter((line) => /^(?:#EXT-X-(?:KEY|MAP)|[^#])/.test(line));
  const encryption = { key_url: "https://a.example/k" };
  const key = '#EXT-X-KEY:METHOD=AES-128,URI="https://a.example/k"';
  expect(keyOf(writeMediaPlaylist("a/", runs, { encryption }))).toEqual([
    ...['#EXT-X-MAP:URI="init_0.mp4"', key, "seg_00000.m4s", "seg_00001.m4s"],
    ...["#EXT-X-KEY:METHOD=NONE", '#EXT-X-MAP:URI="init_1.mp4"', key, "seg_00002.m4s"],
    ...[`${key},IV=0x${"0".repeat(31)}4`, "seg_00004.m4s", `${key},IV=0x${"0".repeat(31)}5`, "seg_00005.m4s"],
  ]);
  const iv = "0123456789abcdef".repeat(2);
  const lines = keyOf(writeMediaPlaylist("a/", runs, { encryption: { ...encryption, iv } }));
  expect(lines.filter((line) => line.includes("IV="))).toEqual([`${key},IV=0x${iv}`, `${key},IV=0x${iv}`]);
});

test("writes this exact master playlist", () => {
  const stream = (name: string, codecs: string, width: number, height: number, peak: number) => ({
    ...{ uri: `${name}/playlist.m3u8`, codecs, width, height, rate: { peak, average: peak * 0.75 } },
  });
  const streams = [stream("a", "avc1.64000c", 160, 90, 12_000), stream("b", "avc1.64000d", 320, 180, 80_000)];
  const rate = { peak: 8000, average: 7999.5 };
  const sound = { folder: "audio", codecs: "mp4a.40.2", channels: 1, rate, name: "audio" };
  const french = {
    ...sound,
    folder: "audio_1",
    language: "fr",
    name: "français",
    rate: { peak: 100, average: 99 },
  };
  expect(writeMaster({ streams, sounds: [sound, french], fps: 29.97 })).toBe(
    [
      "#EXTM3U",
      "#EXT-X-VERSION:7",
      "#EXT-X-INDEPENDENT-SEGMENTS",
      '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="audio",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="1",URI="audio/playlist.m3u8"',
      '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="français",LANGUAGE="fr",DEFAULT=NO,AUTOSELECT=YES,CHANNELS="1",URI="audio_1/playlist.m3u8"',
      '#EXT-X-STREAM-INF:BANDWIDTH=88000,AVERAGE-BANDWIDTH=68000,CODECS="avc1.64000d,mp4a.40.2",RESOLUTION=320x180,FRAME-RATE=29.970,AUDIO="audio"',
      "b/playlist.m3u8",
      '#EXT-X-STREAM-INF:BANDWIDTH=20000,AVERAGE-BANDWIDTH=17000,CODECS="avc1.64000c,mp4a.40.2",RESOLUTION=160x90,FRAME-RATE=29.970,AUDIO="audio"',
      "a/playlist.m3u8",
      "",
    ].join("\n"),
  );
});
