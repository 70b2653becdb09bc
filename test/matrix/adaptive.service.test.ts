import { stat, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, type expect, test } from "vitest";
import { clip } from "../fixtures/clips.ts";
import { makeClip, runFfprobe } from "../fixtures/make-clip.ts";
import { noiseClip, noiseSound, quadrantClip } from "../judge/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { note } from "../judge/figures.ts";
import type { Fetched } from "../judge/front-door.ts";
import { readIFrames } from "../judge/i-frames.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { ALIKE_SOUND, LIKE } from "../judge/limits.ts";
import { runNative } from "../judge/native.ts";
import { readPicture } from "../judge/picture.ts";
import {
  type MediaPlaylist,
  measureBits,
  parseMaster,
  parseMedia,
  type Variant,
} from "../judge/playlists.ts";
import { wrongPoints } from "../judge/quadrants.ts";
import { type Rig, startRig } from "../judge/rig.ts";
import { compareSound, readSound } from "../judge/sound.ts";

let rig: Rig;
beforeAll(async () => {
  // Two encoders, so that long sources are cut.
  rig = await startRig(() => ({}), 2);
}, 180_000);
afterAll(() => rig?.close());

const LIMIT = { timeout: 300_000 };
const MIME = "application/vnd.apple.mpegurl";

interface Stream {
  url: string;
  /** The reason for the choice of encoder and chunks. */
  reason: string | undefined;
  variants: (Variant & { playlist: MediaPlaylist })[];
  audio: MediaPlaylist | undefined;
}

async function stream(original: string, options: Record<string, unknown> = {}): Promise<Stream> {
  const task = await rig.door.runTask({ input: rig.serve(original), kind: "adaptive_video", options });
  if (task.status !== "succeeded" || !task.output) throw new Error(JSON.stringify(task.error));
  const url = task.output;
  const { variants, audio } = parseMaster(await readText(url), url);
  const lists = variants.map(async (variant) => ({ ...variant, playlist: await readMedia(variant.url) }));
  const [group] = Object.values(audio);
  const reason = task.steps.at(-1)?.output?.reason;
  return {
    url,
    reason,
    variants: await Promise.all(lists),
    audio: group ? await readMedia(group) : undefined,
  };
}

async function readText(url: string): Promise<string> {
  const response = await fetch(url);
  if (response.status !== 200 || response.headers.get("Content-Type") !== MIME) {
    throw new Error(`${url}: ${response.status} ${response.headers.get("Content-Type")}`);
  }
  return response.text();
}

const readMedia = async (url: string) => parseMedia(await readText(url), url);

// The init segment and all media segments together are a playable MP4 file.
async function join(playlist: MediaPlaylist): Promise<Fetched> {
  const init = await rig.door.fetchFile(playlist.init);
  const parts: Buffer[] = [];
  for (const url of [playlist.init, ...playlist.segments.map((segment) => segment.url)]) {
    parts.push(Buffer.from(await (await fetch(url)).arrayBuffer()));
  }
  await writeFile(init.path, Buffer.concat(parts));
  return init;
}

async function checkPlaylist(playlist: MediaPlaylist, seconds: number, check: typeof expect): Promise<void> {
  check(playlist.ended).toBe(true);
  check(playlist.kind).toBe("VOD");
  const lengths = playlist.segments.map((segment) => segment.seconds);
  check(Math.abs(lengths.reduce((sum, length) => sum + length, 0) - seconds)).toBeLessThanOrEqual(0.1);
  // RFC 8216, 4.3.3.1: rounded, no segment is longer than the target.
  check(Math.max(...lengths.map(Math.round))).toBeLessThanOrEqual(playlist.target);
  for (const length of lengths.slice(0, -1)) check(Math.abs(length - 6)).toBeLessThanOrEqual(0.1);
}

const sizeOf = async (url: string) => (await (await fetch(url)).arrayBuffer()).byteLength;

