import { MediaError } from "../../core/errors.ts";
import type { ByteReader } from "../../core/ports.ts";
import type { Source } from "../../core/source.ts";
import { unsupported } from "../sniff.ts";
import { svgCost } from "./svg-cost.ts";
import { findSvgRoot, type SvgRoot, svgSize } from "./svg-root.ts";
import { unescaped } from "./svg-tags.ts";

const MOST_BYTES = 8_388_608;
// Elements that a browser draws in a second or two.
const MOST_COST = 500_000;
// Pictures in pictures.
const MOST_PICTURES_DEEP = 3;
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
  if (costOf(text, root) > MOST_COST) {
    throw unsupported(
      "The SVG has so many parts, or repeats them so often, that drawing it could take forever.",
    );
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

function costOf(text: string, { start }: SvgRoot, depth = 0): number {
  // Style sheets in data URLs.
  if (/data:/i.test(text.slice(0, start))) return Number.POSITIVE_INFINITY;
  const whole = expandEntities(text, start);
  return svgCost(whole, whole.lastIndexOf("<", start), (url) => costOfPicture(url, depth + 1));
}

// An SVG may be a picture in another; any other text in a data URL may hold one.
function costOfPicture(url: string, depth: number): number {
  const [, type = "", data = ""] = /^([^,]*),([\s\S]*)$/.exec(url) ?? [];
  if (depth > MOST_PICTURES_DEEP || !/^data:\s*image\/svg/i.test(type)) return Number.POSITIVE_INFINITY;
  const text = /;\s*base64\s*$/i.test(type) ? decodeBase64(unescaped(data)) : unescaped(data);
  const root = findSvgRoot(text);
  return root ? costOf(text, root, depth) : Number.POSITIVE_INFINITY;
}

function decodeBase64(data: string): string {
  const [letters = ""] = /^[\w+/\s]*/.exec(data) ?? [];
  const plain = letters.replace(/[\s_]/g, "");
  // One letter more than whole bytes is none.
  const bytes = atob(plain.length % 4 === 1 ? plain.slice(0, -1) : plain);
  return new TextDecoder().decode(Uint8Array.from(bytes, (letter) => letter.charCodeAt(0)));
}

const ENTITY = /<!ENTITY\s+(%\s*)?([^\s"'<>%&;]+)\s+(?:"([^"]*)"|'([^']*)'|\w+)/g;
// What a document type may add to tags are namespaces.
const NAMESPACE = /\bxmlns(?::[\w.-]+)?\s+CDATA\s+(?:#FIXED\s+)?(?:"[^"]*"|'[^']*')/g;

// Programs that draw SVGs write plain ones, for namespaces; others contain each other, or a file.
function expandEntities(text: string, start: number): string {
  const prolog = text.slice(0, start);
  const values = new Map<string, string>();
  for (const [, parameter, name = "", double, single] of prolog.matchAll(ENTITY)) {
    const value = double ?? single;
    if (parameter || value === undefined || /[&<%"']/.test(value) || values.has(name)) throw entities();
    values.set(name, value);
  }
  const added = prolog.includes("<!ATTLIST") && /["']/.test(declared(prolog).replace(NAMESPACE, ""));
  if (added || prolog.split("<!ENTITY").length - 1 !== values.size) throw entities();
  if (values.size === 0) return text;
  let expanded = 0;
  const body = text.slice(start).replace(/&([^\s&;<]+);/g, (reference, name: string) => {
    const value = values.get(name);
    expanded += value?.length ?? 0;
    if (expanded > MOST_EXPANDED) throw unsupported("The entities of the SVG make it too large.");
    return value ?? reference;
  });
  return prolog + body;
}

function declared(prolog: string): string {
  return prolog.slice(prolog.indexOf("<!ATTLIST")).replace(ENTITY, "");
}

function entities(): MediaError {
  return unsupported("The SVG has entities that stand for more than text; save it without them.");
}
