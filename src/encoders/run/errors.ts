import { MediaError } from "../../media/errors.ts";

interface Named {
  name: string;
}

const seconds = (value: number) => Number(value.toFixed(3));

const streamIncomplete = (reason: string) =>
  new MediaError("encode_failed", `The encoded stream is incomplete: ${reason}.`);

export const nothingToEncode = () => new MediaError("internal_error", "The plan has nothing to encode.");
export const contentKeyMissing = () =>
  new MediaError("encode_failed", "The key of the encryption is missing.");
export const maxBytesTooSmall = ({ maxBytes, leastBytes }: { maxBytes: number; leastBytes: number }) =>
  new MediaError(
    "invalid_options",
    `options.max_bytes (${maxBytes}) is too small for this picture; at its lowest quality and size it takes ${leastBytes}.`,
    {
      param: "options.max_bytes",
      reason: { code: "bytes_too_few", max_bytes: maxBytes, least_bytes: leastBytes },
    },
  );

export const emptyFile = ({ encoder }: { encoder: string }) =>
  new MediaError("encode_failed", `The ${encoder} encoder returned an empty file.`);
export const noFiles = () => new MediaError("encode_failed", "The encoder returned no files.");
export const severalFiles = () => new MediaError("encode_failed", "The encoder returned more than one file.");
export const unexpectedStream = () =>
  new MediaError("encode_failed", "The encoder returned a stream instead of files.");
export const storedFileDiffers = () =>
  new MediaError("encode_failed", "The stored file differs from what the encoder reported.");

export const incomplete = ({
  pictures,
  expectedPictures,
  firstAt,
  sound,
  expectedSound,
}: {
  /** Missing pictures. */
  pictures: number;
  expectedPictures: number;
  /** Time of the first missing picture in seconds; null when unknown. */
  firstAt: number | null;
  /** Missing sound in seconds. */
  sound: number;
  expectedSound: number;
}) => {
  const first = firstAt === null ? "" : `, the first at ${seconds(firstAt)} s`;
  const parts = [
    ...(pictures > 0 ? [`${pictures} of ${expectedPictures} pictures are missing${first}`] : []),
    ...(sound > 0 ? [`${seconds(sound)} of ${seconds(expectedSound)} s of sound are missing`] : []),
  ];
  return new MediaError("encode_incomplete", `The encode is incomplete: ${parts.join("; ")}.`);
};
export const soundTooLong = ({ excess }: { excess: number }) =>
  new MediaError(
    "encode_failed",
    `The sound of the output is ${seconds(excess)} s too long: that of the input may change its channels or sample rate midway.`,
  );
export const picturesMissing = ({
  of,
  missing,
  count,
}: {
  of: "sheets" | "stills";
  missing: number;
  count: number;
}) =>
  new MediaError("encode_incomplete", `The encode is incomplete: ${missing} of ${count} ${of} are missing.`);

export const leadUnknown = ({ name }: Named) =>
  streamIncomplete(`the first picture of ${name} was not found`);
export const renditionsMissing = ({ chunk }: { chunk: number }) =>
  streamIncomplete(`chunk ${chunk} lacks some of its renditions`);
export const streamMissing = ({ name }: Named) => streamIncomplete(`there is nothing of ${name}`);
export const initMissing = ({ chunk, playlist }: { chunk: number; playlist: string }) =>
  streamIncomplete(`chunk ${chunk} names no init segment in ${playlist}`);
export const segmentMissing = ({ name }: Named) => streamIncomplete(`${name} is missing`);
export const segmentUnlisted = ({ name }: Named) => streamIncomplete(`${name} is in no playlist`);
export const segmentRepeated = ({ name }: Named) => streamIncomplete(`${name} is listed twice`);
export const codecUnknown = ({ name }: Named) => streamIncomplete(`the codec of ${name} is unknown`);
