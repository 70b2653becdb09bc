import { EPSILON_SECONDS } from "../../media/clock.ts";
import { MediaError } from "../../media/errors.ts";
import { joinsByCopy } from "../../media/features/concat-plan.ts";
import { STORYBOARD, writeStoryboard } from "../../media/features/storyboard-graph.ts";
import { outputFile, spriteName } from "../../media/ffmpeg/output-files.ts";
import { type Chunk, encodedChunks, isSpliced, type Plan, partsOf } from "../../media/plan.ts";
import type { Counts } from "../../media/source.ts";
import { RunOver } from "../../runs/pipeline.ts";
import { inParallel } from "../../util/async.ts";
import type { WrittenFile } from "../encoder.ts";
import * as errors from "../errors.ts";
import { type Counted, encodeCounted, sumCounts } from "./encode-chunk.ts";
import { type EncodedPart, encodePart, encodeWithin, stitchParts } from "./encode-file.ts";
import { encodeStream, encodeStreamPart, finishParts } from "./encode-stream.ts";
import { createEncodeProgress, type EncodeResult, type EncodeRun, type Encoding } from "./encoding.ts";
import { placeAll, placeSegments, type StoredFile } from "./place-files.ts";

/**
 * Runs a plan on an encoder: encodes its chunks in parallel, stitches several, and stores the output. Every step is durable and
 * overwrites the same keys when repeated. Rejects as the encoder does; a failed chunk stops the others, and a failed run removes its
 * output.
 */
export async function runEncode(run: EncodeRun): Promise<EncodeResult> {
  await run.progress(0);
  try {
    const result = await encodeAll(run);
    await run.progress(100);
    return result;
  } catch (thrown) {
    // Other errors may mean that the host is shutting down; the run then resumes from its stored parts.
    if (thrown instanceof MediaError) {
      await Promise.allSettled([run.out, run.work].map((prefix) => run.storage.clear(prefix)));
    }
    throw thrown;
  }
}

async function encodeAll(run: EncodeRun): Promise<EncodeResult> {
  const { plan, durably, storage } = run;
  const stop = new AbortController();
  const encoding: Encoding = {
    ...run,
    tracker: createEncodeProgress(plan, run.source, run.progress),
    stopped: run.signal ? AbortSignal.any([run.signal, stop.signal]) : stop.signal,
  };
  const adaptive = plan.kind === "adaptive_video";
  const [only, ...more] = plan.chunks;
  const joins = joinsByCopy(plan);
  const spliced = isSpliced(plan);
  if (!only && !joins) throw errors.emptyPlan();
  if (only && more.length === 0 && !joins && !spliced)
    return adaptive
      ? encodeStream(encoding, only)
      : plan.image?.sheet
        ? encodeSprites(encoding, only)
        : singleFileResult(await encodeWithin(encoding, only));
  const encodeOne = adaptive ? encodeStreamPart : encodePart;
  const parts: EncodedPart[] = [];
  const failures: unknown[] = [];
  await inParallel(
    soundFirst(encodedChunks(plan)),
    run.max_in_flight,
    async (chunk) => {
      const counted = await durably(`encode chunk ${chunk.index}`, (signal) =>
        encodeOne(encoding, chunk, signal),
      );
      encoding.tracker.share(chunk, 1);
      parts.push({ chunk, ...counted });
    },
    (thrown) => {
      failures.push(thrown);
      stop.abort(new RunOver());
    },
  ).catch((first: unknown) => {
    throw failures.find((thrown) => !(thrown instanceof RunOver)) ?? first;
  });
  parts.sort((a, b) => a.chunk.index - b.chunk.index);
  await encoding.tracker.finish();
  const pictures = joins && plan.frames !== null && { source: plan.frames, output: plan.frames };
  const copied = plan.chunks.flatMap(({ copy }) => (copy ? [countCopied(copy)] : []));
  const counts = {
    ...sumCounts([...copied, ...parts.map((part) => part.counts)]),
    ...(pictures && { pictures }),
  };
  const files = await durably("stitch", (signal) =>
    adaptive ? finishParts(encoding, parts, counts, signal) : stitchParts(encoding, parts, counts, signal),
  );
  await durably("tidy", async () => {
    await storage.clear(run.work);
    return null;
  });
  const { sound_seconds, ...stored } = files;
  return sound_seconds
    ? { ...stored, ...countSplice(plan, counts, parts, sound_seconds) }
    : { ...stored, counts };
}

