// mediabunny's codec names that differ from Framewright's (and ffmpeg's).
const CODECS: Readonly<Record<string, string>> = {
  avc: "h264",
  hevc: "h265",
  "pcm-s16": "pcm_s16le",
  "pcm-s16be": "pcm_s16be",
  "pcm-s24": "pcm_s24le",
  "pcm-s24be": "pcm_s24be",
  "pcm-s32": "pcm_s32le",
  "pcm-s32be": "pcm_s32be",
  "pcm-f32": "pcm_f32le",
  "pcm-f32be": "pcm_f32be",
  "pcm-f64": "pcm_f64le",
  "pcm-f64be": "pcm_f64be",
  "pcm-u8": "pcm_u8",
  "pcm-s8": "pcm_s8",
  ulaw: "pcm_mulaw",
  alaw: "pcm_alaw",
};

// WebCodecs' color names that differ from ffmpeg's.
const COLORS: Readonly<Record<string, string>> = {
  pq: "smpte2084",
  hlg: "arib-std-b67",
  "bt2020-ncl": "bt2020nc",
  "bt2020-cl": "bt2020c",
  rgb: "gbr",
};

/** Converts mediabunny's name of a codec to Framewright's. */
export function codecName(codec: string): string {
  return CODECS[codec] ?? codec;
}

/** Converts WebCodecs' name of a color property to ffmpeg's. */
export function colorName(color: string): string {
  return COLORS[color] ?? color;
}
