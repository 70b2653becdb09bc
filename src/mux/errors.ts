import { MediaError } from "../media/errors.ts";

const misfit = (why: string, cause?: unknown) =>
  new MediaError("encode_failed", `The encoded parts could not be joined: ${why}.`, { cause });

/** The errors of joining and editing files, each built from its facts. */
export const errors = {
  noPictures: () => misfit("there are no pictures"),
  soundMissing: () => misfit("the sound is missing"),
  encodingsDiffer: () => misfit("two stretches were encoded in different ways"),
  partsOverlap: () => misfit("two stretches overlap"),
  sourcesUnjoinable: () => misfit("their pictures cannot be joined"),
  sourcesOverlap: () => misfit("two parts overlap"),
  partsDamaged: ({ cause }: { cause?: unknown } = {}) => misfit("they are damaged", cause),
  sizeDiffers: ({ written, size }: { written: number; size: number }) =>
    misfit(`${written} bytes were written instead of ${size}`),
  indexMissing: () => misfit("the index is missing"),
  indexDamaged: () => misfit("the index is damaged"),
  headersDamaged: () => misfit("the headers are damaged"),
  fileDamaged: () => misfit("it is damaged"),
  clusterUntimed: () => misfit("a cluster has no time"),
  commentsNotEdited: () =>
    new MediaError("encode_failed", "The cover and tags could not be added to the encoded file."),
  /** For a copy, whose part is the source itself. */
  sourceDamaged: ({ cause }: { cause: unknown }) =>
    new MediaError("input_unsupported", "The input cannot be read to its end: it is damaged or cut off.", {
      cause,
    }),
};
