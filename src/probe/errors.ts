import type { ErrorReason } from "../media/error-reason.ts";
import { MediaError } from "../media/errors.ts";

const unsupported = (message: string) => new MediaError("input_unsupported", message);

/** The layouts of a TIFF that ffmpeg misreads. */
export type TiffLayout = Extract<ErrorReason, { code: "tiff_layout" }>["layout"];

const TIFF_LAYOUTS = {
  tiles: "its pixels in tiles, which are not supported",
  cmyk: "CMYK in planes or in 16 bits, which is not supported",
  extra_samples: "samples beside its colors, such as infra-red, that are not transparency",
} as const satisfies Record<TiffLayout, string>;

/** The errors of probing: the kind and the English of each, with its facts as parameters. */
export const errors = {
  empty: () => unsupported("The file is empty."),
  noMedia: () => unsupported("The file contains no media."),
  gzip: () => unsupported("The file is compressed with gzip, as an SVGZ is; unpack it first."),
  webPage: () => unsupported("This is a web page, not a media file."),
  playlist: () =>
    new MediaError("input_unsupported", "The file is a playlist; pass the media itself.", {
      reason: { code: "playlist" },
    }),
  text: () => unsupported("The file is text, not media."),

  notProbed: ({ cause }: { cause: unknown }) =>
    new MediaError("probe_failed", "The file could not be probed.", { cause }),
  editRate: () =>
    unsupported("The file's edit list plays a part faster or slower, or freezes it; that is not supported."),
  editGap: () => unsupported("The file's edit list leaves a gap between two parts; that is not supported."),
  streamsTakenOver: () =>
    unsupported(
      "The transport stream ends in other streams than it starts with, as one joined from several recordings does; convert each recording.",
    ),
  emptyStreams: () => unsupported("The file's streams are empty."),
  indexMissing: () => unsupported("The file is incomplete; its index (moov) is missing or cut off."),
  indexCutOff: ({ bytes, minBytes }: { bytes: number; minBytes: number }) =>
    unsupported(
      `The file is incomplete; its index (moov) is missing or cut off: it has ${bytes} bytes and should have more than ${minBytes}.`,
    ),
  largeList: ({ bytes, maxBytes }: { bytes: number; maxBytes: number }) =>
    unsupported(
      `The file's tracks, tags and chapters take ${bytes} bytes to list; at most ${maxBytes} are supported.`,
    ),
  sizeOutOfBounds: ({ width, height, max }: { width: number; height: number; max: number }) =>
    unsupported(`The pictures are ${width}x${height} pixels; each side must be from 1 to ${max}.`),
  tiffLayout: ({ layout }: { layout: TiffLayout }) =>
    new MediaError("input_unsupported", `The TIFF stores ${TIFF_LAYOUTS[layout]}; save it otherwise.`, {
      reason: { code: "tiff_layout", layout },
    }),

  largeSvg: () => new MediaError("input_too_large", "The SVG is larger than 8 MiB.", { retryable: false }),
  svgCutOff: () => unsupported("The SVG is damaged or cut off."),
  svgCostly: () =>
    unsupported("The SVG has so many parts, or repeats them so often, that drawing it could take forever."),
  svgNotUtf8: () => unsupported("The SVG is not in UTF-8."),
  svgExpanded: () => unsupported("The entities of the SVG make it too large."),
  svgEntities: () => unsupported("The SVG has entities that stand for more than text; save it without them."),
};
