import { z } from "zod";
import { CLOCK } from "../clock.ts";
import { feature, option } from "../feature.ts";
import { within } from "../fields.ts";
import { BOUNDS } from "../formats.ts";

const KINDS = ["video", "animation", "adaptive_video"] as const;
const seconds = z.number().min(0).max(1e7);

const secondsOf = (description: string) =>
  within(BOUNDS.fade, "a number of seconds").optional().meta({ description, default: 0 });

/** Fades the pictures in from black and out to black; `fade_in` and `fade_out` do so for sound. */
export const picture_fades = feature({
  options: {
    picture_fade_in: option({
      kinds: KINDS,
      schema: secondsOf("Seconds over which the pictures fade in from black at the start."),
      default: 0,
      control: "number",
      words: { label: "Fade from black", unit: "seconds", empty: "none" },
    }),
    picture_fade_out: option({
      kinds: KINDS,
      schema: secondsOf("Seconds over which the pictures fade to black at the end."),
      default: 0,
      control: "number",
      words: { label: "Fade to black", unit: "seconds", empty: "none" },
    }),
  },
  summary: ({ picture_fade_in = 0, picture_fade_out = 0 }) =>
    picture_fade_in > 0 || picture_fade_out > 0 ? "pictures fade" : null,
  moves: ({ picture_fade_in = 0, picture_fade_out = 0 }) => picture_fade_in > 0 || picture_fade_out > 0,
  fields: {
    /** Seconds of the output. */
    picture_fades: z
      .strictObject({
        in: seconds.exactOptional(),
        out: z.strictObject({ at: seconds, seconds }).exactOptional(),
      })
      .exactOptional(),
  },
  part: "plan",
  planWhole: ({ pictures, duration }, _, options) =>
    pictures ? planPictureFades(options, typeof duration === "number" ? duration : null) : {},
  doneBy: { native: true, stock: true },
  refusal: { code: "picture_fades", clause: () => "it cannot fade pictures" },
  over: ({ picture_fades: fades }, { at, yuv }) => {
    if (!fades) return [];
    // In a fade to pure black, ffmpeg (5.1) also fades the alpha of RGB.
    const color = yuv ? "" : ":color=0x000001";
    const filters = [
      ...(fades.in !== undefined && at < fades.in ? [`fade=t=in:st=0:d=${fades.in}${color}`] : []),
      ...(fades.out ? [`fade=t=out:st=${fades.out.at}:d=${fades.out.seconds}${color}`] : []),
    ];
    // The times of a chunk begin at 0.
    const ticks = Math.round(at * CLOCK);
    if (filters.length === 0 || ticks === 0) return filters;
    return [`settb=1/${CLOCK}`, `setpts=PTS+${ticks}`, ...filters, `setpts=PTS-${ticks}`];
  },
});

interface FadeOptions {
  picture_fade_in?: number | undefined;
  picture_fade_out?: number | undefined;
}

function planPictureFades(options: FadeOptions, duration: number | null) {
  const { picture_fade_in: fadeIn = 0, picture_fade_out: fadeOut = 0 } = options;
  if (fadeIn === 0 && fadeOut === 0) return {};
  const at = Number(Math.max(0, (duration ?? 0) - fadeOut).toFixed(6));
  return {
    picture_fades: {
      ...(fadeIn > 0 && { in: fadeIn }),
      ...(fadeOut > 0 && { out: { at, seconds: fadeOut } }),
    },
  };
}
