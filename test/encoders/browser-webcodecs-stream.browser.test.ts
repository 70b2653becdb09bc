import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildCore } from "../../worker/local/build/build-core.ts";
import { openBrowser } from "../browser/chromium.ts";
import type { Cell } from "../browser/encoder-table.page.ts";
import { type Lab, openLab } from "../browser/lab.ts";
import { CLIP_FOLDER, makeClip, runFfmpeg, runFfprobe } from "../fixtures/make-clip.ts";
import { readFacts } from "../judge/facts.ts";
import { readIFrames } from "../judge/i-frames.ts";
import { measureLikeness } from "../judge/likeness.ts";
import { LIKE } from "../judge/limits.ts";
import { compareSound, readSound } from "../judge/sound.ts";
import { READERS, watch } from "../player/play.ts";
import { probe } from "../probe/probe-file.ts";

// Two chunks, and a short last segment.
const SECONDS = 13;
const FPS = 25;
let lab: Lab;
let home: string;
let film: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "framewright-stream-"));
  await buildCore(join(CLIP_FOLDER, "core"));
  await symlink(join(CLIP_FOLDER, "core"), join(home, "core"));
  film = await makeClip("mp4", [
    ...`-f lavfi -i testsrc2=size=480x270:rate=${FPS}:duration=${SECONDS}`.split(" "),
    ...`-f lavfi -i sine=frequency=440:duration=${SECONDS}`.split(" "),
    ...`-f lavfi -i sine=frequency=880:duration=${SECONDS} -map 0 -map 1 -map 2 -metadata:s:a:1 language=jpn`.split(
      " ",
    ),
    ..."-c:v libx264 -preset ultrafast -crf 18 -g 77 -c:a aac -b:a 64k".split(" "),
  ]);
  await symlink(film, join(home, basename(film)));
  lab = await openLab({ files: home });
});
afterAll(async () => {
  await lab?.close();
  await rm(home, { recursive: true, force: true });
});

/** Makes a stream with WebCodecs and writes its files to disk; returns the folder and the names. */
async function stream(name: string, chunk_seconds?: number) {
  const cell: Cell<"adaptive_video"> = {
    ...{ encoder: "webcodecs", clip: `/files/${basename(film)}`, source: await probe(film) },
    ...{
      kind: "adaptive_video",
      options: { format: "hls_dash", i_frames: true },
      ...(chunk_seconds && { chunk_seconds }),
    },
  };
  const answer = await lab.page.evaluate(async (cell) => {
    const { fillCell } = await import("../browser/encoder-table.page.ts");
    return fillCell(cell as Cell);
  }, cell);
  if ("refusal" in answer) throw new Error(answer.refusal);
  const folder = join(home, name);
  for (const file of answer.files) {
    await mkdir(dirname(join(folder, file.name)), { recursive: true });
    await writeFile(join(folder, file.name), Buffer.from(file.base64, "base64"));
  }
  return { folder, names: answer.files.map((file) => file.name) };
}

