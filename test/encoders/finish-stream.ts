import type { EncodedFile } from "../../src/encoders/encoder.ts";
import { joinStream } from "../../src/encoders/run/encode-stream.ts";
import { adaptiveMime } from "../../src/media/ffmpeg/output-files.ts";
import type { Plan } from "../../src/media/plan.ts";
import type { Source } from "../../src/media/source.ts";
import { readSegment } from "../../src/mux/contents.ts";

/**
 * Returns the files of adaptive video encoded in one pass in the order of writing: segments, playlists, then a master
 * playlist with measured bitrates. Throws `encode_failed` if a file is missing.
 */
export function finishStream(files: readonly EncodedFile[], plan: Plan, source: Source): EncodedFile[] {
  const isPlaylist = ({ name }: EncodedFile) => name.endsWith(".m3u8");
  const segments = files
    .filter((file) => !isPlaylist(file))
    .map((file) => ({ ...file, mime: adaptiveMime(file.name) }));
  const written = segments.map(({ name, mime, bytes }) => {
    return { name, mime, size: bytes.length, ...readSegment(bytes) };
  });
  const chunk = { index: 0, track: "all", start: plan.start, end: plan.end } as const;
  const part = { chunk, written, playlists: files.filter(isPlaylist) };
  const inits = new Map(segments.map(({ name, bytes }) => [name, bytes]));
  return [...segments, ...joinStream(plan, source, [part], inits)];
}
