import type { ErrorReason } from "../media/error-reason.ts";
import { MediaError } from "../media/errors.ts";

const unsupported = (message: string) => new MediaError("input_unsupported", message);

/** The layouts of a TIFF that ffmpeg misreads. */
export type TiffLayout = Extract<ErrorReason, { code: "tiff_layout" }>["layout"];

const TIFF_LAYOUTS = {
  samples: "samples that are signed, floating-point or of more than 16 bits, which are not supported",
  compression: "its pixels compressed in a way that is not supported, such as JPEG or Zstandard",
  colors:
    "colors other than gray, RGB, YCbCr, CMYK or a palette, such as CIE L*a*b*, which are not supported",
  tiles: "its pixels in tiles, which are not supported",
  cmyk: "planar or 16-bit CMYK, which is not supported",
  extra_samples:
    "extra samples that are not transparency of gray, RGB or CMYK, such as infrared, which are not supported",
  bit_order: "the bits of its bytes in reverse order (FillOrder 2), which is not supported",
} as const satisfies Record<TiffLayout, string>;

/** The change midway in a transport stream. */
export type ProgramChange = Extract<ErrorReason, { code: "program_changes" }>["change"];

const PROGRAM_CHANGES = {
  streams: "continues in other streams than it starts with",
  types: "changes the type of a stream midway",
} as const satisfies Record<ProgramChange, string>;

export const empty = () => unsupported("The file is empty.");
export const noMedia = () => unsupported("The file contains no media.");
export const gzip = () => unsupported("The file is compressed with gzip, as an SVGZ is; unpack it first.");
export const jpegXl = () =>
  unsupported("The file is a JPEG XL picture, which is not supported; save it otherwise.");
export const jpegCoding = ({ coding }: { coding: "arithmetic" | "hierarchical" }) =>
  unsupported(
    `The file is a JPEG with ${coding === "arithmetic" ? "arithmetic coding" : "hierarchical frames"}, which is not supported; save it as an ordinary JPEG.`,
  );
export const bigTiff = () =>
  unsupported("The file is a BigTIFF, which is not supported; save it as an ordinary TIFF.");
export const webPage = () => unsupported("This is a web page, not a media file.");
export const playlist = () =>
  new MediaError("input_unsupported", "The file is a playlist; pass the media itself.", {
    reason: { code: "playlist" },
  });
export const text = () => unsupported("The file is text, not media.");

export const notProbed = ({ cause }: { cause: unknown }) =>
  new MediaError("probe_failed", "The file could not be probed.", { cause });
export const editRate = () =>
  unsupported("The file's edit list plays a part faster or slower, or freezes it; that is not supported.");
export const editGap = () =>
  unsupported("The file's edit list leaves a gap between two parts; that is not supported.");
export const editEmpty = () =>
  unsupported("The file's edit list shows nothing: it states a length of 0; that is not supported.");
export const chainedOpus = () =>
  unsupported(
    "The file consists of several Opus recordings with the same serial number, so programs play their headers as sound; convert each recording separately.",
  );
export const ticksUnknown = () =>
  unsupported(
    "The file has a timescale of 0, so its times cannot be converted to seconds; that is not supported.",
  );
export const timesBeforeZero = ({ seconds }: { seconds: number }) =>
  unsupported(
    `The file has pictures or sound up to ${seconds} s before time 0, where programs disagree on the times; remux it so that its times start at 0.`,
  );
export const encrypted = () =>
  unsupported("The file is encrypted, and its key is not in it; decrypt it first.");
export const codecChanges = () => unsupported("The codec of a track changes midway; that is not supported.");
export const programChanges = ({ change }: { change: ProgramChange }) =>
  new MediaError(
    "input_unsupported",
    `The transport stream ${PROGRAM_CHANGES[change]}, as when several recordings are joined; convert each recording separately.`,
    { reason: { code: "program_changes", change } },
  );
export const nothingLeft = () => unsupported("The file is cut off within its first pictures or sound.");
export const emptyStreams = () => unsupported("The file's streams are empty.");
export const indexMissing = () =>
  unsupported("The file is incomplete; its index (moov) is missing or cut off.");
export const indexCutOff = ({ bytes, minBytes }: { bytes: number; minBytes: number }) =>
  unsupported(
    `The file is incomplete; its index (moov) is missing or cut off: it has ${bytes} bytes and should have more than ${minBytes}.`,
  );
export const largeList = ({ bytes, maxBytes }: { bytes: number; maxBytes: number }) =>
  unsupported(
    `The file's tracks, tags and chapters take ${bytes} bytes to list; at most ${maxBytes} are supported.`,
  );
export const sizeOutOfBounds = ({ width, height, max }: { width: number; height: number; max: number }) =>
  unsupported(`The pictures are ${width}x${height} pixels; each side must be from 1 to ${max}.`);
export const tooManyPixels = ({ width, height }: { width: number; height: number }) =>
  unsupported(
    `The pictures are ${width}x${height} pixels, which is too many to decode; at most about 264 million pixels are supported.`,
  );
export const excessPngData = () =>
  unsupported(
    "The PNG has far more compressed data than a picture of its size can need; files that are made to exhaust decoders look like this.",
  );
export const tiffLayout = ({ layout }: { layout: TiffLayout }) =>
  new MediaError("input_unsupported", `The TIFF stores ${TIFF_LAYOUTS[layout]}; save it otherwise.`, {
    reason: { code: "tiff_layout", layout },
  });

export const largeIcon = () =>
  new MediaError(
    "input_too_large",
    "The icon is too large: with bitmaps, it may have 16 MiB, and 24 MiB once their masks are transparency.",
    { retryable: false },
  );
export const largeSvg = () =>
  new MediaError("input_too_large", "The SVG is larger than 8 MiB.", { retryable: false });
export const svgCutOff = () => unsupported("The SVG is damaged or cut off.");
export const svgCostly = () =>
  unsupported("The SVG has so many parts, or repeats them so often, that drawing it could take forever.");
export const svgMisencoded = () =>
  unsupported("The SVG is not text in the encoding that it declares, or in UTF-8 if it declares none.");
export const svgExpanded = () => unsupported("The entities of the SVG make it too large.");
export const svgEntities = () =>
  unsupported("The SVG has entities that stand for more than text; save it without them.");
