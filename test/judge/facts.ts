import { stat } from "node:fs/promises";
import { z } from "zod";
import { runFfprobe } from "../fixtures/make-clip.ts";
import { remember } from "./remember.ts";

const count = z.coerce.number();
const seconds = z.coerce.number().optional();

const Probed = z.object({
  format: z.object({
    format_name: z.string(),
    duration: seconds,
    bit_rate: seconds,
    tags: z.record(z.string(), z.string()).optional(),
  }),
  streams: z.array(
    z.object({
      index: count,
      codec_type: z.string(),
      codec_name: z.string().optional(),
      codec_tag_string: z.string().optional(),
      profile: z.string().optional(),
      width: count.optional(),
      height: count.optional(),
      pix_fmt: z.string().optional(),
      sample_aspect_ratio: z.string().optional(),
      color_transfer: z.string().optional(),
      color_primaries: z.string().optional(),
      color_space: z.string().optional(),
      r_frame_rate: z.string().optional(),
      avg_frame_rate: z.string().optional(),
      channels: count.optional(),
      sample_rate: count.optional(),
      duration: seconds,
      bit_rate: seconds,
      tags: z.record(z.string(), z.string()).optional(),
      disposition: z.record(z.string(), z.number()).optional(),
      side_data_list: z.array(z.object({ rotation: z.number().optional() })).optional(),
    }),
  ),
  frames: z
    .array(
      z.object({
        // Subtitles have no index.
        stream_index: count.optional(),
        best_effort_timestamp_time: seconds,
        pkt_duration_time: seconds,
        interlaced_frame: z.number().optional(),
      }),
    )
    .optional(),
});

/** ffprobe's facts of the first video stream. */
export interface PictureFacts {
  codec: string;
  /** The four letters of the codec in the container, such as `avc1`. */
  tag: string;
  width: number;
  height: number;
  pixel_format: string;
  /** `1:1` for square or unknown. */
  pixel_aspect: string;
  /** Degrees of the display matrix; 0 for none. */
  rotation: number;
  transfer: string | undefined;
  primaries: string | undefined;
  matrix: string | undefined;
  /** Time of every decoded frame in seconds. */
  times: number[];
  /** Seconds from the first frame to the end of the last. */
  duration: number;
  interlaced: boolean;
  /** Average frame rate in the container's header. */
  fps: number;
}

/** ffprobe's facts of the first audio stream; its duration is measured by decoding, see sound.ts. */
export interface SoundFacts {
  codec: string;
  channels: number;
  sample_rate: number;
  /** Bits per second in the header; NaN if unknown. */
  bitrate: number;
}

/** ffprobe's facts of a file with every frame decoded. */
export interface Facts {
  /** All names of ffprobe's demuxer. */
  format: string;
  bytes: number;
  /** Seconds in the container's header; NaN if unknown. */
  duration: number;
  streams: number;
  /** Tags of the file and of its sound, by names in lower case. */
  tags: Record<string, string>;
  picture: PictureFacts | null;
  sound: SoundFacts | null;
}

/** Reads the facts of a constant clip once per test file. */
export function recallFacts(path: string): Promise<Facts> {
  return remember([path, "facts"], () => readFacts(path));
}

/** The tracks to read, from 0; covers are not counted. */
export interface Tracks {
  video?: number | undefined;
  audio?: number | undefined;
}

/** Reads a file with native ffprobe, which decodes every frame, or those of its first seconds. */
export async function readFacts(path: string, tracks: Tracks = {}, seconds?: number): Promise<Facts> {
  const span = seconds === undefined ? [] : ["-read_intervals", `%+${seconds}`];
  const { format, streams, frames } = Probed.parse(await runFfprobe(path, ["-show_frames", ...span]));
  const videos = streams.filter((stream) => stream.codec_type === "video");
  const films = videos.filter(({ disposition }) => disposition?.attached_pic !== 1);
  const video = films[tracks.video ?? 0] ?? videos[0];
  const audio = streams.filter((stream) => stream.codec_type === "audio")[tracks.audio ?? 0];
  const shownFrames = (frames ?? []).filter((frame) => frame.stream_index === video?.index);
  const times = shownFrames.map((frame) => frame.best_effort_timestamp_time ?? Number.NaN);
  const last = shownFrames.at(-1)?.pkt_duration_time ?? 0;
  const tag = Number(video?.tags?.rotate ?? 0);
  return {
    format: format.format_name,
    bytes: (await stat(path)).size,
    duration: format.duration ?? Number.NaN,
    streams: streams.length,
    tags: lowerCase({ ...audio?.tags, ...format.tags }),
    picture: video
      ? {
          codec: video.codec_name ?? "",
          tag: video.codec_tag_string ?? "",
          width: video.width ?? 0,
          height: video.height ?? 0,
          pixel_format: video.pix_fmt ?? "",
          pixel_aspect: squareIfUnknown(video.sample_aspect_ratio),
          rotation: video.side_data_list?.find((data) => data.rotation !== undefined)?.rotation ?? tag,
          transfer: video.color_transfer,
          primaries: video.color_primaries,
          matrix: video.color_space,
          times,
          duration: (times.at(-1) ?? 0) - (times[0] ?? 0) + last,
          interlaced: shownFrames.some((frame) => frame.interlaced_frame === 1),
          fps: ratio(video.avg_frame_rate),
        }
      : null,
    sound: audio
      ? {
          codec: audio.codec_name ?? "",
          channels: audio.channels ?? 0,
          sample_rate: audio.sample_rate ?? 0,
          bitrate: audio.bit_rate ?? format.bit_rate ?? Number.NaN,
        }
      : null,
  };
}

/** Sums the packet bytes of a stream such as `a:0`, without the container's overhead. */
export async function countPacketBytes(path: string, stream: string): Promise<number> {
  const selection = ["-select_streams", stream, "-show_entries", "packet=size"];
  const { packets } = z
    .object({ packets: z.array(z.object({ size: count })) })
    .parse(await runFfprobe(path, ["-show_packets", ...selection]));
  return packets.reduce((sum, packet) => sum + packet.size, 0);
}

function lowerCase(tags: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(tags).map(([name, text]) => [name.toLowerCase(), text]));
}

function squareIfUnknown(ratio: string | undefined): string {
  return ratio === undefined || ratio === "0:1" || ratio === "N/A" ? "1:1" : ratio;
}

function ratio(text: string | undefined): number {
  const [above = "0", below = "1"] = (text ?? "0/1").split("/");
  return Number(above) / (Number(below) || 1);
}
