import type { z } from "zod";
import type { Planned } from "./feature.ts";
import type * as schema from "./plan-schema.ts";

/** How a stored picture becomes the output picture. */
export interface Geometry extends z.infer<typeof schema.Geometry> {}
/** Constant quality on the codec's scale, or an average bitrate in bits per second. */
export type Rate = z.infer<typeof schema.Rate>;
/** How the video stream is produced. */
export type VideoPlan = z.infer<typeof schema.VideoPlan>;
/** How the audio stream is produced. */
export type AudioPlan = z.infer<typeof schema.AudioPlan>;
/** How an image is produced. */
export interface ImagePlan extends z.infer<typeof schema.ImagePlan> {}
/** One stream of adaptive video. */
export interface Rendition extends z.infer<typeof schema.Rendition> {}
/** A range of the source in seconds. */
export interface SourceRange {
  start: number;
  end: number;
}
/** One of several ranges of the source that play one after the other. */
export type PlannedPart = NonNullable<Plan["parts"]>[number];
/** A span of the source that is encoded separately. */
export interface Chunk extends z.infer<typeof schema.Chunk> {}
/** One of several videos that play one after the other. */
export type ConcatPart = NonNullable<Plan["concat"]>[number];
/** All the work on a source, decided before any of it starts; plain data that survives a restart. */
export interface Plan extends z.infer<typeof schema.Plan> {}

/**
 * Version of the plan's fields. Raise it when a field changes its meaning or name, or is removed; a new optional field needs no new
 * version. A run whose plan has another version decides anew when it resumes.
 */
export const PLAN_VERSION = 5;

/** Returns the audio tracks of a plan's output. */
export function soundsOf({ audio, sounds, sound_track = 0 }: Pick<Plan, "audio" | "sounds" | "sound_track">) {
  return sounds ?? (audio ? [{ track: sound_track, audio }] : []);
}

/** Returns the folder of an audio track of adaptive video. */
export function soundFolder(sound = 0): string {
  return sound === 0 ? "audio" : `audio_${sound}`;
}

/** Returns whether a plan copies ranges of the source packet by packet, in the order of the output. */
export function isSpliced({ chunks }: Pick<Plan, "chunks">): boolean {
  return chunks.some(({ copy }) => copy !== undefined);
}

/** Returns the chunks of a plan that need an encoder. */
export function encodedChunks({ chunks }: Pick<Plan, "chunks">): Chunk[] {
  return chunks.filter(({ copy }) => copy === undefined);
}

/** Returns the ranges of the source in a spliced plan, in the order of the output. */
export function partsOf(plan: Plan): readonly PlannedPart[] {
  return plan.parts ?? [{ start: plan.start, end: sourceEnd(plan) ?? plan.start, at: 0 }];
}

/** Returns the part of a spliced plan that needs an encoder; returns other plans unchanged. */
export function encodedPart(plan: Plan): Plan {
  if (!isSpliced(plan) || plan.duration === null || plan.audio?.mode === "encode") return plan;
  const chunks = encodedChunks(plan);
  const duration = chunks.reduce((sum, { start, end }) => sum + (end ?? start) - start, 0);
  const share = plan.duration > 0 ? duration / plan.duration : 1;
  return { ...plan, chunks, duration, frames: plan.frames && Math.ceil(plan.frames * share) };
}

/** Returns the seconds of source that a plan spans; null when unknown. */
export function sourceSeconds({ duration, speed = 1 }: Plan): number | null {
  return duration === null ? null : duration * speed;
}

/** Returns where a chunk ends in the source, in seconds; null when unknown. */
export function sourceEnd(plan: Plan, { end }: { end: number | null } = plan): number | null {
  const seconds = sourceSeconds(plan);
  return end ?? (seconds === null ? null : plan.start + seconds);
}

/** Returns the unbroken range of the source that a plan shows around a time: the nearest of its parts, or its whole span. */
export function rangeAt(plan: Plan, time: number): { start: number; end: number | null; at: number } {
  const distance = ({ start, end }: PlannedPart) => Math.max(0, start - time, time - end);
  const whole = { start: plan.start, end: sourceEnd(plan), at: 0 };
  const [first, ...rest] = plan.parts ?? [];
  if (!first) return whole;
  return rest.reduce((nearest, part) => (distance(part) < distance(nearest) ? part : nearest), first);
}

/** Returns the seconds of output before a chunk. */
export function outputStart({ start: from, speed = 1 }: Plan, { start, at }: Chunk): number {
  return at ?? Math.max(0, start - from) / speed;
}

/** Returns the seconds of output of a chunk; null when unknown. */
export function outputSeconds(
  plan: Plan,
  chunk: Pick<Chunk, "start" | "end"> & Partial<Pick<Chunk, "track">>,
): number | null {
  if (plan.parts && chunk.track !== "video") return plan.duration;
  const end = sourceEnd(plan, chunk);
  return end === null || end <= chunk.start ? null : (end - chunk.start) / (plan.speed ?? 1);
}

/** Returns the constant frame rate of a plan's pictures; null when they keep the source's timing. */
export function constantFps({ video, image }: Pick<Plan, "video" | "image">): number | null {
  return (video?.mode === "encode" ? video.fps : image?.motion?.fps) ?? null;
}

/** Returns the size of a whole output picture; for a storyboard, that of a sheet. */
export function pictureSize({ geometry, sheet }: ImagePlan): { width: number; height: number } {
  const { columns = 1, rows = 1 } = sheet ?? {};
  return { width: geometry.width * columns, height: geometry.height * rows };
}

/** Returns whether the output of a plan is a folder of files. */
export function hasManyFiles({ kind, image }: Pick<Plan, "kind" | "image">): boolean {
  return kind === "adaptive_video" || image?.sheet !== undefined;
}

/** Returns what features see of a plan: each part of joined videos, otherwise the whole. */
export function plannedOf({ video, image, ...plan }: Plan): Planned[] {
  const pictures = image ?? (video?.mode === "encode" ? video : null);
  if (!plan.concat) return [{ ...plan, pictures: pictures && { ...pictures }, source: null, share: 1 }];
  const total = plan.concat.reduce((sum, { frames }) => sum + frames, 0);
  return plan.concat.map((part) => ({
    ...plan,
    pictures: part.video && { ...part.video },
    source: part.source,
    share: part.frames / total,
  }));
}
