import { MediaError } from "../media/errors.ts";

const misfit = (why: string, cause?: unknown) =>
  new MediaError("encode_failed", `The encoded parts could not be joined: ${why}.`, { cause });

export const noPictures = () => misfit("there are no pictures");
export const soundMissing = () => misfit("the sound is missing");
export const encodingsDiffer = () => misfit("two chunks were encoded in different ways");
export const partsOverlap = () => misfit("two chunks overlap");
export const sourcesUnjoinable = () => misfit("their pictures cannot be joined");
export const sourcesOverlap = () => misfit("two parts overlap");
export const partsDamaged = ({ cause }: { cause?: unknown } = {}) => misfit("they are damaged", cause);
export const sizeDiffers = ({ written, size }: { written: number; size: number }) =>
  misfit(`${written} bytes were written instead of ${size}`);
export const indexMissing = () => misfit("the index is missing");
export const indexDamaged = () => misfit("the index is damaged");
export const headersDamaged = () => misfit("the headers are damaged");
export const fileDamaged = () => misfit("it is damaged");
export const clusterUntimed = () => misfit("a cluster has no time");
export const commentsNotEdited = () =>
  new MediaError("encode_failed", "The cover and tags could not be added to the encoded file.");
/** The error of a copy that cannot read its source. */
export const sourceDamaged = ({ cause }: { cause: unknown }) =>
  new MediaError("input_unsupported", "The input cannot be read to its end: it is damaged or cut off.", {
    cause,
  });
