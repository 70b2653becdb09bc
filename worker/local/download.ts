import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname, relative, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { MediaError } from "../../src/core/errors.ts";

/** Downloads a URL to a file, which appears whole or not at all; returns its size in bytes. */
export async function download(url: string, path: string): Promise<number> {
  const response = await fetch(url);
  if (!response.ok || !response.body) {
    throw new MediaError("media_not_found", `The output cannot be fetched (HTTP ${response.status}).`);
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

/** Downloads a playlist and every file it refers to into a folder, in the same layout; returns how many files and bytes. */
export async function downloadStream(url: string, folder: string): Promise<{ files: number; bytes: number }> {
  const base = new URL(".", url);
  const seen = new Set<string>();
  let bytes = 0;
  const queue = [url];
  for (let next = queue.shift(); next; next = queue.shift()) {
    const name = decodeURIComponent(new URL(next).pathname.slice(base.pathname.length));
    const path = resolve(folder, name);
    if (seen.has(next) || !next.startsWith(base.href) || relative(folder, path).startsWith("..")) continue;
    seen.add(next);
    bytes += await download(next, path);
    if (name.endsWith(".m3u8")) queue.push(...urisOf(await readFile(path, "utf8"), next));
  }
  return { files: seen.size, bytes };
}

// RFC 8216: a line that does not start with # is a URI, and so is the value of a tag's URI attribute.
function urisOf(playlist: string, url: string): string[] {
  return playlist.split(/\r?\n/).flatMap((line) => {
    const uri = line.startsWith("#") ? /URI="([^"]+)"/.exec(line)?.[1] : line.trim();
    return uri ? [new URL(uri, url).href] : [];
  });
}
