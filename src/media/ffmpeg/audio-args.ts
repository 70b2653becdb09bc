import {
  type AudioEncode,
  audioFilterChain,
  type Gain,
  keepsLayout,
} from "../features/audio-filters-graph.ts";
import { isLosslessSource } from "../features/audio-format.ts";
import { soundFilters } from "../features.ts";
import type { AudioPlan } from "../plan.ts";
import type { Source } from "../source.ts";
import * as errors from "./errors.ts";
import type { Toolset } from "./toolset.ts";
import type { Trim } from "./trim.ts";

/** Returns the filter and codec arguments of the audio; `gain` comes from `findGain`. */
export function audioArgs(
  audio: AudioPlan,
  source: Source,
  trim: Trim,
  toolset: Toolset,
  gain: Gain | null,
): string[] {
  if (audio.mode === "copy") return ["-c:a", "copy"];
  const filters = [...trim.audio, ...soundFilters(trim), ...audioFilterChain(audio, source, gain)];
  return [
    ...(filters.length > 0 ? ["-filter:a", filters.join(",")] : []),
    ...audioCodecArgs(audio, source, toolset),
  ];
}

/** Returns the codec arguments of encoded audio. */
export function audioCodecArgs(audio: AudioEncode, source: Source, toolset: Toolset): string[] {
  const tool = toolset.audio[audio.codec];
  if (!tool) throw errors.encoderMissing({ tools: toolset.name, codec: audio.codec });
  return [
    ...["-c:a", tool.encoder, ...tool.args],
    ...(audio.bitrate === null ? [] : ["-b:a", String(audio.bitrate)]),
    // libvorbis exceeds the requested bitrate by 10 % unless maxrate is set.
    ...(audio.codec === "vorbis" ? ["-maxrate:a", String(audio.bitrate)] : []),
    ...(audio.compression === null ? [] : ["-compression_level", String(audio.compression)]),
    ...(audio.codec === "flac" && !isLosslessSource(source.codecs?.audio ?? "")
      ? ["-sample_fmt", "s16"]
      : []),
    ...(keepsLayout(audio, source) ? [] : ["-ac", String(audio.channels)]),
    ...["-ar", String(audio.sample_rate)],
  ];
}

// Decoders return about 40 frames a second; joining them makes the filters that follow 10 % faster.
const JOIN_FRAMES = "asetnsamples=n=32768:p=0";

/** Returns the arguments for the audio of a waveform: 16-bit PCM, with the decoder's channels and sample rate. */
export function sampleArgs(trim: Trim, { joins }: Toolset): string[] {
  const filters = [...trim.audio, ...(joins ? [JOIN_FRAMES] : [])];
  return [...(filters.length > 0 ? ["-filter:a", filters.join(",")] : []), "-c:a", "pcm_s16le"];
}
