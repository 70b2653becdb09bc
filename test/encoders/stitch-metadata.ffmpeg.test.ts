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
  { name: "mp4", options: { format: "mp4", width: 160 }, tags: WORK, cover: true },
  { name: "mp4", options: { format: "mov", width: 160 }, tags: WITHOUT_TRACK, cover: false },
  { name: "mp4", options: { format: "webm", width: 160 }, tags: WORK, cover: false },
  { name: "mp4", options: { format: "mp4", width: 160, metadata: "keep" }, tags: KEPT, cover: true },
  { name: "mp4", options: { format: "webm", width: 160, metadata: "keep" }, tags: KEPT, cover: false },
  { name: "mp4", options: { format: "mp4", width: 160, metadata: "strip" }, tags: {}, cover: false },
  { name: "mkv", options: { format: "mp4", width: 160 }, tags: WORK, cover: false },
] as const)(
  "$name in chunks to $options keeps the tags, time and cover it should",
  async ({ name, options, tags, cover }) => {
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