// The last test plays the chunked stream.
test.for([
  { name: "whole", chunk_seconds: undefined },
  { name: "chunked", chunk_seconds: 6 },
] as const)(
  "a $name stream has every picture, in segments of six seconds with a keyframe every two",
  async ({ name, chunk_seconds }) => {
    const { folder, names } = await stream(name, chunk_seconds);
    expect(names.at(-1)).toBe("master.m3u8");
    const master = await readFile(join(folder, "master.m3u8"), "utf8");
    const variants = master.replace(/^#EXT-X-I-FRAME.*$/gm, "");
    expect(variants.match(/RESOLUTION=\S+?,|AUDIO="\w+"|CODECS="[^"]+"/g)).toEqual([
      ...['CODECS="avc1.64001e,mp4a.40.2"', "RESOLUTION=480x270,", 'AUDIO="audio"'],
      ...['CODECS="avc1.64001e,mp4a.40.2"', "RESOLUTION=426x240,", 'AUDIO="audio"'],
    ]);
    for (const [rendition, width, height] of [
      ["270p", 480, 270],
      ["240p", 426, 240],
    ] as const) {
      const path = join(folder, rendition, "playlist.m3u8");
      const lengths = [...(await readFile(path, "utf8")).matchAll(/^#EXTINF:([\d.]+)/gm)].map(
        ([, each]) => each,
      );
      expect(lengths).toEqual(["6.000000", "6.000000", "1.000000"]);
      const { picture } = await readFacts(path);
      expect(picture).toMatchObject({ codec: "h264", width, height });
      const times = Array.from({ length: SECONDS * FPS }, (_, index) => index / FPS);
      expect(picture?.times.map((time) => Math.round(time * 1000) / 1000)).toEqual(times);
      const { packets } = (await runFfprobe(path, ["-show_packets"])) as {
        packets: { flags: string; pts_time: string }[];
      };
      const keys = packets
        .filter(({ flags }) => flags.startsWith("K"))
        .map(({ pts_time }) => Number(pts_time));
      expect(keys.filter((key) => key % 2 === 0)).toEqual([0, 2, 4, 6, 8, 10, 12]);
      if (name === "whole") continue;
      await runFfmpeg(["-xerror", "-i", path, "-f", "null", "-"]);
      const { mean } = await measureLikeness(path, film, { filter: `scale=${width}:${height}` });
      expect(mean).toBeGreaterThan(LIKE);
    }
    // Chunks share an init segment, which names no time.
    const pictures = await readFile(join(folder, "270p", "playlist.m3u8"), "utf8");
    expect(pictures.match(/#EXT-X-MAP:.*/g)).toEqual(['#EXT-X-MAP:URI="init_0.mp4"']);
    const path = join(folder, "270p", "iframes.m3u8");
    const read = async (url: string, { start = 0, end }: { start?: number; end?: number } = {}) =>
      (await readFile(new URL(url))).subarray(start, end);
    const shown = await readIFrames(await readFile(path, "utf8"), `file://${path}`, read);
    expect(shown).toEqual({ times: [[0], [6], [12]], seconds: [6, 6, 1] });
    expect(master.match(/NAME="[^"]+"(?:,LANGUAGE="\w+")?/g)).toEqual([
      'NAME="Track 1"',
      'NAME="日本語",LANGUAGE="ja"',
    ]);
    for (const [track, name] of ["audio", "audio_1"].entries()) {
      const as = { channels: 1, sample_rate: 8000 };
      const sound = await readSound(join(folder, name, "playlist.m3u8"), as);
      for (const other of [0, 1]) {
        const [echo] = compareSound(sound, await readSound(film, { ...as, after: ["-map", `0:a:${other}`] }));
        if (other === track) expect(echo?.correlation).toBeGreaterThan(0.9);
        else expect(echo?.correlation).toBeLessThan(0.4);
      }
    }
    expect(lab.complaints.splice(0)).toEqual([]);
  },
);

test("hls.js, dash.js and Shaka Player play the chunked stream to its end without a gap", async () => {
  const browser = await openBrowser();
  try {
    for (const [player, manifest] of READERS) {
      const { seen, complaints } = await watch(browser, join(home, "chunked"), player, manifest);
      const where = `${player} ${manifest}`;
      expect(seen, where).toMatchObject({ errors: [], error: null, widths: [426, 480, 426] });
      expect(Math.abs(seen.duration - SECONDS), where).toBeLessThan(0.1);
      expect(Math.abs(seen.at - SECONDS), where).toBeLessThan(0.1);
      expect(seen.buffered, where).toEqual([[expect.closeTo(0, 1), expect.closeTo(SECONDS, 1)]]);
      expect(complaints, where).toEqual([]);
    }
  } finally {
    await browser.close();
  }
});
