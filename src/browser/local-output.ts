import type { Output, ReadOptions } from "../client/client.ts";
import { saveTo } from "../client/output.ts";
import { replaceEntries } from "../media/ffmpeg/manifest-entries.ts";
import { adaptiveMime } from "../media/ffmpeg/output-files.ts";
import { untilAborted } from "../util/async.ts";
import * as errors from "./errors.ts";
import type { RunFiles } from "./media-api.ts";

/** The output of a run in this browser. */
export interface LocalOutput extends Output {
  /** All files with their paths relative to the output folder: one, or the playlists and segments of adaptive video. */
  readonly files: readonly { name: string; file: File }[];
}

/** Object URLs of files, valid until they are revoked. */
export interface FileUrls {
  /** Returns the URL of a blob, always the same for a name. */
  of(name: string, blob: () => Blob): string;
  drop(): void;
}

/** Creates the registry of a client's object URLs. */
export function createFileUrls(): FileUrls {
  const urls = new Map<string, string>();
  return {
    of(name, blob) {
      const url = urls.get(name) ?? URL.createObjectURL(blob());
      urls.set(name, url);
      return url;
    },
    drop() {
      for (const url of urls.values()) URL.revokeObjectURL(url);
      urls.clear();
    },
  };
}

/**
 * Creates the output of a run. The URL of adaptive video leads to a master playlist or DASH manifest made for this page, which refers
 * to all files by object URLs: hls.js and Shaka Player play it; dash.js and system players, such as Safari's, may not.
 */
export function createLocalOutput(id: string, { source, files }: RunFiles, urls: FileUrls): LocalOutput {
  // The fallback may name the main file differently.
  const playlist = files.find(({ name }) => name.endsWith(".m3u8") && !name.includes("/"));
  const main = files.find(({ name }) => name === nameOf(source.url)) ?? playlist ?? files[0];
  if (!main) throw errors.outputMissing();
  const urlOf = (name: string, blob: () => Blob) => urls.of(`${id}/${name}`, blob);

  async function playlistUrl(name: string): Promise<string> {
    const { file } = files.find((each) => each.name === name) ?? {};
    if (!file) throw errors.outputFileMissing();
    if (!/\.(m3u8|mpd)$/.test(name)) return urlOf(name, () => file);
    const folder = name.slice(0, name.lastIndexOf("/") + 1);
    const text = await replaceEntries(await file.text(), (uri) => playlistUrl(folder + uri));
    return urlOf(name, () => new Blob([text], { type: adaptiveMime(name) }));
  }

  const blob = async ({ signal }: ReadOptions = {}) => untilAborted(readable(main.file), signal);
  const stream = async (how: ReadOptions = {}) =>
    (await blob(how)).stream().pipeThrough(new TransformStream(), how);

  return {
    source,
    files,
    url: () => playlistUrl(main.name),
    blob,
    stream,
    saveTo: async (handle, how) => saveTo(handle, (await blob(how)).stream(), how),
  };
}

// Only reading shows that a file was deleted.
async function readable(file: File): Promise<File> {
  await file
    .slice(0, 1)
    .arrayBuffer()
    .catch((cause: unknown) => {
      throw errors.outputMissing({ cause });
    });
  return file;
}

function nameOf(url: string): string {
  return url.slice(url.lastIndexOf("/") + 1);
}
