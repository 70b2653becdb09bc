import { z } from "zod";
import { EPSILON_SECONDS } from "../clock.ts";
import { pictureFormat } from "../containers.ts";
import { firstInputIndex } from "../extra-inputs.ts";
import { type FileFault, feature, type OverContext, option, type PictureSize } from "../feature.ts";
import { closed, fileUrl, place, size, timedDrawing, toPixels, within } from "../fields.ts";
import { ANCHORS, BOUNDS } from "../formats.ts";
import type { SourceFacts } from "../source-facts.ts";

const picture = {
  url: fileUrl("of the picture").meta({
    description: "URL of the picture, which is read like the input: http://, https:// or s3://.",
    example: "https://example.com/logo.png",
  }),
  position: place.meta({
    description:
      "Position of the picture: a side, a corner or the center, or the coordinates of its upper left corner in pixels or percentages of the output.",
    default: "center",
    example: "bottom-right",
  }),
  width: size.optional().meta({
    description:
      'Its width: pixels, or a percentage of the output such as "20%"; its own when absent. Its shape is kept.',
    example: "20%",
  }),
  opacity: within(BOUNDS.opacity)
    .optional()
    .meta({ description: "Opacity from 0, invisible, to 1, unchanged.", default: 1 }),
};

const FORMATS = "PNG, JPEG, WebP that is not animated, BMP, TIFF, or GIF, of which the first frame counts";

const videoOverlay = timedDrawing("picture", picture, " of an overlay")
  .optional()
  .meta({ description: `A picture to lay over the video, such as a logo: ${FORMATS}.` });

const imageOverlay = closed(picture, "field", " of an overlay of an image, which has no span of time")
  .optional()
  .meta({ description: `A picture to lay over the image, such as a logo: ${FORMATS}.` });

const side = z
  .number()
  .min(0)
  .max(1 << 16);
const Overlay = z.strictObject({
  /** Index among the extra inputs. */
  input: z.int().min(0).max(100),
  /** Width in pixels; null for its own. */
  width: z
    .int()
    .min(1)
    .max(1 << 16)
    .nullable(),
  /** Factor of the overlay's own width in an output that shrank to stay within `max_bytes`. Default 1. */
  shrink: z.number().positive().max(1).exactOptional(),
  /** Offset from the left and the top: in pixels, or as shares of the free space. */
  place: z.strictObject({ x: side, y: side, of: z.enum(["pixels", "room"]) }),
  opacity: z.number().min(0).max(1),
  /** Seconds of output. */
  start: z.number().min(0).max(1e7),
  end: z.number().min(0).max(1e7).nullable(),
});

/** A picture drawn over the scaled pictures of a plan. */
export interface Overlay extends z.infer<typeof Overlay> {}

/** Labels of an overlay's fields in a form. */
export const OVERLAY_LABELS = {
  url: "Logo or watermark",
  position: "Logo position",
  width: "Logo width",
  opacity: "Logo opacity",
  start: "Logo appears (seconds)",
  end: "Logo disappears (seconds)",
} as const;

/** Draws a picture, such as a logo, over a video or an image. */
export const overlay = feature({
  options: {
    overlay: option({
      kinds: ["video", "image"],
      schema: videoOverlay,
      schemas: { image: imageOverlay },
      timedKinds: ["video"],
      alone: true,
      placed: true,
      refuseFile,
      words: {
        label: OVERLAY_LABELS.url,
        fields: OVERLAY_LABELS,
      },
    }),
  },
  summary: ({ overlay: options }) => (options ? "with a logo" : null),
  fields: { overlay: Overlay.exactOptional() },
  part: "pictures",
  plan(options, _, __, size) {
    const { overlay: picture } = options;
    return picture ? { overlay: planOverlay(picture, firstInputIndex(options, "overlay"), size) } : {};
  },
  doneBy: { native: true, stock: true },
  refusal: { code: "overlay", clause: () => "it cannot lay a picture over others" },
  over: ({ overlay: plan }, context) =>
    plan ? [{ second: scaledOverlay(plan, context), filter: overlayFilter(plan, context) }] : [],
  shrink: ({ overlay: plan }, { scale }) => (plan ? { overlay: shrinkOverlay(plan, scale) } : {}),
});

