import { MediaError } from "../../core/errors.ts";
import type { ByteReader } from "../../core/ports.ts";
import type { Source } from "../../core/source.ts";
import { unsupported } from "../sniff.ts";
import { svgCost } from "./svg-cost.ts";
import { findSvgRoot, svgSize } from "./svg-root.ts";

const MOST_BYTES = 8_388_608;
// Elements that a browser draws in a second or two.
const MOST_COST = 500_000;
// Letters that the entities of a text become.
const MOST_EXPANDED = 1_000_000;

/**
 * Describes an SVG by its root. Throws `input_too_large` for one of more than 8 MiB, and `input_unsupported` for one that a browser
 * could draw forever or that its entities blow up, so that nothing draws it.
 */
export async function probeSvg(reader: ByteReader, url: string, signal: AbortSignal): Promise<Source> {
  if (reader.size > MOST_BYTES) {
    throw new MediaError("input_too_large", "The SVG is larger than 8 MiB.", { retryable: false });
  }
  const text = decode(await reader.read({ start: 0, end: reader.size }, signal));
  const root = findSvgRoot(text);
  if (!root) throw unsupported("The SVG is damaged or cut off.");
  checkEntities(text, root.start);
  if (svgCost(text, root.start - 1) > MOST_COST) {
    throw unsupported("The SVG repeats its parts so often that drawing it could take forever.");
  }
  const size = svgSize(root);
  const width = Math.max(1, Math.round(size.width));
  const height = Math.max(1, Math.round(size.height));
  return {
    object: "source",
    url,
    kind: "image",
    format: "svg",
    mime: "image/svg+xml",
    filesize: reader.size,
    ...{ width, height, coded_width: width, coded_height: height },
    sample_aspect_ratio: "1:1",
    rotation: 0,
    has_alpha: true,
    animated: false,
    codecs: { video: "svg", audio: null },
    streams: [{ index: 0, kind: "video", codec: "svg" }],
  };
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw unsupported("The SVG is not in UTF-8.");
  }
}

const ENTITY = /<!ENTITY\s+(%\s*)?([\w:.-]+)\s+(?:"([^"]*)"|'([^']*)'|\w+)/g;

// Programs that draw SVGs write plain ones, for namespaces; others contain each other, or a file.
function checkEntities(text: string, start: number): void {
  let expanded = 0;
  for (const [, parameter, name = "", double, single] of text.slice(0, start).matchAll(ENTITY)) {
    const value = double ?? single;
    if (parameter || value === undefined || /[&<%]/.test(value)) {
      throw unsupported("The SVG has entities that stand for more than text; save it without them.");
    }
    expanded += (text.split(`&${name};`).length - 1) * value.length;
    if (expanded > MOST_EXPANDED) throw unsupported("The entities of the SVG make it too large.");
  }
}
