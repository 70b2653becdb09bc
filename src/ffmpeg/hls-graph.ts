import type { Source } from "../core/source.ts";
import type { Geometry, Plan } from "../plan/plan.ts";
import type { Cut } from "./span.ts";
import type { Toolset } from "./toolset.ts";
import { type VideoEncode, videoMending, videoSizing } from "./video-args.ts";

/** Returns the filter graph of all renditions, from `[0:V:0]` to `[v0]`, `[v1]` and so on. */
export function hlsGraph(plan: Plan, source: Source, video: VideoEncode, cut: Cut, toolset: Toolset): string {
  const mending = videoMending(video, cut);
  const sizes = plan.renditions.map(({ geometry }) => geometry);
  const sizing = (geometry: Geometry) => videoSizing(source, video, geometry, toolset);
  return sizes.some(({ pad }) => pad !== null)
    ? apart(mending, sizes.map(sizing))
    : inTurn([...mending, ...sizing(sizes[0] as Geometry)], sizes, toolset.scaler);
}

// Padding differs between renditions, so each is sized separately.
function apart(mending: readonly string[], sizings: readonly string[][]): string {
  const split = [...mending, `split=${sizings.length}`].join(",");
  const pads = sizings.map((_, index) => `[s${index}]`).join("");
  const sized = sizings.map((filters, index) => `[s${index}]${filters.join(",")}[v${index}]`);
  return [`[0:V:0]${split}${pads}`, ...sized].join(";");
}

// Scaling each from the one above costs less than from the source, and converts the pictures only once. For 360 and 240 lines
// from 720, SSIM drops by at most a thousandth, at 3 to 7 % fewer bytes.
function inTurn(first: readonly string[], sizes: readonly Geometry[], scaler: string): string {
  const links = sizes.map(({ width, height }, index) => {
    const filters = index === 0 ? first : [`scale=${width}:${height}:flags=${scaler}`, "setsar=1"];
    const from = index === 0 ? "[0:V:0]" : `[s${index}]`;
    return index === sizes.length - 1
      ? `${from}${filters.join(",")}[v${index}]`
      : `${from}${[...filters, "split=2"].join(",")}[v${index}][s${index + 1}]`;
  });
  return links.join(";");
}
