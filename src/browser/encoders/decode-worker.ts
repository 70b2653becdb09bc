import { decodePicture } from "../../encoders/images/decode-picture.ts";
import { blobOf } from "../../storage/readers.ts";
import { serveIsolated } from "./isolated-encoder.ts";

// Decoding is the other half of an encode, with the same needs: a worker that can be terminated.
serveIsolated({
  encode: async ({ input, source, signal }) => [await decodePicture(await blobOf(input, signal), source)],
});
