import type { Upload, UploadCompletion, UploadRequest } from "../../src/core/upload.ts";

/** Requests for uploads. */
export const UPLOAD_REQUESTS: Record<string, UploadRequest> = {
  managed: { size: 3_120_400, content_type: "video/mp4", name: "clip.mp4" },
  own_bucket: {
    ...{ size: 3_120_400, content_type: "video/mp4" },
    ...{ output: "s3://my-bucket/films/clip.mp4", seconds: 600 },
  },
};

const ID = "upload_01kaggm8q0fzr2n5v3x7c1d9jb";
const url = (part: number, size: number) =>
  `https://api.example/uploads/${ID}/parts/${part}?size=${size}&expires=1795253400&signature=…`;

/** An upload that waits for its file. */
export const UPLOAD: Upload = {
  id: ID,
  object: "upload",
  status: "waiting",
  name: "clip.mp4",
  size: 3_120_400,
  content_type: "video/mp4",
  url: `https://api.example/uploads/${ID}/clip.mp4`,
  output: null,
  connection_id: null,
  parts: [{ part: 1, size: 3_120_400, url: url(1, 3_120_400), headers: { "content-type": "video/mp4" } }],
  etag: null,
  created_at: 1_795_167_000_000,
  expires_at: 1_795_253_400_000,
};

/** An upload of a longer file. */
export const UPLOAD_IN_PARTS: Upload = {
  ...UPLOAD,
  size: 20_000_000,
  parts: [
    { part: 1, size: 16_777_216, url: url(1, 16_777_216), headers: {} },
    { part: 2, size: 3_222_784, url: url(2, 3_222_784), headers: {} },
  ],
};

/** An upload whose file is there. */
export const UPLOAD_STORED: Upload = {
  ...UPLOAD,
  status: "stored",
  parts: [],
  etag: "8d0439b29743e08478cc38663e2bb0f1-1",
  expires_at: 1_795_771_900_000,
};

/** What the parts were answered with. */
export const UPLOAD_COMPLETIONS: Record<string, UploadCompletion> = {
  with_etags: { parts: [{ part: 1, etag: "8d0439b29743e08478cc38663e2bb0f1" }] },
  ask_the_storage: {},
};
