import type { EncodeKind } from "../../src/media/formats.ts";
import type { Span } from "./judge.ts";
import type { Container } from "./numbered.ts";
import { INTEGRITY_SOURCES, type IntegritySource, type IntegritySourceName } from "./sources.ts";

/** The page's pool or WebCodecs, or a host with light or native encoders, which works in chunks or in one pass. */
export const ENCODERS = [
  "pool",
  "webcodecs",
  "light",
  "native",
  "light in chunks",
  "native in chunks",
] as const;

// Half the sources' width: the numbers stay readable, and every picture is still decoded.
const SMALL = { quality: "low", width: 160 } as const;

export const WISHES = {
  whole: { kind: "video", options: SMALL, span: null },
  // Both edges fall inside groups of pictures, a quarter of a frame past a frame.
  trimmed: {
    kind: "video",
    options: { ...SMALL, start: 3.17, end: 9.61 },
    span: { start: 3.17, end: 9.61 },
  },
  copy: { kind: "video", options: {}, span: null },
  stream: { kind: "adaptive_video", options: SMALL, span: null },
} as const satisfies Record<
  string,
  { kind: EncodeKind; options: Record<string, unknown>; span: Span | null }
>;

export interface IntegrityCell {
  source: IntegritySourceName;
  container: Container;
  encoder: (typeof ENCODERS)[number];
  wish: keyof typeof WISHES;
}

const NAMES = Object.keys(INTEGRITY_SOURCES) as IntegritySourceName[];

/** Returns every cell: each source in each container, by every encoder. */
export function everyCell(): IntegrityCell[] {
  return NAMES.flatMap((source) => {
    const { containers }: IntegritySource = INTEGRITY_SOURCES[source];
    return containers.flatMap((container) =>
      ENCODERS.flatMap((encoder) =>
        wishesOf(encoder, source).map((wish): IntegrityCell => ({ source, container, encoder, wish })),
      ),
    );
  });
}

export function optionsOf({ source, container, encoder, wish }: IntegrityCell): Record<string, unknown> {
  const { options } = WISHES[wish];
  // The service prefers the light encoder for small work; it cannot encode this codec.
  if (encoder === "native") return { ...options, codec: "h265" };
  if (wish !== "copy") return options;
  // Video packets are copied if they have timestamps and fit the format; otherwise only the audio is.
  const timed = container !== "ts" && container !== "avi";
  const codec = timed ? COPIED[source.split("_")[0] ?? ""] : undefined;
  if (container === "webm" || codec === "vp9") return { ...options, format: "webm", codec };
  return { ...options, format: container === "mov" ? "mov" : "mp4", codec };
}

// Codecs by the first part of a source's name.
const COPIED: Readonly<Record<string, string>> = { h264: "h264", hevc: "h265", vp9: "vp9", av1: "av1" };

// Copies are the same with every encoder, and the host with short chunks makes no streams. The light encoder cannot read
// AV1, which the service leaves to the native one.
function wishesOf(encoder: IntegrityCell["encoder"], source: IntegritySourceName): IntegrityCell["wish"][] {
  if (encoder === "light in chunks" && source === "av1_forward") return [];
  if (encoder === "pool" || encoder === "light") return ["whole", "trimmed", "copy", "stream"];
  return encoder === "webcodecs" ? ["whole", "trimmed", "stream"] : ["whole", "trimmed"];
}

/** The cells that once lost pictures, with at least one for each source. */
export const CHOSEN = (
  [
    ["h264_intra_refresh", "mp4", "pool", "whole"],
    ["h264_intra_refresh", "ts", "pool", "whole"],
    ["h264_open_gop", "ts", "pool", "whole"],
    ["mpeg2_open_gop", "ts", "pool", "whole"],
    ["h264_bare", "ts", "pool", "whole"],
    ["h264_paff", "ts", "pool", "trimmed"],
    ["mpeg4_packed", "avi", "native in chunks", "trimmed"],
    ["h264_intra_refresh", "mp4", "pool", "stream"],
    ["h264_intra_refresh", "mp4", "webcodecs", "trimmed"],
    ["vp9_hidden", "webm", "webcodecs", "whole"],
    ["vp9_hidden", "webm", "pool", "stream"],
    ["mpeg4_packed", "mkv", "pool", "stream"],
    ["h264_long_sound", "mp4", "pool", "stream"],
    ["h264_long_sound", "mkv", "webcodecs", "stream"],
    ["h264_long_sound", "ts", "light", "stream"],
    ["h264_paff", "mkv", "webcodecs", "stream"],
    ["av1_forward", "webm", "webcodecs", "trimmed"],
    ["vp8_hidden", "webm", "webcodecs", "trimmed"],
    ["vp8_hidden", "mkv", "webcodecs", "whole"],
    ["h264_open_gop", "mp4", "light", "trimmed"],
    ["h264_open_gop", "ts", "light", "copy"],
    ["h264_intra_refresh", "ts", "native in chunks", "whole"],
    ["h264_open_gop", "ts", "native in chunks", "trimmed"],
    ["hevc_rasl", "mp4", "native in chunks", "whole"],
    ["h264_mbaff", "ts", "native in chunks", "whole"],
    ["av1_forward", "mp4", "native in chunks", "trimmed"],
    ["vp8_hidden", "webm", "light in chunks", "whole"],
    ["h264_one_idr", "mkv", "native in chunks", "trimmed"],
    ["hevc_radl", "ts", "light in chunks", "trimmed"],
  ] as const satisfies [IntegritySourceName, Container, IntegrityCell["encoder"], IntegrityCell["wish"]][]
).map(([source, container, encoder, wish]): IntegrityCell => ({ source, container, encoder, wish }));
