import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "@playwright/test";
import { afterAll, beforeAll, expect, test } from "vitest";
import { importContentKey } from "../../src/encoders/run/encrypt-segments.ts";
import { replaceEntries } from "../../src/media/ffmpeg/manifest-entries.ts";
import { openBrowser } from "../browser/chromium.ts";
import { chunkedStream, planStream, wholeStream } from "../encoders/native-stream.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { lateSoundClip, longSoundClip, noiseClip, noiseSound } from "../judge/clips.ts";
import { READERS, watch } from "./play.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

test.for([
  {
    name: "pictures",
    make: () => noiseClip(14),
    length: 14,
    players: [
      ["hls.js", "master.m3u8"],
      ["shaka", "listed.mpd"],
      ["shaka", "master.m3u8"],
    ],
  },
  // Cut every six seconds, a frame of sound or of pictures would be left.
  { name: "whole segments", make: () => noiseClip(24), length: 24, players: [["hls.js", "master.m3u8"]] },
  {
    name: "whole segments and a frame",
    make: () => noiseClip(24.04),
    length: 24.04,
    players: [
      ["hls.js", "master.m3u8"],
      ["dash.js", "manifest.mpd"],
      ["shaka", "manifest.mpd"],
    ],
  },
  { name: "sound only", make: () => noiseSound("wav", 14), length: 14, players: READERS },
  {
    name: "sound that outlasts the pictures a little",
    make: () => lateSoundClip(14),
    length: 14.4,
    players: [
      ["hls.js", "master.m3u8"],
      ["dash.js", "manifest.mpd"],
    ],
  },
  { name: "sound that outlasts the pictures", make: () => longSoundClip(21), length: 21, players: READERS },
] as const)("players read a stream encoded as a whole: $name", async ({ make, length, players }) => {
  const input = await make();
  const { plan, source } = await planStream(input, { format: "hls_dash" });
  const { folder } = await wholeStream(input, plan, source);
  // A page rewrites a manifest like this for files that have only URLs.
  const text = await readFile(join(folder, "manifest.mpd"), "utf8");
  const listed = await replaceEntries(text, async (uri) => `/stream/${uri}`);
  await writeFile(join(folder, "listed.mpd"), listed);
  const [best, low] = plan.renditions.map(({ geometry }) => geometry.width);
  const widths = plan.renditions.length > 0 ? [low, best, low] : [0];
  for (const [player, manifest] of players) {
    const { seen, complaints } = await watch(browser, folder, player, manifest);
    const where = `${player} ${manifest}`;
    expect(seen, where).toMatchObject({ errors: [], error: null, widths });
    expect(Math.abs(seen.duration - length), where).toBeLessThan(0.1);
    expect(Math.abs(seen.at - length), where).toBeLessThan(0.1);
    expect(complaints, where).toEqual([]);
  }
});

test("hls.js and Shaka Player play an encrypted stream", async () => {
  const input = await noiseClip(14);
  const key = {
    url: "https://keys.example.com/14",
    bytes: Buffer.from("0123456789abcdeffedcba9876543210", "hex"),
  };
  const encryption = { method: "aes-128", key: key.bytes.toString("hex"), key_url: key.url } as const;
  const { plan, source } = await planStream(input, { encryption });
  const content_key = await importContentKey(new Uint8Array(key.bytes));
  const { folder } = await chunkedStream(input, plan, source, [6], content_key);
  const [best, low] = plan.renditions.map(({ geometry }) => geometry.width);
  for (const player of ["hls.js", "shaka"] as const) {
    const { seen, complaints } = await watch(browser, folder, player, "master.m3u8", key);
    expect(seen, player).toMatchObject({ errors: [], error: null, widths: [low, best, low] });
    expect(Math.abs(seen.at - 14), player).toBeLessThan(0.1);
    expect(complaints, player).toEqual([]);
  }
});

test("players take the H.264 of a stream in chunks that has H.265 too", async () => {
  const input = await makeClip("mp4", [
    ..."-f lavfi -i testsrc2=size=480x270:rate=24000/1001:duration=14".split(" "),
    ..."-c:v libx264 -preset veryfast -pix_fmt yuv420p".split(" "),
  ]);
  const { plan, source } = await planStream(input, { format: "hls_dash", codecs: ["h264", "hevc"] });
  const { folder } = await chunkedStream(input, plan, source, [6]);
  for (const [player, manifest] of READERS) {
    const { seen, complaints } = await watch(browser, folder, player, manifest);
    const where = `${player} ${manifest}`;
    expect(seen, where).toMatchObject({ errors: [], error: null, widths: [426, 480, 426] });
    expect(Math.abs(seen.at - 14), where).toBeLessThan(0.1);
    expect(complaints, where).toEqual([]);
  }
});
