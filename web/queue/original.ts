import type { LocalOutput } from "../../src/browser/index.ts";
import type { Source } from "../../src/index.ts";
import { defaultSettings, type Item, type Settings } from "./item.ts";

/**
 * Returns whether the settings are a preset's or the page's defaults, for a whole file. The page keeps the original instead of a larger
 * output only for these; the visitor's own options are always followed.
 */
export function isPageChoice({ kind, options, target_size, preset }: Settings, source: Source): boolean {
  const { start, end } = options as { start?: number; end?: number };
  if (start !== undefined || end !== undefined) return false;
  if (preset !== null) return true;
  const own = defaultSettings(source);
  return kind === own.kind && target_size === null && JSON.stringify(options) === JSON.stringify(own.options);
}

/** Returns whether to keep an item's original, because its output is larger and no better. */
export function keepsOriginal({ settings, source, input, task }: Item): boolean {
  const output = task?.steps.findLast((step) => step.output?.larger_than_source)?.output;
  if (!output || !source || input === null || typeof input === "string") return false;
  const isSameSize = output.width === source.width && output.height === source.height;
  return task?.status === "succeeded" && isSameSize && isPageChoice(settings, source);
}

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
