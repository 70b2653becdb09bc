import type { Fit } from "../../src/media/formats.ts";
import type { Placing } from "../judge/quadrants.ts";
import { BUSY_SECONDS, type Cell, SHOWN } from "./cells.ts";

export interface Box {
  width: number;
  height: number;
}

/** The output that a cell must produce, computed from the meaning of its options alone. */
export interface Expected {
  box: Box;
  fit: Fit;
  /** Frames of the output. */
  frames: number;
  /** Seconds of the output. */
  seconds: number;
  /** The placing of the quadrants. */
  placing: Placing;
  /** ffmpeg filter that turns the source into the expected pictures. */
  filter: string;
}

const GIF_FPS = 5;

/** Returns whether a cell keeps an animation: an animated source, a format that supports it, and no start. */
export function isAnimation({ kind, from, format, start }: Cell): boolean {
  return kind === "image" && from === "gif" && (format === "gif" || format === "webp") && start === null;
}

/** Returns whether a cell uses the longer, noisy source. */
export function isBusy({ kind, rate }: Cell): boolean {
  return kind === "video" && typeof rate === "number";
}

/** Computes what a cell must produce. */
export function expect(cell: Cell): Expected {
  const { start, end, background, position, kind } = cell;
  const fit = cell.fit ?? (background === null ? "fill" : "contain");
  const box = boxOf(cell, fit);
  const whole = isBusy(cell) ? BUSY_SECONDS : SHOWN.seconds;
  const from = start ?? 0;
  const seconds = (end ?? whole) - from;
  const rate = cell.from === "gif" ? GIF_FPS : SHOWN.fps;
  const one = kind === "image" && !isAnimation(cell);
  const samples = Math.round(seconds * rate);
  const frames = one ? 1 : cell.fps === null ? samples : Math.max(1, Math.round(seconds * cell.fps));
  const first = Math.round(from * rate);
  const cut = `trim=start_frame=${first}:end_frame=${one ? first + 1 : first + samples},setpts=PTS-STARTPTS`;
  const timed = cell.fps === null ? "" : `,fps=${cell.fps}:start_time=0`;
  const placing = {
    ...{ source: { width: SHOWN.width, height: SHOWN.height }, ...box, fit },
    ...{ position: position ?? "center", background: background ?? "#000000" },
  } as const;
  return { box, fit, frames, seconds, placing, filter: `${cut}${timed},${placed(placing)}` };
}

function boxOf({ kind, width, height }: Cell, fit: Fit): Box {
  const requestedWidth = pixels(width, SHOWN.width);
  const requestedHeight = pixels(height, SHOWN.height);
  const box = {
    width: requestedWidth ?? (SHOWN.width * (requestedHeight ?? SHOWN.height)) / SHOWN.height,
    height: requestedHeight ?? (SHOWN.height * (requestedWidth ?? SHOWN.width)) / SHOWN.width,
  };
  if (kind !== "adaptive_video") return box;
  // A stream is never larger than its source: the box shrinks and keeps its shape.
  const scales = [box.width / SHOWN.width, box.height / SHOWN.height];
  const larger = Math.max(1, fit === "contain" ? Math.min(...scales) : Math.max(...scales));
  return { width: box.width / larger, height: box.height / larger };
}

function pixels(size: number | string | null, shown: number): number | null {
  return typeof size === "string" ? (shown * Number.parseFloat(size)) / 100 : size;
}

const SHARE = { start: 0, middle: 0.5, end: 1 } as const;

// Scales the whole picture, then crops or pads it.
function placed({ width, height, fit, position, background }: Placing): string {
  if (fit === "fill") return `scale=${width}:${height}:flags=bicubic`;
  const x = SHARE[/left/.test(position) ? "start" : /right/.test(position) ? "end" : "middle"];
  const y = SHARE[/top/.test(position) ? "start" : /bottom/.test(position) ? "end" : "middle"];
  const scale = `scale=${width}:${height}:flags=bicubic:force_original_aspect_ratio`;
  if (fit === "cover") return `${scale}=increase,crop=${width}:${height}:(iw-ow)*${x}:(ih-oh)*${y}`;
  const bars = `pad=${width}:${height}:(ow-iw)*${x}:(oh-ih)*${y}:${background.replace("#", "0x")}`;
  return `${scale}=decrease,format=gbrp,${bars},scale=out_color_matrix=bt709:out_range=tv`;
}
