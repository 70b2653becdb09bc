import { join } from "node:path";
import type { Browser } from "@playwright/test";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/chromium.ts";
import { chunkedStream, planStream } from "../encoders/native-stream.ts";
import { makeClip } from "../fixtures/make-clip.ts";
import { noiseClip, shortSoundClip } from "../judge/clips.ts";
import { readFacts } from "../judge/facts.ts";
import { READERS, watch } from "./play.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

const uneven = () =>
  makeClip("mp4", [
    ..."-f lavfi -i testsrc2=size=160x90:rate=30:duration=18".split(" "),
    ...["-vf", "select='lt(t,4)+not(mod(n,3))*lt(t,8)+gt(mod(n*7,11),4)*gte(t,8)'", "-fps_mode", "vfr"],
    ..."-c:v libx264 -preset ultrafast -crf 20 -pix_fmt yuv420p".split(" "),
  ]);

/** Parts out of order, the second shorter than a group of pictures and the last shorter than a tenth of a second. */
const PARTS = [
  { start: 9.31, end: 15.5 },
  { start: 1.11, end: 2.02 },
  { start: 11, end: 18 },
  { start: 3.02, end: 3.1 },
];

test.for([
  { name: "pictures and sound", make: () => noiseClip(20), length: 20, readers: READERS },
  {
    name: "several parts",
    make: () => noiseClip(20),
    options: { parts: PARTS },
    length: 14.18,
    readers: READERS,
  },
  {
    name: "sound that starts late and ends early",
    make: () => shortSoundClip(20),
    length: 20,
    readers: READERS.slice(0, 3),
  },
  { name: "uneven frames without sound", make: uneven, length: 18, readers: READERS.slice(0, 3) },
] as const)(
  "hls.js, dash.js and Shaka Player play, switch, seek and end without errors: chunks of $name",
  async ({ make, length, readers, ...row }) => {
    const input = await make();
    const options = { format: "hls_dash", i_frames: true, ...("options" in row && row.options) } as const;
    const { plan, source } = await planStream(input, options);
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
        (path) => readFacts(path),
      ),
    );
    expect(dash?.picture?.times).toEqual(hls?.picture?.times);
  },
);
