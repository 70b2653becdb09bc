import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { createCopyEncoder } from "../../src/encoders/copy.ts";
import { runEncode } from "../../src/encoders/run/run-encode.ts";
import { runFfprobe } from "../fixtures/make-clip.ts";
import { listPaths } from "../judge/boxes.ts";
import { crowdedVideo, readChapters } from "../judge/tags.ts";
import { probeFile } from "../probe/probe-file.ts";
import { fetchStored, trial } from "./encode-trial.ts";

const TITLES = ["Zwölf Uhr", "語".repeat(255), "End"] as const;
// Nothing is a chapter at first, nor between the last two.
const CHAPTERS = [
  { start: 0.5, end: 1.25, title: TITLES[0] },
  { start: 1.25, end: 1.5, title: TITLES[1] },
  { start: 2, end: 3, title: TITLES[2] },
];

test.for([
  { format: "mp4", options: { width: 80 }, changes: {} },
  { format: "mov", options: { width: 80 }, changes: { hints: { chunk_seconds: 1 } } },
  { format: "mp4", options: { mode: "copy" }, changes: { encoder: createCopyEncoder() } },
] as const)(
  "chapters are also a track of titles, which players of Apple read: $format $options",
  async ({ format, options, changes }) => {
    const run = await trial(await crowdedVideo("mp4"), "video", { format, ...options }, changes);
    const source = { ...run.source, chapters: CHAPTERS };
    const { key } = await runEncode({ ...run, source });
    const path = await fetchStored(run.storage, key);

    const paths = listPaths(await readFile(path));
    expect(paths.filter((each) => each === "moov/trak/tref/chap")).toHaveLength(2);
    expect(paths).toContain("moov/trak/mdia/minf/gmhd/text");
    expect(paths).toContain("moov/udta/chpl");
    const { streams } = (await runFfprobe(path)) as { streams: Record<string, unknown>[] };
    expect(streams.map(({ codec_type, codec_tag_string: tag }) => [codec_type, tag])).toEqual([
      ["video", "avc1"],
      ["audio", "mp4a"],
      ["subtitle", "tx3g"],
      ["data", "text"],
    ]);
    expect(streams.at(-1)).toMatchObject({
      ...{ start_time: "0.500000", nb_frames: "3", disposition: { default: 0 } },
    });

    // The track alone carries the chapters when Nero's list is gone.
    const bytes = await readFile(path);
    bytes.write("free", bytes.indexOf("chpl"), "latin1");
    await writeFile(path, bytes);
    expect(await readChapters(path)).toEqual([
      `0.500 to 1.3 ${TITLES[0]}`,
      `1.250 to 2.0 ${TITLES[1]}`,
      "2.000 to 3.0 End",
    ]);
    const output = (await probeFile(path)).source;
    expect(output.chapters).toEqual([
      CHAPTERS[0],
      { ...CHAPTERS[1], end: 2 },
      { ...CHAPTERS[2], end: expect.closeTo(3, 1) },
    ]);
    expect(output.streams?.map(({ kind }) => kind)).toEqual(["video", "audio", "subtitle"]);
  },
);
