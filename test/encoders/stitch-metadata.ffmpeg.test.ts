import { expect, test } from "vitest";
import { runEncode } from "../../src/encoders/run/run-encode.ts";
import {
  LOCATION,
  MADE,
  readCovers,
  readCreationTime,
  readFileTags,
  taggedVideo,
  WORK,
} from "../judge/tags.ts";
import { fetchStored, trial } from "./encode-trial.ts";
import { createNativeEncoder } from "./native-encoder.ts";

const { track: _, ...WITHOUT_TRACK } = WORK;
const KEPT = { ...WORK, location: LOCATION };

test.for([
  ["mp4", { format: "mp4", width: 160 }, WORK, true],
  ["mp4", { format: "mov", width: 160 }, WITHOUT_TRACK, false],
  ["mp4", { format: "webm", width: 160 }, WORK, false],
  ["mp4", { format: "mp4", width: 160, metadata: "keep" }, KEPT, true],
  ["mp4", { format: "webm", width: 160, metadata: "keep" }, KEPT, false],
  ["mp4", { format: "mp4", width: 160, metadata: "strip" }, {}, false],
  ["mkv", { format: "mp4", width: 160 }, WORK, false],
] as const)(
  "%s in chunks to %o keeps the tags, time and cover it should",
  async ([name, options, tags, cover]) => {
    const original = await taggedVideo(name, 3);
    const encoder = createNativeEncoder();
    const run = await trial(original, "video", options, { encoder, hints: { chunk_seconds: 1 } });
    const { key } = await runEncode(run);
    expect(encoder.jobs.map(({ chunk }) => chunk.track).sort()).toEqual(["audio", "video", "video", "video"]);
    const path = await fetchStored(run.storage, key);
    expect(await readFileTags(path)).toEqual(tags);
    expect(await readCreationTime(path)).toBe(
      "metadata" in options && options.metadata === "keep" ? MADE : undefined,
    );
    expect(await readCovers(path)).toEqual(cover ? await readCovers(original) : []);
  },
);