test.concurrent(
  "a stream of two segments plays completely and matches its source in pictures, sound and timing",
  LIMIT,
  async ({ expect, task }) => {
    const original = await noiseClip(7);
    const { url, variants, audio } = await stream(original, { quality: "high", i_frames: true });
    expect(variants).toHaveLength(1);
    expect(await iFramesOf(url)).toEqual([{ width: 160, times: [[0], [6]], seconds: [6, 1] }]);
    const [variant] = variants;
    if (!variant || !audio) throw new Error("no variant or no audio");
    expect(variant).toMatchObject({ resolution: "160x90", frame_rate: 25 });
    expect(variant.codecs).toMatch(/^avc1\.[0-9a-fA-F]{6},mp4a\.40\.2$/);
    await checkPlaylist(variant.playlist, 7, expect);
    await checkPlaylist(audio, 7, expect);
    expect(variant.playlist.segments).toHaveLength(2);
    const { peak, average } = await measureBits([variant.playlist, audio], sizeOf);
    expect(Math.abs(variant.bandwidth / peak - 1)).toBeLessThan(0.1);
    expect(Math.abs(variant.average_bandwidth / average - 1)).toBeLessThan(0.1);

    const pictures = await join(variant.playlist);
    expect(pictures.mime).toBe("video/mp4");
    const facts = await readFacts(pictures.path);
    expect(facts.picture?.times).toHaveLength(175);
    const like = await measureLikeness(pictures.path, original);
    note(task, { ssim: like.mean, worst: like.worst });
    expect(like.mean).toBeGreaterThan(LIKE);
    const as = { channels: 2, sample_rate: 8000 };
    const sound = await readSound((await join(audio)).path, as);
    for (const echo of compareSound(sound, await readSound(original, as))) {
      expect(echo.correlation).toBeGreaterThan(ALIKE_SOUND);
    }
    // Native ffmpeg plays it from the URL alone, over HTTP.
    const played = await readFactsOf(url);
    expect(played.picture?.times).toHaveLength(175);
    expect(played.sound).toMatchObject({ codec: "aac", channels: 2 });
  },
);

// Copies the played stream to a file for readFacts.
async function readFactsOf(url: string) {
  const { path } = await rig.door.fetchFile(url);
  await runNative(["-y", "-i", url, "-map", "0:v:0?", "-map", "0:a:0?", "-c", "copy", `${path}.mkv`]);
  return readFacts(`${path}.mkv`);
}

test.concurrent(
  "renditions are sorted best first, have aligned segments, and never exceed the source's size",
  LIMIT,
  async ({ expect }) => {
    const original = await makeClip("mp4", [
      ..."-f lavfi -i testsrc2=size=640x360:rate=8:duration=7".split(" "),
      ..."-c:v libx264 -preset veryfast -crf 18 -pix_fmt yuv420p".split(" "),
    ]);
    const { variants, audio } = await stream(original);
    expect(audio).toBeUndefined();
    expect(variants.map((variant) => variant.resolution)).toEqual(["640x360", "426x240"]);
    expect(variants[0]?.bandwidth).toBeGreaterThan(variants[1]?.bandwidth ?? Number.NaN);
    const [top, low] = variants.map(({ playlist }) => playlist.segments.map((segment) => segment.seconds));
    expect(top).toEqual(low);
    for (const [index, variant] of variants.entries()) {
      expect(variant.codecs).toMatch(/^avc1\.[0-9a-fA-F]{6}$/);
      expect(variant.frame_rate).toBe(8);
      await checkPlaylist(variant.playlist, 7, expect);
      const { path } = await join(variant.playlist);
      const { picture } = await readFacts(path);
      expect(picture).toMatchObject(index === 0 ? { width: 640, height: 360 } : { width: 426, height: 240 });
      expect(picture?.times).toHaveLength(56);
      const filter = index === 0 ? "null" : "scale=426:240";
      expect((await measureLikeness(path, original, { filter })).mean).toBeGreaterThan(LIKE);
    }
  },
);

