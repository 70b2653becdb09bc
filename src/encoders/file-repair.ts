import { containerOf } from "../media/containers.ts";
import { losesProfile } from "../media/features/color-profile.ts";
import type { Plan } from "../media/plan.ts";
import type { Source } from "../media/source.ts";
import { blockBytes, dataStart, GIF, headerBytes, MAX_GIF, usedColors } from "../probe/gif.ts";
import { isIcon, repairIcon } from "../probe/icon.ts";
import { maxPngData } from "../probe/picture-header.ts";
import type { ByteRange } from "../runs/ports.ts";
import { bytesOf, latinText, MIB, sevenBits, viewOf } from "../util/bytes.ts";
import { createPagedFile, type SyncFile } from "./wasm/core-files.ts";

/** Replaces single bytes of a file that is read from start to end. */
export interface Repair {
  /** Returns the repaired bytes of the part of the file that starts at `start`. */
  apply(bytes: Uint8Array, start: number): Uint8Array;
}

/** A repaired file that replaces the original as a whole. */
export interface NewFile {
  file: Uint8Array;
}

/** The facts that decide how a file is repaired. */
export interface Repairable {
  format: string;
  /** Whether ffmpeg passes the file's color profile on to the output. */
  passesProfile: boolean;
}

/** Returns the facts that decide how a plan's source is repaired. */
export function repairableOf(source: Source, plan: Plan): Repairable {
  const { kind, color_profile: profile } = source;
  const passesProfile = profile !== undefined && !profile.to_srgb && !losesProfile(plan.format, source);
  return { format: kind === "image" || hasId3(source.format) ? source.format : "", passesProfile };
}

function hasId3(format: string): boolean {
  return containerOf({ format }).tags === "id3";
}

/**
 * Returns the repair that makes ffmpeg (5.1) read a PNG, GIF or icon as browsers do, or skip huge frames of an ID3 tag; null if the file
 * needs none. ffmpeg fails on a damaged color profile, expands compressed text and excess data of any size, fills the parts of a GIF that no
 * frame covers with the background color, and ignores the masks of icons. The generator yields the ranges of the file that it needs.
 */
export function* startRepair(
  { format, passesProfile }: Repairable,
  size: number,
): Generator<ByteRange, Repair | NewFile | null, Uint8Array> {
  if (ICON_FORMATS.has(format)) {
    const head = yield { start: 0, end: Math.min(size, PNG_HEAD) };
    if (isIcon(head)) {
      const icon = yield* repairIcon(size);
      return icon && { file: icon.bytes };
    }
    if (format !== "png") return null;
    const maxData = maxPngData(viewOf(head));
    return hideChunks(passesProfile ? TEXTS : TEXTS_AND_PROFILES, maxData ?? 0);
  }
  if (hasId3(format)) return yield* hideFrames(size);
  if (format !== "gif" || size < GIF_HEAD) return null;
  const head = viewOf(yield { start: 0, end: GIF_HEAD });
  const flags = head.getUint8(GIF_FLAGS);
  if (latinText(head, 0, 3) !== "GIF" || (flags & 0x80) === 0) return null;
  // GIF89a, 18: ffmpeg treats a background color beyond the end of the table as transparent.
  if ((flags & 7) < 7) return replaceBytes([[GIF_BACKGROUND, 255]]);
  if (size > MAX_GIF) return null;
  return replaceBytes(clearBackground(viewOf(yield { start: 0, end: size })));
}

/** Returns a file whose bytes are repaired as they are read. */
export function repairFile(file: SyncFile, repairable: Repairable): SyncFile {
  const { size, loadedBytes } = file;
  const starting = startRepair(repairable, size);
  let step = starting.next();
  while (!step.done) step = starting.next(file.read(step.value.start, step.value.end));
  const repair = step.value;
  if (!repair) return file;
  if ("file" in repair) return createPagedFile(repair.file.length, [{ start: 0, bytes: repair.file }]);
  return { size, loadedBytes, read: (start, end) => repair.apply(file.read(start, end), start) };
}

type Replacement = readonly [at: number, value: number];

