import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { manifestEntries, manifestsOf } from "../../src/media/ffmpeg/manifests.ts";
import { errors } from "./errors.ts";

/** Downloads a URL to a file, which appears whole or not at all; returns its size in bytes. */
export async function download(url: string, path: string): Promise<number> {
  const response = await fetch(url);
  if (!response.ok || !response.body) {
    throw errors.outputUnavailable({ status: response.status });
  }
  await mkdir(dirname(path), { recursive: true });
  const part = `${path}.part`;
  // Opened before anything can fail: a stream that opens its file after `rm` would leave it behind.
  const file = (await open(part, "w")).createWriteStream();
  try {
    await pipeline(response.body, file);
    await rename(part, path);
  } finally {
    await rm(part, { force: true });
  }
  return file.bytesWritten;
}

/** Downloads the manifests of a stream and every file they refer to into a folder, in the same layout; returns how many files and bytes. */
export async function downloadStream(
  url: string,
  folder: string,
  format: string,
): Promise<{ files: number; bytes: number }> {
  const base = new URL(".", url);
  const seen = new Set<string>();
  let bytes = 0;
  const queue = manifestsOf(url, format);
  for (let next = queue.shift(); next; next = queue.shift()) {
    const name = decodeURIComponent(new URL(next).pathname.slice(base.pathname.length));
    const path = resolve(folder, name);
    if (seen.has(next) || !next.startsWith(base.href) || relative(folder, path).startsWith("..")) continue;
    seen.add(next);
    bytes += await download(next, path);
    if (!/\.(m3u8|mpd)$/.test(name)) continue;
    const entries = manifestEntries(await readFile(path, "utf8"));
    queue.push(...entries.map((uri) => new URL(uri, next).href));
  }
  return { files: seen.size, bytes };
}
