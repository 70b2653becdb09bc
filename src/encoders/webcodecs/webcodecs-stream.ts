import { MediaError } from "../../core/errors.ts";
import { measureStream, writeMaster } from "../../ffmpeg/manifests/master-playlist.ts";
import { PLAYLIST } from "../../ffmpeg/manifests/media-playlist.ts";
import { adaptiveMime, MASTER } from "../../ffmpeg/output.ts";
import type { VideoEncode } from "../../ffmpeg/video-args.ts";
import { shownEnd } from "../../plan/pictures-end.ts";
import type { Rendition } from "../../plan/plan.ts";
import type { ChunkJob, EncodedFile } from "../encoder.ts";
import { encodeOutputs, holdOf } from "./webcodecs-chunk.ts";
import type { Hold } from "./webcodecs-rate.ts";
import { type Segments, startSegments } from "./webcodecs-segments.ts";
import type { Ability } from "./webcodecs-trial.ts";

// The same as the other encoders' ffmpeg uses.
const KEY_SECONDS = 2;

/** Returns the parameters that encode a rendition of adaptive video like a video of its own. */
export function videoOf(video: VideoEncode, { geometry, rate, fps }: Rendition): VideoEncode {
  return { ...video, geometry, rate, fps };
}

/**
 * Encodes the pictures of a chunk of adaptive video, all renditions from one decode, into segments of fragmented MP4 with
 * their playlists and a master playlist that lists codecs and sizes. Returns nothing for a chunk beyond the last picture.
 * Rejects as `encodePictures` does.
 */
export async function encodeRenditions(
  job: ChunkJob,
  video: VideoEncode,
  abilities: readonly Ability[],
): Promise<EncodedFile[]> {
  const { plan, chunk, source } = job;
  const at = Math.max(0, chunk.start - plan.start);
  const until = shownEnd(source, plan, chunk);
  const outputs = plan.renditions.map((rendition, index) => {
    const own = videoOf(video, rendition);
    const ability = abilities[index];
    if (!ability) throw new RangeError(`There is no encoder for ${rendition.name}.`);
    const segments = startSegments({ folder: rendition.name, index: chunk.index, at, until });
    const hold = boundHold(holdOf(own, source, { ...ability, quantizer: null }), own);
    return {
      rendition,
      segments,
      ...{ video: own, ability, hold, key_seconds: KEY_SECONDS, write: segments.write },
    };
  });
  try {
    await encodeOutputs(job, outputs);
    const made: { rendition: Rendition; segments: Segments }[] = [];
    for (const { rendition, segments } of outputs) {
      const own = await segments.finish();
      if (own) made.push({ rendition, segments: own });
    }
    if (made.length === 0 && chunk.track === "video") return [];
    if (made.length < outputs.length)
      throw new MediaError("encode_failed", "There are no pictures in this stretch of the source.");
    return [...made.flatMap(({ segments }) => segments.files), masterOf(made)];
  } finally {
    for (const { segments } of outputs) await segments.cancel();
  }
}

// An average must stay below the rung's maximum.
function boundHold(hold: Hold, { rate }: VideoEncode): Hold {
  if (!("bitrate" in hold) || !("maxrate" in rate) || rate.maxrate === undefined) return hold;
  return { bitrate: Math.min(hold.bitrate, rate.maxrate) };
}

function masterOf(made: readonly { rendition: Rendition; segments: Segments }[]): EncodedFile {
  const streams = made.map(({ rendition: { name, geometry }, segments: { run, files, codec } }) => {
    const sizes = new Map(files.map((file) => [file.name, file.bytes.length]));
    const rate = measureStream(
      run.segments.map((segment) => ({ seconds: segment.seconds, size: sizes.get(segment.name) ?? 0 })),
    );
    const { width, height } = geometry;
    return { uri: `${name}/${PLAYLIST}`, codecs: codec, width, height, rate };
  });
  const bytes = new TextEncoder().encode(writeMaster({ streams, sounds: [], fps: undefined }));
  return { name: MASTER, mime: adaptiveMime(MASTER), bytes };
}