test.concurrent(
  "H.265 and AV1 have the sizes of H.264, fewer bytes and like pictures",
  LIMIT,
  async ({ expect, task }) => {
    const original = await makeClip("mp4", [
      ..."-f lavfi -i testsrc2=size=480x270:rate=30000/1001:duration=13".split(" "),
      ..."-c:v libx264 -preset veryfast -crf 12 -pix_fmt yuv420p".split(" "),
    ]);
    const options = { format: "hls_dash", codecs: ["h264", "hevc", "av1"], i_frames: true };
    const { url, variants } = await stream(original, options);
    expect(variants.map(({ codecs, resolution, score }) => [codecs, resolution, score])).toEqual([
      [expect.stringMatching(/^avc1\.[0-9a-f]{6}$/), "480x270", 4],
      [expect.stringMatching(/^avc1\.[0-9a-f]{6}$/), "426x240", 1],
      ["hvc1.1.6.L63.90", "480x270", 5],
      ["hvc1.1.6.L60.90", "426x240", 2],
      ["av01.0.00M.08", "480x270", 6],
      ["av01.0.00M.08", "426x240", 3],
    ]);
    const rungs = [];
    for (const { codecs, resolution, playlist } of variants) {
      await checkPlaylist(playlist, 390 * (1001 / 30_000), expect);
      const { path } = await join(playlist);
      const { picture } = await readFacts(path);
      expect([codecs, picture?.times.length]).toEqual([codecs, 390]);
      const filter = resolution === "480x270" ? "null" : "scale=426:240";
      const { mean } = await measureLikeness(path, original, { filter });
      rungs.push({ codec: codecs.slice(0, 4), mean, bytes: (await stat(path)).size });
    }
    note(
      task,
      Object.fromEntries(rungs.map(({ codec, mean, bytes }, at) => [`${codec} ${at}`, [mean, bytes]])),
    );
    expect(Math.min(...rungs.map(({ mean }) => mean))).toBeGreaterThan(LIKE);
    const shown = await iFramesOf(url);
    expect(shown.map(({ width }) => width).sort()).toEqual([426, 426, 426, 480, 480, 480]);
    for (const { times } of shown) expect(times).toEqual([[0], [6.006], [12.012]]);
    const manifest = await (await fetch(new URL("manifest.mpd", url))).text();
    const sets = [
      ...manifest.matchAll(/<AdaptationSet [^>]*?(?: selectionPriority="(\d)")?>(.*?)<\/AdaptationSet>/gs),
    ];
    expect(sets.map(([, priority, inside = ""]) => [priority, inside.match(/(?<=codecs=")\w+/g)])).toEqual([
      [undefined, ["avc1", "avc1"]],
      ["2", ["hvc1", "hvc1"]],
      ["3", ["av01", "av01"]],
    ]);
  },
);

test.concurrent("a stream of sound alone has no video, and no I-frames", LIMIT, async ({ expect }) => {
  const original = await noiseSound("wav", 2);
  const { url, variants } = await stream(original, { i_frames: true });
  expect(await iFramesOf(url)).toEqual([]);
  expect(variants.length).toBeGreaterThan(0);
  for (const variant of variants) {
    expect(variant.codecs).toBe("mp4a.40.2");
    expect(variant.resolution).toBeUndefined();
  }
  const played = await readFactsOf(url);
  expect(played.picture).toBeNull();
  expect(played.sound).toMatchObject({ codec: "aac", channels: 2 });
});

test.concurrent("a rotated clip is upright in a stream, cropped and placed", LIMIT, async ({ expect }) => {
  const { variants } = await stream(await quadrantClip(90), {
    width: 80,
    height: 80,
    fit: "cover",
    position: "top",
  });
  const [variant] = variants;
  if (!variant) throw new Error("no variant");
  expect(variant.resolution).toBe("80x80");
  const picture = await readPicture((await join(variant.playlist)).path);
  const placing = {
    ...({ source: { width: 96, height: 160 }, turned: 90, width: 80, height: 80 } as const),
    ...({ fit: "cover", position: "top", background: "#000000" } as const),
  };
  expect(wrongPoints(picture, placing, 24)).toEqual([]);
});

test.concurrent("start and end trim a DASH stream", LIMIT, async ({ expect }) => {
  const original = await clip("mp4", { seconds: 2 });
  const options = { format: "dash", start: 0.4, end: 1.2, quality: "high" };
  const task = await rig.door.runTask({ input: rig.serve(original), kind: "adaptive_video", options });
  const url = task.output ?? "";
  expect(url).toMatch(/\/manifest\.mpd$/);
  const [stated] = task.steps.at(-1)?.output?.renditions ?? [];
  expect(task.steps.at(-1)?.output).toMatchObject({
    ...{ format: "dash", mime: "application/dash+xml", renditions: [{ url, width: 160, height: 90 }] },
  });
  expect(stated?.codecs).toMatch(/^avc1\.[0-9a-fA-F]{6},mp4a\.40\.2$/);
  const missing = await fetch(new URL("master.m3u8", url));
  expect(missing.status).toBe(404);
  // Native ffmpeg plays it from the URL alone, over HTTP.
  const { path } = await rig.door.fetchFile(url);
  await runNative(["-y", "-i", url, "-map", "0:v:0", "-c", "copy", `${path}.mkv`]);
  const like = await measureLikeness(`${path}.mkv`, original, { filter: "trim=start_frame=10:end_frame=30" });
  expect(like.frames).toBe(20);
  expect(like.worst).toBeGreaterThan(LIKE - 0.02);
});

// Enough pixels for several chunks, yet fast to encode because little moves.
function wideClip(): Promise<string> {
  return makeClip("mp4", [
    ..."-f lavfi -i testsrc=size=1920x1080:rate=4:duration=48".split(" "),
    ..."-f lavfi -i sine=frequency=330:sample_rate=48000:duration=48 -ac 2".split(" "),
    ..."-c:v libx264 -preset ultrafast -crf 20 -pix_fmt yuv420p -g 36 -c:a aac -b:a 96k".split(" "),
  ]);
}

test.concurrent("a stream encoded in chunks has no seams", LIMIT, async ({ expect }) => {
  const original = await wideClip();
  const { url, reason, variants, audio } = await stream(original, {
    format: "hls_dash",
    i_frames: true,
  });
  expect(reason).toBe("Encoded in 2 parts, 2 at once.");
  expect(variants.map(({ resolution }) => resolution)).toEqual([
    ...["1920x1080", "1280x720", "854x480", "640x360", "426x240"],
  ]);
  for (const variant of variants) {
    await checkPlaylist(variant.playlist, 48, expect);
    expect(variant.playlist.segments).toHaveLength(8);
    const packets = await readPackets(variant.url);
    const times = packets.map(({ time }) => time - (packets[0]?.time ?? 0));
    expect(times).toEqual(Array.from({ length: 192 }, (_, index) => index / 4));
    const keys = times.filter((_, index) => packets[index]?.key);
    expect(keys).toEqual(Array.from({ length: 24 }, (_, index) => index * 2));
  }
  if (!audio) throw new Error("no audio");
  await checkPlaylist(audio, 48, expect);
  const played = await readFactsOf(url);
  expect(played.picture?.times).toHaveLength(192);
  expect(played.sound).toMatchObject({ codec: "aac", channels: 2 });
  const shown = await iFramesOf(url);
  expect(shown.map(({ width }) => width)).toEqual([1920, 1280, 854, 640, 426]);
  for (const { times, seconds } of shown) {
    expect(times).toEqual(Array.from({ length: 8 }, (_, index) => [index * 6]));
    expect(seconds).toEqual(Array(8).fill(6));
  }
  const packets = await readPackets(new URL("manifest.mpd", url).href);
  expect(packets.map(({ time }) => time)).toEqual(Array.from({ length: 192 }, (_, index) => index / 4));
});

/** Reads the I-frame playlists that a master playlist names. */
async function iFramesOf(url: string) {
  const rows = (await readText(url)).matchAll(
    /#EXT-X-I-FRAME-STREAM-INF:.*RESOLUTION=(\d+)x.*URI="([^"]+)"/g,
  );
  const read = async (at: string, range?: { start: number; end: number }) => {
    const headers = range ? { Range: `bytes=${range.start}-${range.end - 1}` } : {};
    return new Uint8Array(await (await fetch(at, { headers })).arrayBuffer());
  };
  return Promise.all(
    [...rows].map(async ([, width, uri = ""]) => {
      const own = new URL(uri, url).href;
      return { width: Number(width), ...(await readIFrames(await readText(own), own, read)) };
    }),
  );
}

async function readPackets(url: string): Promise<{ time: number; key: boolean }[]> {
  const report = await runFfprobe(url, ["-select_streams", "v:0", "-show_entries", "packet=pts_time,flags"]);
  const { packets } = report as { packets: { pts_time: string; flags: string }[] };
  return packets.map(({ pts_time, flags }) => ({ time: Number(pts_time), key: flags.startsWith("K") }));
}
