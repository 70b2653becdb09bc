import { z } from "zod";
import { feature } from "../feature.ts";

/** Reads a source that describes tracks other than the first of their kind, as `mainTrack` chooses them. */
export const main_tracks = feature({
  options: {},
  fields: { main_tracks: z.literal(true).exactOptional() },
  part: "plan",
  planWhole: (_, { video_track, sound_track }) =>
    video_track === undefined && sound_track === undefined ? {} : { main_tracks: true },
  doneBy: { native: true, stock: true, fast: true, webcodecs: true, canvas: true, avif: true },
  refusal: { code: "main_tracks", clause: () => "it reads only the first track of each kind" },
});
