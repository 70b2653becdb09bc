import { MIB } from "../../src/util/bytes.ts";
import type { ImageEntry } from "./image.ts";

/** A picture with its bytes. */
export interface RecentImage {
  entry: ImageEntry;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Holds the pictures asked for most recently in memory, each as long as it is fresh. */
export interface RecentImages {
  get(name: string): RecentImage | null;
  put(name: string, image: RecentImage): void;
}

/** Bytes of one picture that are held, and of all of them: an isolate has 128 MB. */
export const RECENT_BYTES = { each: MIB, all: 16 * MIB } as const;

/** Creates {@link RecentImages}. */
export function createRecentImages(now: () => number): RecentImages {
  const images = new Map<string, RecentImage>();
  let held = 0;

  function drop(name: string): void {
    held -= images.get(name)?.bytes.length ?? 0;
    images.delete(name);
  }

  return {
    get(name) {
      const image = images.get(name);
      if (!image) return null;
      drop(name);
      if (image.entry.fresh_until <= now()) return null;
      this.put(name, image);
      return image;
    },
    put(name, image) {
      drop(name);
      if (image.bytes.length > RECENT_BYTES.each) return;
      images.set(name, image);
      held += image.bytes.length;
      for (const oldest of images.keys()) {
        if (held <= RECENT_BYTES.all) break;
        drop(oldest);
      }
    },
  };
}
