// Files of this device that options name beside the input: logos, subtitles, fonts and videos to join. The options contain an address
// such as `file:logo.png#<id>`, so that they can be compared, stored and undone like any others; this module keeps the files.

import type { LocalFile } from "../../src/browser/index.ts";
import { MediaError } from "../../src/index.ts";
import { extraInputs, mapExtraInputs } from "../../src/media/extra-inputs.ts";
import { nextId, type Settings } from "./item.ts";
import * as strings from "./list-strings.ts";

const files = new Map<string, LocalFile>();
const CACHE = "framewright-attached";

/** The page asks for larger files again after a reload, as it does for inputs. */
const MAX_STORED_BYTES = 268_435_456;

/** Keeps a file, and returns the address for options that name it. */
export function attach(file: LocalFile): string {
  const name = "name" in file && typeof file.name === "string" ? file.name : strings.unnamed;
  const url = `file:${encodeURIComponent(name)}#${nextId()}`;
  files.set(url, file);
  void store(url, file).catch(() => {});
  return url;
}

/** Returns the name of the file that an address stands for; null for an address on the network. */
export function attachedName(url: string): string | null {
  const name = /^file:([^#]*)#/.exec(url)?.[1];
  return name === undefined ? null : decodeURIComponent(name);
}

/** Returns options with an example address for each attached file, for checks of the options and for code that calls a service. */
export function maskAttached<T extends object>(options: T): T {
  return replaceUrls(options, (url) => {
    const name = attachedName(url);
    return name === null ? url : `https://example.com/${encodeURIComponent(name)}`;
  });
}

/**
 * Returns options with the attached files themselves, as clients take them.
 *
 * @throws `input_unreachable` for a file that the page no longer has after a reload.
 */
export async function withAttached(options: Settings["options"]): Promise<Settings["options"]> {
  const attached = new Map<string, LocalFile>();
  for (const { url } of extraInputs({ options })) {
    const name = attachedName(url);
    if (name === null) continue;
    const file = files.get(url) ?? (await readStored(url, name));
    if (!file) throw new MediaError("input_unreachable", strings.chooseAgain({ name }), { retryable: false });
    attached.set(url, file);
  }
  return attached.size === 0 ? options : replaceUrls(options, (url) => attached.get(url) ?? url);
}

/** Deletes the stored files that no settings name any longer. */
export async function deleteUnused(all: readonly Settings[]): Promise<void> {
  if (!(await caches.has(CACHE))) return;
  const keys = new Set(all.flatMap((settings) => extraInputs(settings).map(({ url }) => keyOf(url))));
  const cache = await caches.open(CACHE);
  for (const { url } of await cache.keys()) if (!keys.has(new URL(url).pathname)) await cache.delete(url);
}

function replaceUrls<T extends object>(options: T, replace: (url: string) => unknown): T {
  const { options: next } = mapExtraInputs({ options }, (url) =>
    typeof url === "string" ? replace(url) : url,
  );
  return next as T;
}

async function store(url: string, file: LocalFile): Promise<void> {
  const blob = "getFile" in file ? await file.getFile() : file;
  if (blob.size > MAX_STORED_BYTES) return;
  await (await caches.open(CACHE)).put(keyOf(url), new Response(blob));
}

async function readStored(url: string, name: string): Promise<LocalFile | null> {
  const response = await (await caches.open(CACHE)).match(keyOf(url));
  return response ? new File([await response.blob()], name) : null;
}

function keyOf(url: string): string {
  return `/attached/${url.slice(url.indexOf("#") + 1)}`;
}
