import type { VideoSample } from "mediabunny";
import { assumedColor, type correctedColor } from "../../media/ffmpeg/color.ts";
import type { Size } from "../../media/picture-geometry.ts";
import type { Geometry } from "../../media/plan.ts";
import * as errors from "../errors.ts";

type FrameColor = NonNullable<ReturnType<typeof correctedColor>>;

/** Parameters of a {@link Painter}. */
export interface PictureNeeds {
  geometry: Geometry;
  /** Background for transparent pictures as `0xRRGGBB`; null when there are none. */
  matte: string | null;
  /** Whether the encoder scales its input to its own size, as the standard requires. */
  scales: boolean;
  /** Colors to set on decoded frames, because mediabunny makes Chromium decode untagged ones as BT.709; null for none. */
  color: FrameColor | null;
}

/** Timestamp and duration of a picture in microseconds. */
export interface FrameTime {
  timestamp: number;
  duration: number;
}

/** Converts decoded samples to pictures of the output; the caller closes each frame. */
export type Painter = (sample: VideoSample, time: FrameTime) => Promise<VideoFrame>;

const PLAIN: ReadonlySet<string | null> = new Set(["I420", "NV12"]);

/**
 * Creates a painter that rotates, crops, scales and pads decoded pictures to a geometry. For only a crop and a scale, the encoder scales
 * the decoded frame itself, which is faster and converts no colors.
 */
export function createPainter(needs: PictureNeeds): Painter {
  const paint = createCanvasPainter(needs);
  return async (sample, time) => {
    const frame = await (needs.color ? relabel(sample, needs.color) : sample.toVideoFrame());
    try {
      const visible = frame.visibleRect;
      const part = visible && partOf(frame, visible, needs);
      return part ? new VideoFrame(frame, { ...time, ...part }) : paint(frame, time);
    } finally {
      frame.close();
    }
  };
}

/** Returns a sample's frame with its colors retagged. */
export async function relabel(sample: VideoSample, color: FrameColor): Promise<VideoFrame> {
  const frame = sample.toVideoFrame();
  const { format, visibleRect, displayWidth, displayHeight, timestamp, colorSpace } = frame;
  if (!format || !visibleRect || /^(RGB|BGR)/.test(format)) return frame;
  try {
    const pixels = new Uint8Array(frame.allocationSize());
    const layout = await frame.copyTo(pixels);
    const { width: codedWidth, height: codedHeight } = visibleRect;
    const shape = { format, codedWidth, codedHeight, displayWidth, displayHeight, layout, timestamp };
    const init = {
      ...shape,
      colorSpace: { ...color, fullRange: colorSpace.fullRange },
      transfer: [pixels.buffer],
    };
    return new VideoFrame(pixels, init);
  } finally {
    frame.close();
  }
}

function partOf(frame: VideoFrame, visible: DOMRectReadOnly, { geometry, matte, scales }: PictureNeeds) {
  const { rotate, mirror, crop, scale, pad } = geometry;
  if (rotate !== 0 || mirror || pad || matte !== null || (scale && !scales)) return null;
  if (!PLAIN.has(frame.format) || frame.colorSpace.fullRange === true) return null;
  const x = visible.x + (crop?.x ?? 0);
  const y = visible.y + (crop?.y ?? 0);
  const width = crop?.width ?? visible.width;
  const height = crop?.height ?? visible.height;
  if (x % 2 !== 0 || y % 2 !== 0 || width % 2 !== 0 || height % 2 !== 0) return null;
  return { visibleRect: { x, y, width, height }, displayWidth: width, displayHeight: height };
}

/** Draws a picture, whose stored pixels may have any aspect ratio, on a canvas of the output's size according to the geometry. */
export function drawPicture(
  context: OffscreenCanvasRenderingContext2D,
  picture: CanvasImageSource,
  stored: { width: number; height: number; shown_width: number; shown_height: number },
  { rotate, mirror, crop, scale, pad, width, height }: Geometry,
  matte: string | null,
): void {
  const sideways = rotate % 180 !== 0;
  const turned = sideways ? { width: stored.height, height: stored.width } : stored;
  const area = crop ?? { x: 0, y: 0, width: turned.width, height: turned.height };
  const inner = scale ?? { width: area.width, height: area.height };
  const [left, top] = [pad?.x ?? 0, pad?.y ?? 0];
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, width, height);
  if (pad) fill(context, pad.color, 0, 0, width, height);
  if (pad && pad.color.length === 8) context.clearRect(left, top, inner.width, inner.height);
  if (matte !== null) fill(context, matte, left, top, inner.width, inner.height);
  const unmirrored = mirror ? { ...area, x: turned.width - area.x - area.width } : area;
  const source = toStoredPart(unmirrored, rotate, stored);
  const [across, down] = [stored.shown_width / stored.width, stored.shown_height / stored.height];
  const size = sideways ? { width: inner.height, height: inner.width } : inner;
  context.translate(left + inner.width / 2, top + inner.height / 2);
  if (mirror) context.scale(-1, 1);
  context.rotate((rotate * Math.PI) / 180);
  context.imageSmoothingQuality = "high";
  context.drawImage(
    picture,
    ...([source.x * across, source.y * down, source.width * across, source.height * down] as const),
    ...([-size.width / 2, -size.height / 2, size.width, size.height] as const),
  );
}

