import { join } from "node:path";
import type { Browser } from "@playwright/test";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/chromium.ts";
import { chunkedStream, planStream } from "../encoders/native-stream.ts";
import { makeClip, runFfprobe } from "../fixtures/make-clip.ts";
import { readCues } from "../judge/cues.ts";
import { readCaptions } from "./captions.ts";
import { listen } from "./listen.ts";
import { READERS } from "./play.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

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
    const tracks = await listen(browser, folder, player, manifest, TONES);
    const none = player === "shaka" ? "und" : "";
    expect(tracks, `${player} ${manifest}`).toEqual({
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
