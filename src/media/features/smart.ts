import { z } from "zod";
import { feature } from "../feature.ts";

/** The `profile_idc` of H.264 in 10 bits. */
export const HIGH_10 = 110;

/** The profiles of H.264 whose streams an encoder can continue, by `profile_idc`. */
export const PROFILES = { 66: "baseline", 77: "main", 100: "high", [HIGH_10]: "high10" } as const;

/** The parameter sets of the encoded pieces of an H.264 stream, which one decoder plays between copied packets. */
export const ParameterSets = z.strictObject({
  /** The id of the pieces' own parameter sets, which the source does not use. */
  id: z.int().min(1).max(31),
  profile: z.enum(PROFILES),
  level: z.string().regex(/^[1-6]\.\d$/),
});
export interface ParameterSets extends z.infer<typeof ParameterSets> {}

/** Encodes pieces of a stream whose other packets are copied. */
export const smart = feature({
  options: {},
  fields: { parameter_sets: ParameterSets.exactOptional() },
  part: "video",
  doneBy: { native: true, stock: true, fast: true },
  refusal: { code: "smart", clause: () => "it cannot continue the stream of another encoder" },
});

/** Encodes pieces of an H.264 stream in 10 bits. */
export const smart_depth = feature({
  options: {},
  fields: {},
  isNeeded: ({ pictures }) => pictures?.parameter_sets !== undefined && pictures.depth === 10,
  doneBy: { native: true },
  refusal: { code: "smart_depth", clause: () => "it cannot continue an H.264 stream in 10 bits" },
});

/** Returns the arguments and the x264 parameters with which an encoder continues a stream. */
export function continueStream({ id, profile, level }: ParameterSets): { args: string[]; params: string } {
  return { args: ["-profile:v", profile, "-level:v", level], params: `sps-id=${id}` };
}
