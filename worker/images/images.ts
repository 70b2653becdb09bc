import { MediaError } from "../../src/media/errors.ts";
import { readAll } from "../../src/storage/storage.ts";
import { MIB, sha256Hex } from "../../src/util/bytes.ts";
import { type Env, mediaStorage } from "../env.ts";
import * as errors from "../errors.ts";
import { patiently } from "../network/durable-objects.ts";
import type { ImageEntry, Images } from "./image.ts";

/** Creates {@link Images} from the Worker's bindings, with a cache of recent pictures in memory. */
export function createImages(env: Env, now: () => number): Images {
  const recent = createRecentImages(now);
  return async (place, job) => {
    const name = await sha256Hex(new TextEncoder().encode(JSON.stringify([place, job])));
    const hit = recent.get(name);
    if (hit) return { entry: hit.entry, outcome: "hit", body: async () => hit.bytes };
    const answer = await patiently(async () => env.IMAGE.getByName(name).get(place, job));
    if ("error" in answer) {
      const { kind, message, param } = answer.error;
      throw new MediaError(kind, message, { param });
    }
    const { entry, found: outcome, bytes } = answer;
    if (bytes) recent.put(name, { entry, bytes });
    return {
      entry,
      outcome,
      async body() {
        if (bytes) return bytes;
        const file = await mediaStorage(env).read(entry.key);
        if (!file) throw errors.imageReplaced();
        if (entry.size > RECENT_BYTES.each) return file.body;
        const body = await readAll(file.body);
        recent.put(name, { entry, bytes: body });
        return body;
      },
    };
  };
}

/** A picture with its bytes. */
export interface RecentImage {
  entry: ImageEntry;
  bytes: Uint8Array<ArrayBuffer>;
}

/** A cache of the most recently used pictures in memory, each until it expires. */
export interface RecentImages {
  get(name: string): RecentImage | null;
  put(name: string, image: RecentImage): void;
}

const RECENT_BYTES = { each: MIB, all: 16 * MIB } as const;

function createRecentImages(now: () => number): RecentImages {
  const images = new Map<string, RecentImage>();
  let cached_bytes = 0;

  function drop(name: string): void {
    cached_bytes -= images.get(name)?.bytes.length ?? 0;
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
      cached_bytes += image.bytes.length;
      for (const oldest of images.keys()) {
        if (cached_bytes <= RECENT_BYTES.all) break;
        drop(oldest);
      }
    },
  };
}
