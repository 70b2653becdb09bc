import type { Source } from "../core/source.ts";
import { adaptiveMime, MASTER } from "../ffmpeg/output.ts";
import { writeMaster } from "../ffmpeg/write-master.ts";
import type { Plan } from "../plan/plan.ts";
import type { EncodedFile } from "./encoder.ts";

/** Folder of the sound that renditions share. */
const AUDIO = "audio";

/** Puts the files of adaptive video in order of writing: segments, then playlists, then a master playlist with measured bitrates. */
export function finishStream(files: readonly EncodedFile[], plan: Plan, source: Source): EncodedFile[] {
  const others = files.filter((file) => file.name !== MASTER);
  const master = files.find((file) => file.name === MASTER);
  const text = writeMaster({
    master: new TextDecoder().decode(master?.bytes ?? new Uint8Array()),
    files: others,
    audio: plan.video && plan.audio ? AUDIO : null,
    channels: plan.audio?.mode === "encode" ? plan.audio.channels : source.audio?.channels,
    fps: source.fps,
  });
  const playlists = others.filter((file) => file.name.endsWith(".m3u8")).map(atLeastASecond);
  const segments = others.filter((file) => !file.name.endsWith(".m3u8"));
  return [
    ...[...segments, ...playlists].map((file) => ({ ...file, mime: adaptiveMime(file.name) })),
    { name: MASTER, mime: adaptiveMime(MASTER), bytes: new TextEncoder().encode(text) },
  ];
}

// ffmpeg rounds the target duration of a very short stream to 0, which some players divide by.
function atLeastASecond(playlist: EncodedFile): EncodedFile {
  const text = new TextDecoder().decode(playlist.bytes);
  const mended = text.replace(/^#EXT-X-TARGETDURATION:0$/m, "#EXT-X-TARGETDURATION:1");
  return mended === text ? playlist : { ...playlist, bytes: new TextEncoder().encode(mended) };
}
