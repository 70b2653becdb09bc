import { type AdaptiveFormat, FORMATS } from "../core/formats.ts";
import { type DashFacts, writeDash } from "./dash-manifest.ts";
import { writeMaster } from "./master-playlist.ts";
import { PLAYLIST, writeMediaPlaylist } from "./media-playlist.ts";
import { MANIFEST, MASTER } from "./output.ts";

/** A playlist or manifest; its name is a path relative to the output folder. */
export interface Manifest {
  name: string;
  text: string;
}

/** Writes all playlists and manifests of a format of adaptive video, the one to open last. */
export function writeManifests(format: AdaptiveFormat, facts: DashFacts): Manifest[] {
  return FORMATS.adaptive_video[format].manifests.flatMap((name) =>
    name === MANIFEST ? [{ name, text: writeDash(facts) }] : writePlaylists(facts),
  );
}

function writePlaylists({ pictures, sound, fps }: DashFacts): Manifest[] {
  const all = [...pictures, ...(sound ? [sound] : [])].map((stream) => ({
    ...stream,
    uri: `${stream.folder}/${PLAYLIST}`,
  }));
  const streams = pictures.length > 0 ? all.slice(0, pictures.length) : all;
  const master = writeMaster({ streams, audio: pictures.length > 0 ? sound : null, fps });
  return [
    ...all.map(({ uri, folder, runs }) => ({ name: uri, text: writeMediaPlaylist(`${folder}/`, runs) })),
    { name: MASTER, text: master },
  ];
}
