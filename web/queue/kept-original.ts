import type { LocalOutput } from "../../src/browser/index.ts";
import type { Source } from "../../src/index.ts";
import { defaultSettings, type Item, type Settings } from "./item.ts";

/**
 * Returns whether settings are a preset, or those that the page chose itself, of a whole file. Such an output is never larger than
 * its source for nothing; the visitor's own options are followed.
 */
export function isPageChoice({ kind, options, target_size, preset }: Settings, source: Source): boolean {
  const { start, end } = options as { start?: number; end?: number };
  if (start !== undefined || end !== undefined) return false;
  if (preset !== null) return true;
  const own = defaultSettings(source);
  return kind === own.kind && target_size === null && JSON.stringify(options) === JSON.stringify(own.options);
}

/** Returns whether the original of an item is kept, because its output is larger and no better. */
export function keepsOriginal({ wishes, source, input, task }: Item): boolean {
  const output = task?.steps.findLast((step) => step.output?.larger_than_source)?.output;
  if (!output || !source || input === null || typeof input === "string") return false;
  const isSameSize = output.width === source.width && output.height === source.height;
  return task?.status === "succeeded" && isSameSize && isPageChoice(wishes, source);
}

// An object URL is valid as long as the page is open.
const urls = new WeakMap<Blob, string>();

/** Returns the original of an item as its output; null when there is no file. */
export async function originalOutput({ input, source, name }: Item): Promise<LocalOutput | null> {
  if (!source || input === null || typeof input === "string") return null;
  const blob = "getFile" in input ? await input.getFile() : input;
  const file = blob instanceof File ? blob : new File([blob], name, { type: blob.type });
  return {
    // The name of a saved file has the ending of this URL.
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
