import type { Motion } from "./animation.ts";

/** Returns the filter that reduces a GIF to a palette: one for all frames of an animation, otherwise one per frame. */
export function paletteFilter({
  animated,
  alpha,
  motion,
}: {
  animated: boolean;
  alpha: boolean;
  motion?: Motion | undefined;
}): string {
  const reserve = `reserve_transparent=${Number(alpha)}`;
  if (motion?.palette) {
    const { colors, dither } = motion.palette;
    const pattern = typeof dither === "number" ? `bayer:bayer_scale=${dither}` : dither;
    return (
      `split[look][use];[look]palettegen=max_colors=${colors}:${reserve}[palette];` +
      `[use][palette]paletteuse=dither=${pattern}:diff_mode=rectangle`
    );
  }
  const dither = animated ? ":dither=bayer:bayer_scale=4" : "";
  return (
    `split[look][use];[look]palettegen=${reserve}:stats_mode=single[palette];` +
    `[use][palette]paletteuse=new=1${dither}`
  );
}
