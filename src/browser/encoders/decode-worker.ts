import { decodePicture } from "../../encoders/images/decode-picture.ts";
import { blobOf } from "../../storage/readers.ts";
import { serveIsolated } from "./isolated-encoder.ts";

serveIsolated({
  encode: async ({ input, source, signal }) => [await decodePicture(await blobOf(input, signal), source)],
});
