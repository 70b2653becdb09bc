import type { Chapter } from "../../core/chapters/chapters.ts";
import type { VideoFormat } from "../../core/formats.ts";
import type { ByteReader } from "../../core/ports.ts";
import { type Editing, editFile } from "../../mux/file-edit.ts";
import { addToMp4 } from "../../mux/mp4-text.ts";
import { addToWebm } from "../../mux/webm-text.ts";
import type { SubtitleTrack } from "../../subtitles/track.ts";

/**
 * Adds text tracks and chapters to a finished video, whichever encoder made it, and streams the result: timed text in MP4 and MOV, WebVTT in
 * WebM. Pictures and sound are copied byte for byte.
 */
export async function addSubtitles(
  reader: ByteReader,
  format: VideoFormat,
  { tracks, chapters }: { tracks: readonly SubtitleTrack[]; chapters: readonly Chapter[] },
  editing: Editing,
): Promise<ReadableStream<Uint8Array>> {
  const edits =
    format === "webm"
      ? await addToWebm(reader, tracks, chapters)
      : await addToMp4(reader, tracks, chapters, format === "mov");
  return editFile(reader, edits, editing);
}
