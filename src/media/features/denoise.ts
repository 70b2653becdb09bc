import { z } from "zod";
import { feature, option } from "../feature.ts";
import { oneOf } from "../fields.ts";

const STRENGTHS = ["light", "medium", "strong"] as const;
type ByStrength = Readonly<Record<(typeof STRENGTHS)[number], string>>;

const NAMES: ByStrength = { light: "Light", medium: "Medium", strong: "Strong" };

const VIDEO: ByStrength = {
  light: "hqdn3d=2:1.5:3:2.25",
  medium: "hqdn3d=4:3:6:4.5",
  strong: "hqdn3d=8:6:12:9",
};
const STILL: ByStrength = {
  light: "nlmeans=s=1.5:p=5:r=9",
  medium: "nlmeans=s=3:p=5:r=9",
  strong: "nlmeans=s=6:p=5:r=9",
};

/** Removes noise from pictures, at the source's size and frame rate. */
export const denoise = feature({
  options: {
    denoise: option({
      kinds: ["video", "image"],
      schema: oneOf(STRENGTHS).optional().meta({
        description: "Removes noise from the pictures, and some fine detail with it; files become smaller.",
        example: "light",
      }),
      words: {
        label: "Noise reduction",
        choice: (strength) => (strength === undefined ? "None" : NAMES[strength]),
        hint: (strength) => (strength === "strong" ? "Fine detail suffers." : undefined),
      },
    }),
  },
  summary: (options) => (options.denoise ? "less noise" : null),
  fields: {
    denoise: z
      .strictObject({ strength: z.enum(STRENGTHS), still: z.boolean(), alpha: z.boolean() })
      .exactOptional(),
  },
  part: "pictures",
  plan({ denoise: strength }, { kind, animated, has_alpha }, codec) {
    const still = codec === null && kind === "image" && animated !== true;
    return strength ? { denoise: { strength, still, alpha: has_alpha === true } } : {};
  },
  doneBy: { native: true, stock: true },
  refusal: { code: "denoising", clause: () => "it cannot take out noise" },
  stage: "clean",
  pictures({ denoise: plan }) {
    if (!plan) return [];
    const filter = (plan.still ? STILL : VIDEO)[plan.strength];
    // Both filters drop transparency. ffmpeg 5.1 converts alpha exactly only between packed formats.
    if (!plan.alpha) return [filter];
    return [
      `format=rgba,split[noisy][clear];[clear]alphaextract[mask];[noisy]${filter}[clean];[clean][mask]alphamerge`,
    ];
  },
  // Measured with ffmpeg 5.1 on one processor; in wasm three times as long.
  cost: ({ denoise: plan }) =>
    plan?.still
      ? { native: { seconds: 0.5, memory: 40 }, stock: { seconds: 1.5, memory: 40 } }
      : { native: { seconds: 0.008, memory: 8 }, stock: { seconds: 0.024, memory: 8 } },
});
