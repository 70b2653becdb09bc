import { FORMATS, type VideoFormat } from "../../core/formats.ts";
import type { VideoOptions } from "../../core/options.ts";
import type { Source } from "../../core/source.ts";
import { sourceForTrack } from "../../media/features/track.ts";
import { describeJoinFault, type JoinFault } from "../../words/join-words.ts";
import { refuseCopy, videoFormat } from "../copied.ts";
import type { ConcatPart } from "../plan.ts";
import { audibleTrack } from "../sound/plan-sound.ts";
import { copiesPictures } from "../video.ts";
import { concatSources } from "./concat.ts";

/** The pictures of a part that can follow those of the part before without an encode. */
export interface JoinedPart {
  pictures: number;
  /** Seconds from the start of the file to the end of the last picture. */
  seconds: number;
  /** Ticks per second of their times. */
  ticks: number;
}

/** The parts of a joined video, in order, whose pictures are copied; or why they cannot be, and which input it is. */
export type Joint = { parts: JoinedPart[] } | { fault: JoinFault; input: number };

/** The formats of files whose pictures are joined by copying. */
const INDEXED: ReadonlySet<string> = new Set(["mp4", "mov"] satisfies VideoFormat[]);

/**
 * Returns whether joined videos must be read to find out if their pictures can be copied: not where an option or a part needs them
 * encoded. Returns why not where a copy is asked for and cannot be.
 */
export function asksJoint(
  source: Source,
  options: VideoOptions,
  further: readonly Source[],
): Joint | boolean {
  if (options.concat === undefined) return false;
  const all = [source, ...concatSources(options, further).map((each) => each.source)];
  const format = videoFormat(options, source);
  const input = all.findIndex((each) => !INDEXED.has(each.format) || each.fragmented === true);
  const fault: Joint | null = !INDEXED.has(format)
    ? { fault: "output", input: 0 }
    : input >= 0
      ? { fault: "format", input }
      : null;
  if (options.mode === "copy") return fault ?? true;
  // The size of a file is met by the bitrate of its pictures, and only AAC is put beside copied ones.
  const { target_size, mute, audio_codec = "aac" } = options;
  if (target_size !== undefined || (!mute && audio_codec !== "aac")) return false;
  const codec = options.codec ?? FORMATS.video[format].codecs[0];
  return fault === null && all.every((each) => copiesPictures(each, codec, options));
}

/** Plans how videos follow one another with their pictures copied. */
export function createJoin(
  source: Source,
  parts: readonly JoinedPart[],
  options: VideoOptions,
  others: ReturnType<typeof concatSources>,
): ConcatPart[] {
  return [{ input: 0, source }, ...others].flatMap(({ input, source: each }, at) => {
    const part = parts[at];
    if (!part) return [];
    const { pictures, ticks } = part;
    const seconds = options.mute ? part.seconds : shownSeconds(part, each);
    return [{ input, source: each, video: null, frames: pictures, joined: { seconds, ticks } }];
  });
}

// As where pictures are encoded, sound that is longer by less than half a picture is cut, and more keeps the last picture.
function shownSeconds({ pictures, seconds }: JoinedPart, source: Source): number {
  const track = audibleTrack(source);
  if (track === null) return seconds;
  const heard = sourceForTrack(source, { sound_track: track });
  const { end = 0 } = heard.streams?.find(({ kind }) => kind === "audio") ?? {};
  const picture = seconds / Math.max(1, pictures);
  return seconds + Math.max(0, Math.round((end - seconds) / picture)) * picture;
}

/** Throws `invalid_options` where a copy is asked for and the videos cannot be joined by one. */
export function checkJoint(joint: Joint | null | undefined): void {
  if (joint && "fault" in joint) throw refuseCopy(describeJoinFault(joint));
}

/** Creates the error for a copy of videos with sound. */
export function refuseJoinedSound() {
  return refuseCopy(
    "frames of sound do not end where pictures do, so joined sound is encoded; without mode it alone is, and mute leaves it out",
  );
}
