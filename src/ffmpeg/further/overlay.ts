import type { Source } from "../../core/source.ts";
import type { Overlay } from "../../plan/further/overlay.ts";
import type { VideoPlan } from "../../plan/plan.ts";
import { assumedColor, sourceColor, videoColor } from "../color.ts";

// The scale filter's names for the matrices of color tags.
const MATRICES: Readonly<Record<string, string>> = {
  bt709: "bt709",
  bt2020nc: "bt2020",
  smpte240m: "smpte240m",
  fcc: "fcc",
};
// The level of graphics white in HDR (ITU-R BT.2408), as a share of the signal.
const HDR_WHITE: Readonly<Record<string, number>> = { smpte2084: 0.58, "arib-std-b67": 0.75 };

/** Returns the level of white that graphics have in the pictures of a video, as a share of the signal. */
export function graphicsWhite(
  source: Source,
  { depth }: Pick<Extract<VideoPlan, { mode: "encode" }>, "depth">,
) {
  const { transfer } = sourceColor(source);
  return (depth === 10 && HDR_WHITE[transfer ?? ""]) || 1;
}

/**
 * Returns the filters from `[under]` and an overlay's input to the pictures of a video. `at` is when the chunk begins, in seconds of the output;
 * `flags` are those of the scaler.
 */
export function overlayGraph(
  source: Source,
  video: Extract<VideoPlan, { mode: "encode" }>,
  overlay: Overlay,
  { at, flags }: { at: number; flags: string },
): string {
  const { matrix } = videoColor(source, video);
  const { geometry, depth } = video;
  const colorspace = matrix ?? assumedColor(geometry).matrix ?? "";
  const white = graphicsWhite(source, video);
  const over = [
    ...pictureFilters(overlay, { white, flags }),
    `scale=flags=${flags}:out_range=tv:out_color_matrix=${scaleMatrix(colorspace)}`,
    `format=${depth === 10 ? "yuva420p10le" : "yuva420p"}`,
  ];
  return laid(overlay, over, placed(overlay, at));
}

/** Returns the filters from `[under]`, in RGB, and an overlay's input to the pictures of an image. */
export function imageOverlayGraph(overlay: Overlay, flags: string): string {
  const over = [...pictureFilters(overlay, { white: 1, flags }), "format=rgba"];
  return laid(overlay, over, `${placed(overlay, 0)}:format=rgb`);
}

function laid({ input }: Overlay, over: readonly string[], where: string): string {
  return `[${input + 1}:v:0]${over.join(",")}[over];[under][over]overlay=${where}`;
}

// The first picture of an overlay's input in RGB, of its size and opacity.
function pictureFilters(
  { width, shrink, opacity }: Overlay,
  { white, flags }: { white: number; flags: string },
): string[] {
  const colors = [
    ...(white === 1 ? [] : [`rr=${white}:gg=${white}:bb=${white}`]),
    ...(opacity === 1 ? [] : [`aa=${opacity}`]),
  ];
  const wide = width ?? (shrink === undefined ? null : `'max(1,round(iw*${shrink}))'`);
  return [
    "trim=end_frame=1",
    "format=gbrap",
    // Premultiplied, so that the colors of transparent pixels do not bleed into the edges.
    ...(wide === null
      ? []
      : ["premultiply=inplace=1", `scale=${wide}:-1:flags=${flags}`, "unpremultiply=inplace=1"]),
    ...(colors.length > 0 ? [`colorchannelmixer=${colors.join(":")}`] : []),
  ];
}

/** Returns the name that the filter scale has for the matrix of a color tag. */
export function scaleMatrix(matrix: string): string {
  return MATRICES[matrix] ?? "bt601";
}

function placed({ place, start, end }: Overlay, at: number): string {
  const [x, y] = place.of === "pixels" ? [place.x, place.y] : [`(W-w)*${place.x}`, `(H-h)*${place.y}`];
  const from = seconds(start - at);
  const spans = [
    ...(start > at ? [`gte(t,${from})`] : []),
    ...(end === null ? [] : [`lt(t,${seconds(end - at)})`]),
  ];
  return [`x=${x}:y=${y}`, ...(spans.length > 0 ? [`enable='${spans.join("*")}'`] : [])].join(":");
}

// A frame at an edge, allowing for rounding, belongs to the span that starts there.
function seconds(value: number): string {
  return String(Number((value - NUDGE).toFixed(6)));
}

const NUDGE = 0.0005;
