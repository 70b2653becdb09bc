import { createMemoryStorage } from "../../../src/storage/memory.ts";
import type { Connections } from "../../../worker/connections/connections.ts";
import { createPageUploads, type PageUploads } from "../../../worker/media/page-uploads.ts";
import { createPartSigner } from "../../../worker/media/signed-urls.ts";
import { createManagedPlace, createS3Place } from "../../../worker/media/upload-places.ts";
import type { UploadEntry, UploadedPart, UploadHome } from "../../../worker/media/uploads.ts";
import type { Outside } from "../../../worker/network/outside.ts";
import { createMemoryUploads } from "./memory-uploads.ts";

/** Stores uploads of pages in memory. */
export function createMemoryPageUploads(connections: Connections, outside: Outside): PageUploads {
  const storage = createMemoryStorage();
  const uploads = createMemoryUploads(storage);
  const signer = createPartSigner(["a secret"], Date.now);
  const homes = new Map<string, UploadHome>();
  const home = (id: string) => {
    const upload = homes.get(id) ?? createMemoryHome();
    homes.set(id, upload);
    return upload;
  };
  return createPageUploads({
    home,
    uploads,
    signer,
    max_bytes: 5e9,
    keep_seconds: 3600,
    now: Date.now,
    store: async () => {},
    place: ({ project, upload: { connection_id } }) =>
      connection_id === null
        ? createManagedPlace({ uploads, media: storage, signer, home })
        : createS3Place(() => connections.open(project, connection_id), outside, Date.now),
  });
}

function createMemoryHome(): UploadHome {
  let entry: UploadEntry | null = null;
  const parts = new Map<number, UploadedPart>();
  return {
    create: async (created) => {
      entry = created;
    },
    get: async () => entry,
    async notePart(part, etag) {
      parts.set(part, { part, etag });
      return entry?.upload.status === "waiting";
    },
    parts: async () => [...parts.values()].toSorted((a, b) => a.part - b.part),
    async store(etag, expires_at) {
      if (entry) entry = { ...entry, upload: { ...entry.upload, status: "stored", etag, expires_at } };
      return entry;
    },
    async remove() {
      const removed = entry;
      entry = null;
      return removed;
    },
  };
}
