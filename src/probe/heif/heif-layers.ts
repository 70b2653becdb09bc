import { findBox, listBoxes } from "../isobmff/boxes.ts";
import { type HeifItems, readId, readItems, text } from "./heif-items.ts";
import { type CleanPart, cleanPart } from "./heif-part.ts";

/** What a picture in HEIF consists of, for decoders that do not put it together as viewers must. */
export interface HeifLayers {
  /** The visible part, where it is not the whole. */
  part: CleanPart | null;
  /** Whether the colors are stored multiplied by the transparency. */
  premultiplied: boolean;
  /** The same file in which the picture lacks its transparency, and one whose picture is the transparency alone, in gray; null without. */
  apart: { colors: Uint8Array<ArrayBuffer>; alpha: Uint8Array<ArrayBuffer> } | null;
}

const ALPHA = /^urn:mpeg:(mpegB:cicp:systems:auxiliary:alpha|hevc:2015:auxid:1)\0/;

/** Returns whether the colors of the picture that viewers show are stored multiplied by its transparency. */
export function isPremultiplied(items: HeifItems): boolean {
  return linksOf(items).some(({ kind, from }) => kind === "prem" && from === items.primary);
}

/** Reads the layers of the picture that viewers show; null when the file is no AVIF or HEIC, or is damaged. */
export function readLayers(file: Uint8Array): HeifLayers | null {
  try {
    const items = readItems(new DataView(file.buffer, file.byteOffset, file.byteLength));
    if (!items || items.primary === null) return null;
    const { view, primary } = items;
    const links = linksOf(items);
    const alpha = links.find(
      ({ kind, from, to }) => kind === "auxl" && to.includes(primary) && hasAlphaType(items, from),
    );
    return {
      part: cleanPart(view, items.propertiesOf(primary)),
      premultiplied: isPremultiplied(items),
      apart: alpha ? takeApart(file, items, links, alpha.from) : null,
    };
  } catch (thrown) {
    if (thrown instanceof RangeError) return null;
    throw thrown;
  }
}

/** Returns whether one of a file's pictures is transparency. */
export function hasAlphaLayer({ view, properties }: Pick<HeifItems, "view" | "properties">): boolean {
  return properties.some(
    ({ kind, start, end }) => kind === "auxC" && ALPHA.test(text(view, start + 4, end - start - 4)),
  );
}

function hasAlphaType({ view, propertiesOf }: HeifItems, item: number): boolean {
  return hasAlphaLayer({ view, properties: propertiesOf(item) });
}

/** A reference between items, and where its type stands in the file. */
interface Link {
  kind: string;
  at: number;
  from: number;
  to: readonly number[];
}

function linksOf({ view, meta }: HeifItems): Link[] {
  const iref = findBox(view, meta, "iref");
  if (!iref) return [];
  const wide = view.getUint8(iref.start) > 0;
  const bytes = wide ? 4 : 2;
  return listBoxes(view, iref.start + 4, iref.end).map(({ kind, start }) => ({
    kind,
    at: start - 4,
    from: readId(view, start, wide),
    to: Array.from({ length: view.getUint16(start + bytes) }, (_, index) =>
      readId(view, start + bytes + 2 + index * bytes, wide),
    ),
  }));
}

// Readers skip references of a type that they do not know.
const UNKNOWN = new TextEncoder().encode("none");

function takeApart(
  file: Uint8Array,
  { view, meta, primary }: HeifItems,
  links: readonly Link[],
  alpha: number,
): HeifLayers["apart"] {
  const pitm = findBox(view, meta, "pitm");
  if (!pitm) return null;
  const colors = Uint8Array.from(file);
  for (const { kind, at, from, to } of links) {
    const binds = kind === "auxl" ? from === alpha && to.includes(primary ?? 0) : kind === "prem";
    if (binds) colors.set(UNKNOWN, at);
  }
  const gray = Uint8Array.from(colors);
  const place = new DataView(gray.buffer);
  if (view.getUint8(pitm.start) > 0) place.setUint32(pitm.start + 4, alpha);
  else place.setUint16(pitm.start + 4, alpha);
  return { colors, alpha: gray };
}