function createCanvasPainter({ geometry, matte }: PictureNeeds) {
  const { width, height } = geometry;
  let context: OffscreenCanvasRenderingContext2D | null = null;
  return (frame: VideoFrame, time: FrameTime): VideoFrame => {
    const { width: across, height: down } = frame.visibleRect ?? {
      width: frame.displayWidth,
      height: frame.displayHeight,
    };
    const stored = {
      width: across,
      height: down,
      shown_width: frame.displayWidth,
      shown_height: frame.displayHeight,
    };
    context ??= new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    if (!context) throw errors.noCanvas();
    drawPicture(context, frame, stored, geometry, matte);
    const { data } = context.getImageData(0, 0, width, height);
    const pixels = new Uint8Array(width * height * 1.5);
    const { primaries, transfer, matrix: sourceMatrix } = frame.colorSpace;
    const matrix = matrixFor(sourceMatrix, geometry);
    toI420(data, geometry, matrix, pixels);
    const colorSpace = {
      primaries: primaries ?? matrix,
      transfer: transfer ?? matrix,
      matrix,
      fullRange: false,
    };
    const shape = { format: "I420", codedWidth: width, codedHeight: height } as const;
    const init = { ...time, ...shape, colorSpace, transfer: [pixels.buffer] };
    return new VideoFrame(pixels, init);
  };
}

// RGB pictures are written in the matrix that players assume for unspecified colors.
function matrixFor(source: VideoMatrixCoefficients | null, { height }: Geometry): Matrix {
  if (source === "bt709") return source;
  if (source === "smpte170m" || source === "bt470bg") return "smpte170m";
  return assumedColor({ height }).matrix === "bt709" ? "bt709" : "smpte170m";
}

interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

function toStoredPart(
  part: Rect,
  rotate: Geometry["rotate"],
  stored: { width: number; height: number },
): Rect {
  const { x, y, width, height } = part;
  switch (rotate) {
    case 0:
      return part;
    case 90:
      return { x: y, y: stored.height - x - width, width: height, height: width };
    case 180:
      return { x: stored.width - x - width, y: stored.height - y - height, width, height };
    case 270:
      return { x: stored.width - y - height, y: x, width: height, height: width };
  }
}

function fill(
  context: OffscreenCanvasRenderingContext2D,
  color: string,
  ...[x, y, width, height]: [number, number, number, number]
): void {
  context.fillStyle = `#${color.slice(2)}`;
  context.fillRect(x, y, width, height);
}

type Matrix = "bt709" | "smpte170m";

// Weights of red and blue in luma: ITU-R BT.709 and BT.601.
const WEIGHTS = { bt709: [0.2126, 0.0722], smpte170m: [0.299, 0.114] } as const satisfies Record<
  Matrix,
  readonly [red: number, blue: number]
>;

const BITS = 15;
const ONE = 1 << BITS;
const HALF = ONE >> 1;

/**
 * Converts RGBA pixels to I420 planes in limited range, averaging chroma over four pixels. Browsers would convert to full
 * range, which some players misread. Width and height must be even.
 */
function toI420(rgba: Uint8ClampedArray, { width, height }: Size, matrix: Matrix, into: Uint8Array): void {
  const [red, blue] = WEIGHTS[matrix];
  const part = (weight: number, scale: number) => Math.round(weight * scale * ONE);
  const green = 1 - red - blue;
  const [light, color] = [219 / 255, 224 / 255];
  const [yr, yg, yb] = [part(red, light), part(green, light), part(blue, light)];
  const u = color / (2 * (1 - blue));
  const v = color / (2 * (1 - red));
  const [ur, ug, ub] = [part(-red, u), part(-green, u), part(1 - blue, u)];
  const [vr, vg, vb] = [part(1 - red, v), part(-green, v), part(-blue, v)];
  const y0 = (16 << BITS) + HALF;
  const c0 = (128 << (BITS + 2)) + (HALF << 2);
  const row = width * 4;
  let cb = width * height;
  let cr = cb + cb / 4;
  for (let top = 0; top < height; top += 2) {
    let at = top * row;
    let luma = top * width;
    for (let left = 0; left < width; left += 2) {
      const below = at + row;
      const [r1, g1, b1] = [rgba[at] as number, rgba[at + 1] as number, rgba[at + 2] as number];
      const [r2, g2, b2] = [rgba[at + 4] as number, rgba[at + 5] as number, rgba[at + 6] as number];
      const [r3, g3, b3] = [rgba[below] as number, rgba[below + 1] as number, rgba[below + 2] as number];
      const [r4, g4, b4] = [rgba[below + 4] as number, rgba[below + 5] as number, rgba[below + 6] as number];
      into[luma] = (yr * r1 + yg * g1 + yb * b1 + y0) >> BITS;
      into[luma + 1] = (yr * r2 + yg * g2 + yb * b2 + y0) >> BITS;
      into[luma + width] = (yr * r3 + yg * g3 + yb * b3 + y0) >> BITS;
      into[luma + width + 1] = (yr * r4 + yg * g4 + yb * b4 + y0) >> BITS;
      const [r, g, b] = [r1 + r2 + r3 + r4, g1 + g2 + g3 + g4, b1 + b2 + b3 + b4];
      into[cb++] = (ur * r + ug * g + ub * b + c0) >> (BITS + 2);
      into[cr++] = (vr * r + vg * g + vb * b + c0) >> (BITS + 2);
      at += 8;
      luma += 2;
    }
  }
}
