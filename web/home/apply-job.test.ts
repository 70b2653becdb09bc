import { expect, test } from "vitest";
import { dropped, type Source } from "../../src/index.ts";
import { checkSettings } from "../options/check-settings.ts";
import { defaultSettings } from "../options/default-settings.ts";
import { applyJob } from "./apply-job.ts";
import { JOBS, type Job } from "./jobs.ts";

const sourceOf = (facts: Partial<Source>): Source => ({
  ...{ object: "source", url: "https://example.com/file", kind: "video", format: "mp4" },
  ...facts,
});
const picture = (format: string, facts: Partial<Source> = {}) =>
  sourceOf({
    ...{ kind: "image", format, width: 400, height: 300, codecs: { video: format, audio: null } },
    ...facts,
  });
const video = (facts: Partial<Source> = {}) =>
  sourceOf({
    ...{ width: 1920, height: 1080, duration: 60, fps: 25, codecs: { video: "h264", audio: "aac" } },
    ...facts,
  });
const sound = (format: string, codec: string) =>
  sourceOf({ kind: "audio", format, duration: 60, codecs: { video: null, audio: codec } });

const SOURCES: Readonly<Record<string, Source>> = {
  ...Object.fromEntries(
    ["jpeg", "png", "webp", "avif", "heic", "tiff", "bmp", "gif"].map((format) => [format, picture(format)]),
  ),
  "transparent PNG": picture("png", { has_alpha: true }),
  "transparent WebP": picture("webp", { has_alpha: true }),
  "transparent GIF": picture("gif", { has_alpha: true, binary_alpha: true }),
  "transparent TIFF": picture("tiff", { has_alpha: true }),
  SVG: picture("svg", { has_alpha: true }),
  "animated GIF": picture("gif", { animated: true, duration: 2, fps: 10 }),
  "animated WebP": picture("webp", { animated: true, duration: 2, fps: 10 }),
  MP4: video(),
  MKV: video({ format: "mkv" }),
  MP3: sound("mp3", "mp3"),
  WAV: sound("wav", "pcm_s16le"),
};

test.for(JOBS)("$path chooses options without a fault for every file, and keeps transparency", (job: Job) => {
  for (const [name, source] of Object.entries(SOURCES)) {
    const settings = applyJob(job, defaultSettings(source), source);
    expect([name, checkSettings(settings, source).fault]).toEqual([name, null]);
    if (!job.sets.image || source.kind !== "image") continue;
    const lost = dropped("image", settings.options as ImageOptions, source).map(({ kind }) => kind);
    expect(lost, name).not.toContain("alpha");
  }
});

type ImageOptions = Parameters<typeof dropped<"image">>[1];
