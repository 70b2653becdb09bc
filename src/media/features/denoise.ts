import { z } from "zod";
import { oneOf } from "../../core/fields.ts";
import { optionFeature } from "../feature.ts";

const STRENGTHS = ["light", "medium", "strong"] as const;
type Strength = (typeof STRENGTHS)[number];

// Of film, hqdn3d compares neighbors in space and in time; of one picture, nlmeans looks for alike patches.
const FILM: Readonly<Record<Strength, string>> = {
  light: "hqdn3d=2:1.5:3:2.25",
  medium: "hqdn3d=4:3:6:4.5",
  strong: "hqdn3d=8:6:12:9",
};
const STILL: Readonly<Record<Strength, string>> = {
  light: "nlmeans=s=1.5:p=5:r=9",
  medium: "nlmeans=s=3:p=5:r=9",
  strong: "nlmeans=s=6:p=5:r=9",
};

/** Noise is taken out of pictures, at the source's size and rate. */
export const denoise = optionFeature(
  {
    kinds: ["video", "image"],
    schema: oneOf(STRENGTHS).optional().meta({
      description: "Takes noise out of the pictures, and with it some fine detail; files become smaller.",
      example: "light",
    }),
    words: {
      label: "Noise reduction",
      choice: (strength) => (strength === undefined ? "None" : NAMES[strength]),
      hint: (strength) => (strength === "strong" ? "Fine detail suffers." : undefined),
      summary: () => "less noise",
    },
  },
  {
    fields: {
      denoise: z
        .strictObject({ strength: z.enum(STRENGTHS), still: z.boolean(), alpha: z.boolean() })
        .exactOptional(),
    },
    plan({ denoise: asked }, { kind, animated, has_alpha }, codec) {
      const strength = STRENGTHS.find((each) => each === asked);
      const still = codec === null && kind === "image" && animated !== true;
      return strength ? { denoise: { strength, still, alpha: has_alpha === true } } : {};
    },
    needed: ({ pictures }) => pictures.denoise !== undefined,
    doneBy: { native: true, stock: true },
    refusal: { code: "denoising", clause: () => "it cannot take out noise" },
    stage: "clean",
    pictures({ denoise: planned }) {
      if (!planned) return [];
      const filter = (planned.still ? STILL : FILM)[planned.strength];
      // Both filters drop transparency.
      if (!planned.alpha) return [filter];
      return [
        `format=yuva444p,split[noisy][clear];[clear]alphaextract[mask];[noisy]${filter}[clean];[clean][mask]alphamerge`,
      ];
    },
    // Measured with ffmpeg 5.1 on one processor; in wasm three times as long.
    cost: ({ denoise: planned }) =>
      planned?.still
        ? { native: { seconds: 0.5, memory: 40 }, stock: { seconds: 1.5, memory: 40 } }
        : { native: { seconds: 0.008, memory: 8 }, stock: { seconds: 0.024, memory: 8 } },
  },
);

const NAMES = { light: "Light", medium: "Medium", strong: "Strong" } as const satisfies Record<
  Strength,
  string
>;
