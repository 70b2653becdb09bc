import { type Box, findBox, listBoxes } from "../isobmff/boxes.ts";

/** The items of an AVIF or HEIC (ISO/IEC 23008-12), as its box `meta` lists them. */
export interface HeifItems {
  view: DataView;
  brands: string;
  /** The content of `meta`, after its version and flags. */
  meta: Box;
  /** All properties, of which items name theirs by their place from 1 on. */
  properties: readonly Box[];
  /** Id of the picture that viewers show; null where the file does not say. */
  primary: number | null;
  /** Returns the properties of an item, in its order; none where the file does not say. */
  propertiesOf(item: number): Box[];
}

/** Reads the items of an AVIF or HEIC; null for anything else. Throws a RangeError where the view ends too early. */
export function readItems(view: DataView): HeifItems | null {
  if (text(view, 4, 4) !== "ftyp") return null;
  const brands = text(view, 8, Math.min(view.getUint32(0), view.byteLength) - 8);
  if (!/avif|avis|heic|heix|heim|heis|hevc|hevx|mif1|msf1/.test(brands)) return null;
  const full = findBox(view, { kind: "file", start: 0, end: view.byteLength }, "meta");
  // The missing part may say which picture is the primary.
  if (!full || full.start - 8 + view.getUint32(full.start - 8) > view.byteLength) return null;
  const meta = { ...full, start: full.start + 4 };
  const iprp = findBox(view, meta, "iprp");
  const ipco = iprp && findBox(view, iprp, "ipco");
  if (!ipco) return null;
  const properties = listBoxes(view, ipco.start, ipco.end);
  const places = placesOf(view, iprp);
  const pitm = findBox(view, meta, "pitm");
  return {
    ...{ view, brands, meta, properties },
    primary: pitm && readId(view, pitm.start + 4, view.getUint8(pitm.start) > 0),
    propertiesOf: (item) => (places.get(item) ?? []).flatMap((place) => properties[place - 1] ?? []),
  };
}

/** Reads the id of an item, of 32 bits or 16. */
export function readId(view: DataView, at: number, wide: boolean): number {
  return wide ? view.getUint32(at) : view.getUint16(at);
}

/** Reads bytes as Latin-1. Throws a RangeError where the view ends too early. */
export function text(view: DataView, offset: number, length: number): string {
  let letters = "";
  for (let at = offset; at < offset + length; at++) letters += String.fromCharCode(view.getUint8(at));
  return letters;
}

function placesOf(view: DataView, iprp: Box): ReadonlyMap<number, readonly number[]> {
  const places = new Map<number, readonly number[]>();
  const ipma = findBox(view, iprp, "ipma");
  if (!ipma) return places;
  const wideIds = view.getUint8(ipma.start) > 0;
  const wide = (view.getUint8(ipma.start + 3) & 1) === 1;
  let at = ipma.start + 8;
  for (let left = view.getUint32(ipma.start + 4); left > 0 && at < ipma.end; left--) {
    const item = readId(view, at, wideIds);
    at += wideIds ? 4 : 2;
    const count = view.getUint8(at++);
    // The highest bit says whether a property is essential.
    const own = Array.from({ length: count }, (_, index) =>
      wide ? view.getUint16(at + 2 * index) & 0x7fff : view.getUint8(at + index) & 0x7f,
    );
    if (!places.has(item)) places.set(item, own);
    at += wide ? 2 * count : count;
  }
  return places;
}
