import type { StepContext, Storage } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import { manifestsOf } from "../ffmpeg/manifests/manifest-entries.ts";
import { namedIn } from "../ffmpeg/manifests/media-playlist.ts";
import type { S3Bucket } from "../storage/s3/bucket.ts";
import { readAll, requireEncoded } from "../storage/storage.ts";
import { throttle } from "../util/async.ts";
import { type OutputFile, uploadFiles } from "./upload-files.ts";

/** The caller's own storage for the output of a run. */
export interface Destination {
  /** Key of the file to open; when it ends in a slash, the file's name is appended. */
  key: string;
  /** Opens the bucket; rejects when its connection no longer exists. */
  open(): Promise<S3Bucket>;
}

export interface UploadTools {
  storage: Storage;
  /** Returns the key behind one of our own URLs; null for any other. */
  key(url: string): Promise<string | null>;
}

/** Copies the file stored under `key`, or all files of adaptive video or of a storyboard, to a destination; returns the source as it is there. */
export async function uploadOutput(
  source: Source,
  key: string,
  destination: Destination,
  { storage, key: keyOf }: UploadTools,
  context: StepContext,
  signal: AbortSignal,
): Promise<Source> {
  const folder = key.slice(0, key.lastIndexOf("/") + 1);
  const main = key.slice(folder.length);
  const names = await namesFor(source);
  const files = await Promise.all(names.map((name) => fileOf(storage, folder, name)));
  const progress = throttle((share: number) => context.progress(share * 100).catch(() => undefined));
  const uploaded = await uploadFiles({
    ...{ files, main, signal, key: destination.key, bucket: await destination.open() },
    onProgress: (share) => void progress(share),
  });
  const { size, etag, mime } = uploaded.info;
  const renditions = await Promise.all((source.renditions ?? []).map(moved));
  const listed = source.files && (await Promise.all(source.files.map(moved)));
  const described = { ...source, url: uploaded.url, mime, etag, filesize: source.filesize ?? size };
  return {
    ...described,
    ...(source.renditions && { renditions }),
    ...(listed && { files: listed }),
  };

  async function namesFor({ kind, format, files: own }: Source): Promise<string[]> {
    if (kind === "adaptive_video") return namesOf(storage, folder, manifestsOf(main, format));
    const keys = await Promise.all((own ?? []).map((file) => keyOf(file.url)));
    const beside = keys.flatMap((each) => (each?.startsWith(folder) ? [each.slice(folder.length)] : []));
    return [...new Set([...beside, main])];
  }

  async function moved<F extends { url: string }>(file: F): Promise<F> {
    const own = await keyOf(file.url);
    return own?.startsWith(folder) ? { ...file, url: uploaded.urlOf(own.slice(folder.length)) } : file;
  }
}

async function fileOf(storage: Storage, folder: string, name: string): Promise<OutputFile> {
  const { size, mime } = requireEncoded(await storage.head(folder + name), "upload_failed");
  return {
    ...{ name, size, mime },
    async open(range) {
      const object = await storage.read(folder + name, range);
      return readAll(requireEncoded(object, "upload_failed").body);
    },
  };
}

/** Lists all files of adaptive video from its manifests, which come after the files they refer to. */
async function namesOf(storage: Storage, folder: string, manifests: readonly string[]): Promise<string[]> {
  const read = async (name: string) => {
    const object = await storage.read(folder + name);
    return object ? namedIn(name, new TextDecoder().decode(await readAll(object.body))) : [];
  };
  const named = (await Promise.all(manifests.map(read))).flat();
  const playlists = named.filter((name) => name.endsWith(".m3u8"));
  const segments = await Promise.all(playlists.map(read));
  const files = named.filter((name) => !playlists.includes(name));
  return [...new Set([...segments.flat(), ...files, ...playlists, ...manifests])];
}
