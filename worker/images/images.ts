import { MediaError } from "../../src/media/errors.ts";
import { readAll } from "../../src/storage/storage.ts";
import { sha256Hex } from "../../src/util/bytes.ts";
import { type Env, mediaStorage } from "../env.ts";
import { errors } from "../errors.ts";
import { patiently } from "../network/retry-object-call.ts";
import type { Images } from "./image.ts";
import { createRecentImages, RECENT_BYTES } from "./recent-images.ts";

/** Creates {@link Images} from the bindings of the Worker, with the most recent ones in its memory. */
export function createImages(env: Env, now: () => number): Images {
  const recent = createRecentImages(now);
  return async (place, job) => {
    const name = await sha256Hex(new TextEncoder().encode(JSON.stringify([place, job])));
    const held = recent.get(name);
    if (held) return { entry: held.entry, found: "hit", body: async () => held.bytes };
    const answer = await patiently(async () => env.IMAGE.getByName(name).get(place, job));
    if ("error" in answer) {
      const { kind, message, param } = answer.error;
      throw new MediaError(kind, message, { param });
    }
    const { entry, found, bytes } = answer;
    if (bytes) recent.put(name, { entry, bytes });
    return {
      ...{ entry, found },
      async body() {
        if (bytes) return bytes;
        const stored = await mediaStorage(env).read(entry.key);
        if (!stored) throw errors.imageReplaced();
        if (entry.size > RECENT_BYTES.each) return stored.body;
        const read = await readAll(stored.body);
        recent.put(name, { entry, bytes: read });
        return read;
      },
    };
  };
}
