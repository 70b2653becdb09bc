import { z } from "zod";
import { containerOf } from "../containers.ts";
import { feature } from "../feature.ts";
import { assumedMatrix } from "../ffmpeg/color.ts";
import { hasSeeklessSound } from "./audio-format.ts";

// Every engine of this version reads such sources; an older encoder would misread them, so its lack of the feature keeps them from it.
const EVERYWHERE = {
  native: true,
  stock: true,
  fast: true,
  webcodecs: true,
  canvas: true,
  avif: true,
} as const;
const MARK = z.literal(true).exactOptional();

/** Reads a source that describes tracks other than the first of their kind, as `mainTrack` chooses them. */
export const main_tracks = feature({
  options: {},
  fields: { main_tracks: MARK },
  part: "plan",
  planWhole: (_, { video_track, sound_track }) =>
    video_track === undefined && sound_track === undefined ? {} : { main_tracks: true },
  doneBy: EVERYWHERE,
  refusal: { code: "main_tracks", clause: () => "it reads only the first track of each kind" },
});

/** Reads a source from its beginning, without seeks, because its clock restarts midway. */
export const restarted = feature({
  options: {},
  fields: { restarted: MARK },
  part: "plan",
  planWhole: (_, source) => (source.restarted ? { restarted: true } : {}),
  doneBy: EVERYWHERE,
  refusal: { code: "restarted", clause: () => "it would seek in a file whose clock restarts" },
});

/** Reads a source from its beginning, without seeks, because ffmpeg would decode its sound wrongly after one. */
export const seekless_sound = feature({
  options: {},
  fields: { seekless_sound: MARK },
  part: "plan",
  planWhole: ({ audio }, source) =>
    audio?.mode === "encode" && hasSeeklessSound(source) ? { seekless_sound: true } : {},
  doneBy: EVERYWHERE,
  refusal: {
    code: "seekless_sound",
    clause: () => "it would seek in sound that decodes only from its beginning",
  },
});

/** Spaces the pictures of a source evenly if all of them have the same time. */
export const untimed = feature({
  options: {},
  fields: { untimed: MARK },
  part: "plan",
  planWhole: (_, source) => (source.untimed ? { untimed: true } : {}),
  doneBy: { native: true, stock: true, fast: true, canvas: true, avif: true },
  refusal: { code: "untimed", clause: () => "it shows pictures that have the same time all at once" },
});

/** Begins with the picture that is visible where the edit list of a source starts, even if the list hides the beginning of that picture. */
export const hidden_start = feature({
  options: {},
  fields: { hidden_start: MARK },
  part: "plan",
  planWhole: ({ pictures }, { preroll, edited }) =>
    pictures && preroll !== undefined && !edited ? { hidden_start: true } : {},
  doneBy: EVERYWHERE,
  refusal: { code: "hidden_start", clause: () => "it would leave out the first visible picture" },
});

/** Leaves out the incomplete frame at the end of a truncated source. */
export const truncated = feature({
  options: {},
  fields: { truncated: MARK },
  part: "plan",
  planWhole: (_, source) => (source.truncated ? { truncated: true } : {}),
  doneBy: EVERYWHERE,
  refusal: { code: "truncated", clause: () => "it expects a file that is not cut off" },
});

/** Reads a transport stream of several programs, of which outputs contain one. */
export const programs = feature({
  options: {},
  fields: { programs: MARK },
  part: "plan",
  planWhole: (_, { streams = [] }) =>
    streams.some(({ other_program }) => other_program) ? { programs: true } : {},
  doneBy: EVERYWHERE,
  refusal: { code: "programs", clause: () => "it would mix the programs of a transport stream" },
});

/** Reads a picture whose color profile viewers ignore. */
export const ignored_profile = feature({
  options: {},
  fields: { ignored_profile: MARK },
  part: "plan",
  planWhole: (_, { color_profile }) => (color_profile?.ignored ? { ignored_profile: true } : {}),
  doneBy: EVERYWHERE,
  refusal: { code: "ignored_profile", clause: () => "it expects an intact color profile" },
});

/** Reads pictures whose format ffmpeg recognizes only by a file's name, or mistakes for another. */
export const named_format = feature({
  options: {},
  fields: { named_format: MARK },
  part: "plan",
  planWhole: ({ pictures }, source) =>
    pictures && containerOf(source).formatFromName ? { named_format: true } : {},
  doneBy: EVERYWHERE,
  refusal: {
    code: "named_format",
    clause: () => "it would guess the format of TGA, PAM, PPM, PGM and PBM pictures",
  },
});

/** Decodes a source in the colors that players assume and ffmpeg would not guess: untagged HD is BT.709. */
export const assumed_colors = feature({
  options: {},
  fields: { assumed_colors: z.literal(true).exactOptional() },
  part: "plan",
  planWhole: ({ pictures }, source) => (pictures && assumedMatrix(source) ? { assumed_colors: true } : {}),
  doneBy: EVERYWHERE,
  refusal: { code: "assumed_colors", clause: () => "it takes the colors of untagged HD for those of SD" },
});

/** Reads the masks of icons as transparency. */
export const icon_masks = feature({
  options: {},
  fields: { icon_masks: MARK },
  part: "plan",
  planWhole: ({ pictures }, { format, has_alpha }) =>
    pictures && format === "bmp" && has_alpha ? { icon_masks: true } : {},
  doneBy: EVERYWHERE,
  refusal: { code: "icon_masks", clause: () => "it ignores the masks of icons" },
});
