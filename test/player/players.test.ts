import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "@playwright/test";
import { afterAll, beforeAll, expect, test } from "vitest";
import { importContentKey } from "../../src/encoders/run/encrypt-segments.ts";
import { replaceEntries } from "../../src/ffmpeg/manifests/manifest-entries.ts";
import { chunkedStream, planStream, wholeStream } from "../encoders/native-stream.ts";
import { makeClip, runFfprobe } from "../fixtures/make-clip.ts";
import { lateSoundClip, longSoundClip, noiseClip, noiseSound, shortSoundClip } from "../judge/clips.ts";
import { readCues } from "../judge/cues.ts";
import { readFacts } from "../judge/facts.ts";
import { startBrowser } from "../worker/api/browser.ts";
import { readCaptions } from "./captions.ts";
import { listen } from "./listen.ts";
import { READERS, watch } from "./play.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

const uneven = () =>
  makeClip("mp4", [
    ..."-f lavfi -i testsrc2=size=160x90:rate=30:duration=18".split(" "),
    ...["-vf", "select='lt(t,4)+not(mod(n,3))*lt(t,8)+gt(mod(n*7,11),4)*gte(t,8)'", "-fps_mode", "vfr"],
    ..."-c:v libx264 -preset ultrafast -crf 20 -pix_fmt yuv420p".split(" "),
  ]);

test.for([
  ["pictures and sound", () => noiseClip(20), 20, READERS],
  ["sound that starts late and ends early", () => shortSoundClip(20), 20, READERS.slice(0, 3)],
  ["uneven frames without sound", uneven, 18, READERS.slice(0, 3)],
] as const)(
  "hls.js, dash.js and Shaka Player play, switch, seek and end without errors: chunks of %s",
  async ([, make, length, readers]) => {
    const input = await make();
    const { plan, source } = await planStream(input, { format: "hls_dash", i_frames: true });
    const { folder, playlists } = await chunkedStream(input, plan, source, [6, 12]);
    expect(playlists.slice(-1)).toEqual(["master.m3u8"]);
    const [best, low] = plan.renditions.map(({ geometry }) => geometry.width);
    for (const [player, manifest] of readers) {
      const { seen, complaints } = await watch(browser, folder, player, manifest);
      const where = `${player} ${manifest}`;
      expect(seen, where).toMatchObject({ errors: [], error: null, widths: [low, best, low] });
      expect(Math.abs(seen.duration - length), where).toBeLessThan(0.1);
      expect(Math.abs(seen.at - length), where).toBeLessThan(0.1);
      expect(complaints, where).toEqual([]);
    }
    // ffmpeg reads the manifest as it does the playlists.
    const [hls, dash] = await Promise.all(
      [join(folder, plan.renditions[0]?.name ?? "", "playlist.m3u8"), join(folder, "manifest.mpd")].map(
        readFacts,
      ),
    );
    expect(dash?.picture?.times).toEqual(hls?.picture?.times);
  },
);

