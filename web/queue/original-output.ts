import type { LocalOutput } from "../../src/browser/index.ts";
import type { Item } from "./item.ts";

// An object URL is valid as long as the page is open.
const urls = new WeakMap<Blob, string>();

/** Returns an item's original file as its output; null when there is none. */
export async function originalOutput({ input, source, name }: Item): Promise<LocalOutput | null> {
  if (!source || input === null || typeof input === "string") return null;
  const blob = "getFile" in input ? await input.getFile() : input;
  const file = blob instanceof File ? blob : new File([blob], name, { type: blob.type });
  return {
    // Saving takes the extension from this URL.
    source: { ...source, url: `file:${encodeURIComponent(name)}`, filesize: file.size },
    files: [{ name, file }],
    async url() {
      const url = urls.get(blob) ?? URL.createObjectURL(file);
      urls.set(blob, url);
      return url;
    },
    blob: async () => file,
    stream: async () => file.stream(),
    async saveTo(handle, options) {
      await file
        .stream()
        .pipeTo(await handle.createWritable(), options?.signal ? { signal: options.signal } : {});
    },
  };
}