function refuseFile({ kind, format, animated }: SourceFacts): FileFault | null {
  const { overlays, decoder } = pictureFormat(format);
  // The host's decoder reads only the main input.
  const isDecoded = decoder === "animations" && animated === true;
  return kind === "image" && overlays && !isDecoded ? null : "not_picture";
}

type OverlayOptions = NonNullable<z.infer<typeof videoOverlay>>;

function planOverlay(options: OverlayOptions, input: number, output: PictureSize): Overlay {
  const { position = "center", opacity = 1, start = 0, end = null } = options;
  const width = toPixels(options.width, output.width);
  const pixels = (length: number | string | undefined, of: number) => Math.round(toPixels(length, of) ?? 0);
  const [x, y] = typeof position === "string" ? ANCHORS[position] : [0, 0];
  return {
    input,
    width: width === undefined ? null : Math.max(1, Math.round(width)),
    place:
      typeof position === "string"
        ? { x, y, of: "room" }
        : { x: pixels(position.x, output.width), y: pixels(position.y, output.height), of: "pixels" },
    opacity,
    start,
    end,
  };
}

function shrinkOverlay(planned: Overlay, by: number): Overlay {
  const { width, place } = planned;
  const x = Math.round(place.x * by);
  const y = Math.round(place.y * by);
  return {
    ...planned,
    ...(width === null ? { shrink: by } : { width: Math.max(1, Math.round(width * by)) }),
    place: place.of === "room" ? place : { ...place, x, y },
  };
}

function scaledOverlay({ input, width, shrink, opacity }: Overlay, context: OverContext): string {
  const scaled = width ?? (shrink === undefined ? null : `'max(1,round(iw*${shrink}))'`);
  const filters = [
    "trim=end_frame=1",
    "format=gbrap",
    ...(scaled === null
      ? []
      : ["premultiply=inplace=1", `scale=${scaled}:-1:flags=${context.flags}`, "unpremultiply=inplace=1"]),
    ...layerColors(context, opacity),
  ];
  return `[${input + 1}:v:0]${filters.join(",")}`;
}

/** Returns the filters that convert an RGB picture with alpha to the colors of the pictures below it. */
export function layerColors({ yuv, flags }: OverContext, opacity = 1): string[] {
  const white = yuv?.white ?? 1;
  const mixed = [
    ...(white === 1 ? [] : [`rr=${white}:gg=${white}:bb=${white}`]),
    ...(opacity === 1 ? [] : [`aa=${opacity}`]),
  ];
  return [
    ...(mixed.length > 0 ? [`colorchannelmixer=${mixed.join(":")}`] : []),
    ...(yuv ? [`scale=flags=${flags}:out_range=tv:out_color_matrix=${yuv.matrix}`] : []),
    `format=${yuv ? (yuv.depth === 10 ? "yuva420p10le" : "yuva420p") : "rgba"}`,
  ];
}

function overlayFilter({ place, start, end }: Overlay, context: OverContext): string {
  const [x, y] = place.of === "pixels" ? [place.x, place.y] : [`(W-w)*${place.x}`, `(H-h)*${place.y}`];
  return layFilter(`x=${x}:y=${y}`, { start, end }, context);
}

/** Returns the filter that lays a picture over others at a place, between two times in seconds of the output. */
export function layFilter(
  place: string,
  { start, end }: { start: number; end: number | null },
  { yuv, at }: OverContext,
): string {
  const spans = [
    ...(start > at ? [`gte(t,${edge(start - at)})`] : []),
    ...(end === null ? [] : [`lt(t,${edge(end - at)})`]),
  ];
  const enable = spans.length > 0 ? [`enable='${spans.join("*")}'`] : [];
  // By default, the filter reduces all pictures to 8 bits.
  const format = yuv ? (yuv.depth === 10 ? ["format=yuv420p10"] : []) : ["format=rgb"];
  return `overlay=${[place, ...enable, ...format].join(":")}`;
}

function edge(time: number): string {
  return String(Number((time - EPSILON_SECONDS).toFixed(6)));
}
