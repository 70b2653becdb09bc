import { runOf } from "../../src/runs/steps/media-keys.ts";
import type { Uploads } from "./uploads.ts";

/** Remembers the open uploads of a run, so that none outlives it. */
export interface UploadNotes {
  note(run_id: string, key: string, upload: string): Promise<void>;
  forget(run_id: string, upload: string): Promise<void>;
}

/** Notes every upload that begins with the run whose folder it goes to, until it is completed or dropped. */
export function noteUploads(uploads: Uploads, notes: UploadNotes): Uploads {
  return {
    put: uploads.put,
    async begin(key, mime) {
      const upload = await uploads.begin(key, mime);
      await notes.note(runOf(key), key, upload);
      return upload;
    },
    resume(key, id) {
      const upload = uploads.resume(key, id);
      return {
        part: upload.part,
        async complete(parts) {
          const info = await upload.complete(parts);
          await notes.forget(runOf(key), id);
          return info;
        },
        async abort() {
          await upload.abort();
          await notes.forget(runOf(key), id);
        },
      };
    },
  };
}