function replaceBytes(replacements: readonly Replacement[]): Repair {
  return {
    apply(bytes, start) {
      const own = replacements.filter(([at]) => at >= start && at < start + bytes.length);
      if (own.length === 0) return bytes;
      const repaired = bytes.slice();
      for (const [at, value] of own) repaired[at - start] = value;
      return repaired;
    },
  };
}

// The Source of an icon has the format of a picture in it.
const ICON_FORMATS: ReadonlySet<string> = new Set(["png", "bmp"]);

const PNG_START = 8;
const PNG_HEAD = 33;
const CHUNK_HEADER = 8;
const TEXTS: ReadonlySet<string> = new Set(["zTXt"]);
const TEXTS_AND_PROFILES: ReadonlySet<string> = new Set([...TEXTS, "iCCP"]);

const HIDDEN = "x".charCodeAt(0);
const END = [..."IEND"].map((letter) => letter.charCodeAt(0));
// A crafted file may consist of millions of empty chunks; after so many, the picture ends.
const MAX_HIDDEN = 10_000;

// Decoders skip chunks with unknown names. `maxData` limits the data of one picture, which any number of chunks may hold.
function hideChunks(names: ReadonlySet<string>, maxData: number): Repair {
  const replacements: Replacement[] = [];
  const { apply } = replaceBytes(replacements);
  const header = new DataView(new ArrayBuffer(CHUNK_HEADER));
  let [chunk, filled, picture, frame] = [PNG_START, 0, 0, 0];
  return {
    apply(bytes, start) {
      for (let at = chunk + filled; at >= start && at < start + bytes.length; at = chunk + filled) {
        header.setUint8(filled++, bytes[at - start] as number);
        if (filled < CHUNK_HEADER) continue;
        const [length, name] = [header.getUint32(0), latinText(header, 4, 4)];
        if (name === "fcTL") frame = 0;
        if (name === "IDAT") picture += length;
        if (name === "fdAT") frame += length;
        const isExcess = name === "IDAT" ? picture > maxData : name === "fdAT" && frame > maxData;
        const isHidden = names.has(name) || isExcess;
        chunk += 12 + length;
        filled = 0;
        if (!isHidden) continue;
        // Letters in an earlier part of the file have been read already.
        const nameStart = at + 1 - END.length;
        const ends = replacements.length >= MAX_HIDDEN && nameStart >= start;
        if (ends) chunk = Number.POSITIVE_INFINITY;
        if (ends) replacements.push(...END.map((letter, index) => [nameStart + index, letter] as const));
        else replacements.push([at, HIDDEN]);
      }
      return apply(bytes, start);
    },
  };
}

const GIF_HEAD = 13;
const GIF_FLAGS = 10;
const GIF_BACKGROUND = 11;

// ffmpeg clears to transparent if the frame has a transparent color; declaring a color that the frame does not use changes nothing else.
function clearBackground(view: DataView): Replacement[] {
  const [width, height] = [view.getUint16(6, true), view.getUint16(8, true)];
  const replacements: Replacement[] = [];
  let control: number | null = null;
  let isFirst = true;
  try {
    for (let at = headerBytes(view); ; at += blockBytes(view, at)) {
      const kind = view.getUint8(at);
      if (kind === GIF.extension && view.getUint8(at + 1) === GIF.control) control = at;
      if (kind !== GIF.extension && kind !== GIF.image) return replacements;
      if (kind === GIF.extension) continue;
      const covers = [0, 0, width, height].every(
        (side, index) => view.getUint16(at + 1 + 2 * index, true) === side,
      );
      const flags = control === null ? 0 : view.getUint8(control + 3);
      const isCleared = ((flags >> 2) & 7) === GIF.background || (isFirst && !covers);
      if (control !== null && isCleared && (flags & GIF.transparent) === 0) {
        const unused = usedColors(view, dataStart(view, at)).indexOf(0);
        if (unused >= 0 && unused < 256)
          replacements.push([control + 3, flags | GIF.transparent], [control + 6, unused]);
      }
      [control, isFirst] = [null, false];
    }
  } catch (thrown) {
    if (thrown instanceof RangeError) return replacements;
    throw thrown;
  }
}

