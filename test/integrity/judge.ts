import { expect } from "vitest";
import { z } from "zod";
import { SLACK } from "../../src/media/timeline.ts";
import { runFfprobe } from "../fixtures/make-clip.ts";
import { remember } from "../judge/remember.ts";
import { PICTURE } from "./numbered.ts";
import { FAULTLESS, type Frame, type FrameFaults, findFaults, readFrames } from "./read-frames.ts";
import { findWrongTone, readTone, type Tone } from "./read-tone.ts";

/** A span of a source in seconds. */
export interface Span {
  start: number;
  end: number;
}

/** A numbered clip as decoded by native ffmpeg. */
export interface Original {
  frames: readonly Frame[];
  tone: Tone;
  /** Seconds on the container's clock at which playback starts: the first packet's time, or 0 if it only primes a decoder. */
  start: number;
}

export interface Faults extends FrameFaults {
  /** Seconds of the output with the wrong sound. */
  wrong_sound: number[];
  /** Seconds by which the sound is too long, or negative if too short; 0 within the codec's tolerance. */
  sound_off: number;
}

export const WHOLE: Faults = { ...FAULTLESS, wrong_sound: [], sound_off: 0 };

/** Reads a source once per test file. */
export function recallOriginal(path: string): Promise<Original> {
  return remember([path, "numbered"], async () => {
    const [frames, tone, report] = await Promise.all([readFrames(path), readTone(path), runFfprobe(path)]);
    const facts = z.object({ start_time: z.coerce.number(), format_name: z.string() });
    const { start_time, format_name } = z.object({ format: facts }).parse(report).format;
    // The clock of a transport stream that soon wraps starts before 0; in other containers, what precedes 0 is not shown.
    return { frames, tone, start: format_name === "mpegts" ? start_time : Math.max(0, start_time) };
  });
}

/**
 * Finds the faults in the output of a numbered clip or its span: each picture and all sound must occur once, in order. Where the last
 * picture should be `held`, it must follow itself, frame after frame, until the sound ends.
 */
export async function judgeOutput(
  path: string,
  original: Original,
  span: Span | null = null,
  held = false,
): Promise<Faults> {
  const [all, tone] = await Promise.all([readFrames(path), readTone(path)]);
  const last = all.findIndex(({ number }) => number === original.frames.at(-1)?.number);
  if (held) expect(heldBadly(all.slice(last), tone.seconds)).toEqual([]);
  const frames = held ? all.slice(0, last + 1) : all;
  const start = original.start + (span?.start ?? 0);
  const seconds = span ? span.end - span.start : original.tone.seconds;
  const off = tone.seconds - seconds;
  return {
    ...findFaults(frames, { start, frames: span ? framesOf(original, span) : original.frames }),
    wrong_sound: findWrongTone(tone, span?.start ?? 0),
    sound_off: Math.abs(off) <= CODEC_FRAME ? 0 : Number(off.toFixed(3)),
  };
}

// Two AAC frames at 48 kHz: a decoder may keep the encoder's priming frame, and the last frame is padded.
const CODEC_FRAME = (2 * 1024) / 48_000;

// Returns the pictures that do not follow the first as the same, a frame later, and the last unless the sound ends with it.
function heldBadly(frames: readonly Frame[], seconds: number): Frame[] {
  const [first] = frames;
  const frame = 1 / PICTURE.fps;
  const late = frames.filter(({ number, time }, index) => {
    const before = frames[index - 1] ?? { time: time - frame };
    return number !== first?.number || Math.abs(time - before.time - frame) > TICK;
  });
  const end = (frames.at(-1)?.time ?? 0) + frame;
  return Math.abs(end - seconds) > SLACK ? frames.slice(-1) : late;
}

// The tolerance for a container that counts in milliseconds.
const TICK = 0.0021;

// Tolerance for rounding: a frame at the edge belongs to the span that starts there.
const NUDGE = 0.0005;

// Starts with the frame on screen at the start of the span, moved to that time.
function framesOf({ frames, start }: Original, span: Span): Frame[] {
  const [from, end] = [start + span.start, start + span.end - NUDGE];
  const first = frames.findLastIndex(({ time }) => time < from + NUDGE);
  return frames
    .slice(Math.max(0, first))
    .filter(({ time }) => time < end)
    .map((frame) => ({ ...frame, time: Math.max(from, frame.time) }));
}
