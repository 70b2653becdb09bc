import { MediaError } from "../../core/errors.ts";
import { outputFile, spriteName } from "../../ffmpeg/output.ts";
import { STORYBOARD, writeStoryboard } from "../../media/features/storyboard-graph.ts";
import type { Chunk, Plan } from "../../plan/plan.ts";
import type { WrittenFile } from "../encoder.ts";
import { encodeCounted } from "./encode-counted.ts";
import type { EncodeResult, Encoding } from "./encoding.ts";
import { placeAll, placeSegments } from "./place-files.ts";

/** Encodes several stills, or the sheets of a storyboard, and stores its JSON and, once everything else is there, its WebVTT. */
export function encodeSprites(encoding: Encoding, chunk: Chunk): Promise<EncodeResult> {
  const { plan, out, storage } = encoding;
  return encoding.durably("encode", async (signal) => {
    const place = { folder: out, name: null };
    const { stored } = await encodeCounted(encoding, chunk, place, signal, async (encoded) => {
      const { written } = await placeSegments(storage, encoded, out);
      checkSprites(plan, written);
      // A tile is chosen from many pictures, so there is nothing to compare.
      return { stored: written, count: async () => ({ pictures: null, sound: 0 }) };
    });
    const files = [...stored, ...(await placeAll(storage, notesOf(plan), out))];
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
  const what = plan.kind === "storyboard" ? "sheets" : "stills";
  const message = `The encode is incomplete: ${missing.length} of ${sheets} ${what} are missing.`;
  throw new MediaError("encode_incomplete", message);
}

function notesOf(plan: Plan): { name: string; mime: string; bytes: Uint8Array }[] {
  const { image } = plan;
  if (!image?.sheet || plan.kind !== "storyboard") return [];
  const { vtt, json } = writeStoryboard(plan, image, image.sheet);
  const encoder = new TextEncoder();
  return [
    { name: STORYBOARD.json, mime: "application/json", bytes: encoder.encode(json) },
    { name: STORYBOARD.vtt, mime: "text/vtt", bytes: encoder.encode(vtt) },
  ];
}
