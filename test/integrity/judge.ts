import { z } from "zod";
import { runFfprobe } from "../fixtures/make-clip.ts";
import { remember } from "../judge/remember.ts";
import { FAULTLESS, type Frame, type FrameFaults, findFaults, readFrames } from "./read-frames.ts";
import { findWrongTone, readTone, type Tone } from "./read-tone.ts";

/** A stretch of a source, in seconds. */
export interface Span {
  start: number;
  end: number;
}

/** A numbered clip as native ffmpeg decodes it. */
export interface Original {
  frames: readonly Frame[];
  tone: Tone;
  /** Seconds of the container's clock at which it starts for a viewer: with its first packet, but for what primes a decoder before 0. */
  start: number;
}

/** What is wrong with an output. */
export interface Faults extends FrameFaults {
  /** Seconds of the output at which other sound is heard than there should be. */
  wrong_sound: number[];
  /** Seconds by which the sound is too long, or, negative, too short; 0 within one frame of its codec. */
  sound_off: number;
}

/** No fault at all. */
export const WHOLE: Faults = { ...FAULTLESS, wrong_sound: [], sound_off: 0 };

/** Reads a source, which never changes, only once in a test file. */
export function recallOriginal(path: string): Promise<Original> {
  return remember([path, "numbered"], async () => {
    const [frames, tone, report] = await Promise.all([readFrames(path), readTone(path), runFfprobe(path)]);
    const { format } = z.object({ format: z.object({ start_time: z.coerce.number() }) }).parse(report);
    return { frames, tone, start: Math.max(0, format.start_time) };
  });
}

/** Judges what was made of a numbered clip, or of a span of it: every picture and all the sound must be there once, in order. */
export async function judgeOutput(
  path: string,
  original: Original,
  span: Span | null = null,
): Promise<Faults> {
  const [frames, tone] = await Promise.all([readFrames(path), readTone(path)]);
  const start = original.start + (span?.start ?? 0);
  const seconds = span ? span.end - span.start : original.tone.seconds;
  const off = tone.seconds - seconds;
  return {
    ...findFaults(frames, { start, frames: span ? framesOf(original, span) : original.frames }),
    wrong_sound: findWrongTone(tone, span?.start ?? 0),
    sound_off: Math.abs(off) <= CODEC_FRAME ? 0 : Number(off.toFixed(3)),
  };
}

// Of AAC at 48 kHz, twice: a decoder may leave the encoder's first one in, and the last one is filled up.
const CODEC_FRAME = (2 * 1024) / 48_000;

// A frame on the edge but for rounding belongs to the span that starts there.
const NUDGE = 0.0005;

// The first is the one that is on screen where the span starts; it is shown from there on.
function framesOf({ frames, start }: Original, span: Span): Frame[] {
  const [from, end] = [start + span.start, start + span.end - NUDGE];
  const first = frames.findLastIndex(({ time }) => time < from + NUDGE);
  return frames
    .slice(Math.max(0, first))
    .filter(({ time }) => time < end)
    .map((frame) => ({ ...frame, time: Math.max(from, frame.time) }));
}