const ID3_HEAD = 10;
const ID3_FRAME = 14;
const ID3_READ = 65_536;
const ID3_EXTENDED = 0x40;
const ID3_FOOTER = 0x10;
const ID3_COMPRESSED = 0x08;
const MAX_ID3_TAGS = 100;
const MAX_ID3_FRAMES = 10_000;
// A native encoder reads from storage.
const MAX_ID3_READS = 1000;
// ffmpeg takes the seven-bit bytes of a length for eight-bit ones, so it reads a length of 2 MiB as 16 MiB.
const MAX_FRAME = 16 * MIB;
const MAX_FRAMES = 64 * MIB;

type Read = Generator<ByteRange, DataView, Uint8Array>;

// id3.org, ID3v2.4, 3 and 4: ffmpeg reads all tags at the start of a file, allocates the length that each compressed frame states, and skips
// frames with unknown names. Sound may follow the last frame at once.
function* hideFrames(size: number): Generator<ByteRange, Repair | null, Uint8Array> {
  let reads = 0;
  // The latest two parts, because a size may point far beyond the frames that follow.
  let parts: { start: number; view: DataView }[] = [];
  function* at(position: number, length: number): Read {
    const isIn = ({ start, view }: (typeof parts)[number]) =>
      position >= start && position + length <= start + view.byteLength;
    let part = parts.find(isIn);
    if (!part) {
      reads++;
      const end = Math.min(size, position + ID3_READ);
      part = { start: position, view: viewOf(yield { start: position, end }) };
    }
    parts = [part, ...parts.filter((each) => each !== part).slice(0, 1)];
    return new DataView(part.view.buffer, part.view.byteOffset + position - part.start, length);
  }
  const replacements: Replacement[] = [];
  const replace = (position: number, value: string) => replacements.push([position, value.charCodeAt(0)]);
  let [remaining, frames] = [MAX_FRAMES, 0];
  for (let tag = 0, tags = 0; tag + ID3_HEAD + ID3_FRAME <= size; tags++) {
    const head = yield* at(tag, ID3_FRAME);
    if (latinText(head, 0, 3) !== "ID3") break;
    if (tags === MAX_ID3_TAGS) {
      replace(tag, "X");
      break;
    }
    const [version, flags] = [head.getUint8(3), head.getUint8(5)];
    const end = Math.min(size, tag + ID3_HEAD + sevenBits(bytesOf(head), 6));
    const isExtended = (flags & ID3_EXTENDED) !== 0;
    const extension = isExtended ? sevenBits(bytesOf(head), ID3_HEAD) + (version === 4 ? 0 : 4) : 0;
    for (let frame = tag + ID3_HEAD + extension; version >= 3 && frame + ID3_FRAME <= end; ) {
      const own = yield* at(frame, ID3_FRAME);
      if (own.getUint8(0) === 0) break;
      if (frames === MAX_ID3_FRAMES || reads >= MAX_ID3_READS) {
        // A zero ends the frames of a tag.
        replace(frame, "\0");
        break;
      }
      frames++;
      const stated = own.getUint32(ID3_HEAD);
      if ((own.getUint8(9) & ID3_COMPRESSED) !== 0) {
        if (stated > Math.min(MAX_FRAME, remaining)) replace(frame, "X");
        else remaining -= stated;
      }
      const bytes = own.getUint32(4);
      const next = frame + ID3_HEAD;
      const sizes = version === 4 ? [sevenBits(bytesOf(own), 4), bytes] : [bytes];
      let [length = 0] = sizes;
      // Some programs write sizes of version 2.4 with eight bits a byte; ffmpeg takes the size that a frame follows.
      for (const each of sizes) {
        const isWithin = next + each + 4 <= size;
        if (!isWithin || !/^(\0{4}|[A-Z0-9]{4})$/.test(latinText(yield* at(next + each, 4), 0, 4))) continue;
        length = each;
        break;
      }
      frame = next + length;
    }
    tag = end + (version === 4 && (flags & ID3_FOOTER) !== 0 ? ID3_HEAD : 0);
  }
  return replacements.length > 0 ? replaceBytes(replacements) : null;
}
