import { type AdaptiveFormat, FORMATS } from "../../media/formats.ts";
import { MANIFEST, MASTER } from "../output.ts";
import { type DashFacts, writeDash } from "./dash-manifest.ts";
import { measureStream, writeMaster } from "./master-playlist.ts";
import { I_FRAMES, PLAYLIST, type PlaylistFacts, writeMediaPlaylist } from "./media-playlist.ts";

/** A playlist or manifest; its name is a path relative to the output folder. */
export interface Manifest {
  name: string;
  text: string;
}

export interface ManifestFacts extends DashFacts {
  /** How the segments of HLS are encrypted; absent when they are not. */
  encryption?: PlaylistFacts["encryption"];
  /** Bytes of each segment of pictures up to the end of its first; absent for no I-frame playlists. */
  leads?: ReadonlyMap<string, number> | undefined;
}

/** Writes all playlists and manifests of a format of adaptive video, the one to open last. */
export function writeManifests(format: AdaptiveFormat, facts: ManifestFacts): Manifest[] {
  return FORMATS.adaptive_video[format].manifests.flatMap((name) =>
    name === MANIFEST ? [{ name, text: writeDash(facts) }] : writePlaylists(facts),
  );
}

function writePlaylists({ pictures, sounds, texts = [], fps, leads, encryption }: ManifestFacts): Manifest[] {
  const all = [...pictures, ...sounds].map((stream) => ({
    ...stream,
    uri: `${stream.folder}/${PLAYLIST}`,
  }));
  const streams = pictures.length > 0 ? all.slice(0, pictures.length) : all;
  const i_frames =
    leads &&
    pictures.map((stream) => {
      const segments = stream.runs.flatMap((run) => run.segments);
      const ranges = segments.map(({ name, seconds }) => ({ seconds, size: leads.get(name) ?? 0 }));
      return { ...stream, uri: `${stream.folder}/${I_FRAMES}`, rate: measureStream(ranges) };
    });
  const master = writeMaster({ streams, sounds: pictures.length > 0 ? sounds : [], texts, fps, i_frames });
  return [
    ...all.map(({ uri, folder, runs }) => ({
      name: uri,
      text: writeMediaPlaylist(`${folder}/`, runs, { encryption }),
    })),
    ...(i_frames ?? []).map(({ uri, folder, runs }) => ({
      ...{ name: uri, text: writeMediaPlaylist(`${folder}/`, runs, { leads }) },
    })),
    ...texts.map(({ folder, segments }) => ({
      name: `${folder}/${PLAYLIST}`,
      text: writeMediaPlaylist(`${folder}/`, [{ init: null, segments: [...segments] }]),
    })),
    { name: MASTER, text: master },
  ];
}