function countCopied({ pictures }: { pictures: number }): Counts {
  return { pictures: { source: pictures, output: pictures } };
}

/** Returns the counts of a spliced output, as a whole and for each of its parts. */
function countSplice(
  plan: Plan,
  all: Counts,
  parts: readonly EncodedPart[],
  soundSeconds: readonly number[],
) {
  const round = (seconds: number) => Number(seconds.toFixed(3));
  const isCopied = plan.audio?.mode === "copy";
  const seconds = round(soundSeconds.reduce((sum, each) => sum + each, 0));
  const ranges = partsOf(plan);
  const cuts = ranges.map(({ start, end }, index) => ({
    start,
    end,
    pictures: 0,
    copied: 0,
    ...(isCopied && { sound: round(soundSeconds[index] ?? 0) }),
  }));
  for (const { index, track, at = 0, copy } of plan.chunks) {
    const cut = cuts[ranges.findLastIndex((range) => range.at <= at + EPSILON_SECONDS)];
    if (!cut || track === "audio") continue;
    const part = parts.find(({ chunk }) => chunk.index === index);
    cut.copied += copy?.pictures ?? 0;
    cut.pictures += copy?.pictures ?? part?.counts.pictures?.output ?? 0;
  }
  return { counts: { ...all, ...(isCopied && { sound: { source: seconds, output: seconds } }) }, cuts };
}

function soundFirst(chunks: readonly Chunk[]): Chunk[] {
  return chunks.toSorted((a, b) => Number(b.track === "audio") - Number(a.track === "audio"));
}

function singleFileResult({ stored: { mime: _, ...stored }, counts }: Counted<StoredFile>): EncodeResult {
  return { ...stored, files: 1, counts };
}

/** Encodes several stills, or the sprites of a storyboard with its JSON and, stored last, its WebVTT. */
function encodeSprites(encoding: Encoding, chunk: Chunk): Promise<EncodeResult> {
  const { plan, out, storage } = encoding;
  return encoding.durably("encode", async (signal) => {
    const place = { folder: out, name: null };
    const { stored } = await encodeCounted(encoding, chunk, place, signal, async (encoded) => {
      const { written } = await placeSegments(storage, encoded, out);
      checkSprites(plan, written);
      return { stored: written, count: async () => ({ pictures: null, sound: 0 }) };
    });
    const files = [...stored, ...(await placeAll(storage, spriteIndexes(plan), out))];
    const size = files.reduce((sum, file) => sum + file.size, 0);
    return { key: out + outputFile(plan, chunk).name, files: files.length, size, counts: {} };
  });
}

function checkSprites(plan: Plan, written: readonly WrittenFile[]): void {
  const names = new Set(written.filter(({ size }) => size > 0).map(({ name }) => name));
  const { sheets = 0 } = plan.image?.sheet ?? {};
  const missing = Array.from({ length: sheets }, (_, index) => spriteName(plan, index)).filter(
    (name) => !names.has(name),
  );
  if (missing.length === 0 && names.size === sheets) return;
  const of = plan.kind === "storyboard" ? "sheets" : "stills";
  throw errors.picturesMissing({ of, missing: missing.length, count: sheets });
}

function spriteIndexes(plan: Plan): { name: string; mime: string; bytes: Uint8Array }[] {
  const { image } = plan;
  if (!image?.sheet || plan.kind !== "storyboard") return [];
  const { vtt, json } = writeStoryboard(plan, image, image.sheet);
  const encoder = new TextEncoder();
  return [
    { name: STORYBOARD.json, mime: "application/json", bytes: encoder.encode(json) },
    { name: STORYBOARD.vtt, mime: "text/vtt", bytes: encoder.encode(vtt) },
  ];
}
