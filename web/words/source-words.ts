import type { Source } from "../../src/index.ts";
import { codecName, formatName } from "./names.ts";
import { bytes, clock } from "./quantities.ts";

const KINDS = {
  ...{ video: "video", audio: "audio", image: "image" },
  ...{ adaptive_video: "stream", data: "data" },
} as const;

const UNKNOWN = "unknown codec";

/** Describes a file: `MP4 video, H.264 and AAC, 1920 × 1080, 30 fps, 0:32, 45.2 MB`. Omits what is unknown. */
export function describeSource(source: Source): string {
  const { kind, format, width, height, fps, duration, filesize, codecs } = source;
  const moves = kind === "video" || kind === "adaptive_video";
  const pictures = moves && codecs?.video === null ? UNKNOWN : codecs?.video;
  const names = [pictures, codecs?.audio].filter((name) => name !== null && name !== undefined);
  return [
    `${formatName(format)} ${source.animated ? "animation" : KINDS[kind]}`,
    kind === "image" || (kind === "audio" && codecName(names[0] ?? "") === formatName(format))
      ? null
      : names.map(named).join(" and "),
    width && height ? `${width} × ${height}` : null,
    moves && fps ? `${Number(fps.toFixed(2))} fps` : null,
    kind === "audio" ? describeSound(source) : null,
    duration && kind !== "image" ? clock(duration) : null,
    filesize === undefined ? null : bytes(filesize),
  ]
    .filter(Boolean)
    .join(", ");
}

function named(codec: string): string {
  return codec === UNKNOWN ? codec : codecName(codec);
}

function describeSound({ audio }: Source): string | null {
  if (!audio) return null;
  const channels =
    audio.channels === 1 ? "mono" : audio.channels === 2 ? "stereo" : `${audio.channels} channels`;
  return `${channels}, ${audio.sample_rate / 1000} kHz`;
}