test.for([
  [
    "pictures",
    () => noiseClip(14),
    14,
    [
      ["hls.js", "master.m3u8"],
      ["shaka", "listed.mpd"],
      ["shaka", "master.m3u8"],
    ],
  ],
  // Cut every six seconds, a frame of sound or of pictures would be left.
  ["whole segments", () => noiseClip(24), 24, [["hls.js", "master.m3u8"]]],
  [
    "whole segments and a frame",
    () => noiseClip(24.04),
    24.04,
    [
      ["hls.js", "master.m3u8"],
      ["dash.js", "manifest.mpd"],
      ["shaka", "manifest.mpd"],
    ],
  ],
  ["sound only", () => noiseSound("wav", 14), 14, READERS],
  [
    "sound that outlasts the pictures a little",
    () => lateSoundClip(14),
    14.4,
    [
      ["hls.js", "master.m3u8"],
      ["dash.js", "manifest.mpd"],
    ],
  ],
  ["sound that outlasts the pictures", () => longSoundClip(21), 21, READERS],
] as const)("players read a stream encoded as a whole: %s", async ([, make, length, players]) => {
  const input = await make();
  const { plan, source } = await planStream(input, { format: "hls_dash" });
  const { folder } = await wholeStream(input, plan, source);
  // What a page makes of a manifest for files that have only URLs.
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

/** A video with a tone for each of its languages; the second is mono at 44.1 kHz, the last has no language. */
const languages = () =>
  makeClip("mkv", [
    ..."-f lavfi -i testsrc2=size=160x90:rate=10:duration=9".split(" "),
    ...TONES.flatMap((tone) => ["-f", "lavfi", "-i", `sine=frequency=${tone}:sample_rate=48000:duration=9`]),
    ..."-map 0:v -map 1:a -map 2:a -map 3:a -c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 20".split(" "),
    ..."-c:a aac -b:a 96k -ac 2 -ac:a:1 1 -ar:a:1 44100".split(" "),
    ..."-metadata:s:a:0 language=eng -metadata:s:a:1 language=fra -metadata:s:a:2 language=und".split(" "),
  ]);
const TONES = [500, 1300, 2900] as const;

test("players list, play and switch the sound tracks of a stream, and ffmpeg tells them apart", async () => {
  const input = await languages();
  const { plan, source } = await planStream(input, { format: "hls_dash" });
  const { folder } = await chunkedStream(input, plan, source, [6]);
  for (const [player, manifest] of READERS) {
    const heard = await listen(browser, folder, player, manifest, TONES);
    const none = player === "shaka" ? "und" : "";
    expect(heard, `${player} ${manifest}`).toEqual({
      first: 500,
      tracks: [
        { language: "fr", name: "français", tone: 1300 },
        { language: none, name: "Track 3", tone: 2900 },
        { language: "en", name: "English", tone: 500 },
      ],
      errors: [],
    });
  }
  for (const manifest of ["master.m3u8", "manifest.mpd"]) {
    const probed = await runFfprobe(join(folder, manifest), ["-show_streams", "-select_streams", "a"]);
    const { streams } = probed as {
      streams: { channels: number; sample_rate: string; tags?: { language?: string } }[];
    };
    const facts = streams.map(({ channels, sample_rate, tags }) => [tags?.language, channels, sample_rate]);
    expect([...new Set(facts.map(String))].toSorted(), manifest).toEqual(
      [
        ["en", 2, "48000"],
        ["fr", 1, "44100"],
        [undefined, 2, "48000"],
      ]
        .map(String)
        .toSorted(),
    );
  }
});

const CAPTIONS = ["1.000 2.000 Hello", "4.500 7.250 over a cut", "29.500 31.500 late"];
const UNTERTITEL = ["1.000 2.000 Hallo"];
const subrip = (cues: readonly string[]) => {
  const blocks = cues.map((cue, index) => {
    const [start = "", end = "", ...words] = cue.split(" ");
    const clock = (time: string) => `00:00:${time.padStart(6, "0").replace(".", ",")}`;
    return `${index + 1}\n${clock(start)} --> ${clock(end)}\n${words.join(" ")}\n`;
  });
  return `data:text/plain;base64,${btoa(blocks.join("\n"))}`;
};

const captioned = () =>
  makeClip("mp4", [
    ..."-f lavfi -i testsrc2=size=160x90:rate=10:duration=33".split(" "),
    ...["-f", "srt", "-i", subrip(CAPTIONS), "-f", "srt", "-i", subrip(UNTERTITEL)],
    ..."-map 0 -map 1 -map 2 -c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 20 -c:s mov_text".split(" "),
    ..."-metadata:s:s:0 language=eng -disposition:s:0 0 -metadata:s:s:1 language=deu".split(" "),
  ]);

test("players list and show the captions of a stream, and ffmpeg reads them", async () => {
  const input = await captioned();
  const { plan, source } = await planStream(input, { format: "hls_dash" });
  const { folder } = await chunkedStream(input, plan, source, [6]);
  for (const [player, manifest] of READERS) {
    expect(await readCaptions(browser, folder, player, manifest, [1.5, 30]), `${player} ${manifest}`).toEqual(
      {
        tracks: [
          { language: "en", name: "English", shown: ["1.000 2.000 Hello", "29.500 31.500 late"] },
          { language: "de", name: "Deutsch", shown: ["1.000 2.000 Hallo", ""] },
        ],
        errors: [],
      },
    );
  }
  for (const [folders, cues] of [
    ["subtitles", CAPTIONS],
    ["subtitles_1", UNTERTITEL],
  ] as const) {
    const file = join(folder, folders, "period_0.vtt");
    expect(await readCues(file, 0)).toEqual(cues);
    // A cue that lasts beyond a segment is in both.
    const read = await readCues(join(folder, folders, "playlist.m3u8"), 0);
    expect([...new Set(read)]).toEqual(cues);
  }
});
