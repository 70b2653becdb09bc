import { CHAPTER_LIMITS, type FileChapter } from "../media/chapters.ts";
import { COVER_CODECS, MAX_TAG_TEXT, readTags } from "../media/tags.ts";
import type { ByteReader } from "../runs/ports.ts";
import { inflate, KIB, sevenBits, viewOf } from "../util/bytes.ts";
import { type FileStart, limitReader, memoryReader } from "./reader.ts";

export interface Id3 {
  tags: (readonly [name: string, value: string | readonly string[]])[];
  covers: Id3Cover[];
  chapters: FileChapter[];
}

interface OpenId3 extends Id3 {
  /** The number of frames that may still be read in all tags together. */
  remainingFrames: number;
}

export interface Id3Cover {
  mime: string;
  /** Whether ffmpeg reads the frame. */
  common: boolean;
  read(): Promise<Uint8Array>;
}

const HEADER = 10;
const MAX_TAGS = 16;
const MAX_FRAMES = 256 + CHAPTER_LIMITS.chapters;
const MAX_CHAPTER = 16_384;
const MAX_TEXT = 4 * MAX_TAG_TEXT;
const PICTURE_HEAD = 64;
const MAX_TAG = 4_194_304;
const TAG_FLAGS = { unsynchronised: 0x80, extended: 0x40, footer: 0x10 } as const;
const FRAME_FLAGS = { compressed: 0x08, unsynchronised: 0x02, length: 0x01 } as const;

/** Reads the ID3 tags (id3.org) of a file: version 2.2 to 2.4 at its start, otherwise version 1 at its end. */
export async function readId3(reader: ByteReader): Promise<Id3> {
  const id3: OpenId3 = { tags: [], covers: [], chapters: [], remainingFrames: MAX_FRAMES };
  let at = 0;
  for (let count = 0; count < MAX_TAGS; count++) {
    const head = await reader.read({ start: at, end: at + HEADER });
    if (head.length < HEADER || latin(head.subarray(0, 3)) !== "ID3") break;
    const [version = 0, flags = 0] = [head[3], head[5]];
    const end = Math.min(reader.size, at + HEADER + sevenBits(head, 6));
    const compressed = version === 2 && (flags & TAG_FLAGS.extended) !== 0;
    if (version >= 2 && version <= 4 && !compressed) {
      await readTag({ reader, start: at + HEADER, end, version, flags }, id3);
    }
    at = end + (version === 4 && (flags & TAG_FLAGS.footer) !== 0 ? HEADER : 0);
  }
  // A tag that states only its encoder leaves the description to the end of the file.
  if (!readTags(id3.tags).tags) {
    const ape = await readApe(reader);
    id3.tags.push(...(ape.length > 0 ? ape : await readVersion1(reader)));
  }
  const { tags, covers, chapters } = id3;
  return { tags: withDate(tags), covers, chapters };
}

const MAX_CHUNKS = 64;

/** Reads the texts of the ID3 tag in a chunk of a WAV or AIFF; none when there is no such chunk. */
export async function readChunkId3(reader: ByteReader): Promise<Id3["tags"]> {
  const range = await findChunk(reader, /^id3 $/i);
  if (!range || range.end - range.start > MAX_TAG) return [];
  return (await readId3(memoryReader([await reader.read(range)]))).tags;
}

const BROADCAST = { description: [0, 256], originator: [256, 288], date: [320, 330] } as const;

/** Reads the texts of a WAV's broadcast extension (tech.ebu.ch/docs/tech/tech3285.pdf); none when it has no such chunk. */
export async function readBroadcastTags(reader: ByteReader): Promise<(readonly [string, string])[]> {
  const range = await findChunk(reader, /^bext$/);
  if (!range) return [];
  const bytes = await reader.read({ ...range, end: Math.min(range.end, range.start + BROADCAST.date[1]) });
  const text = ([start, end]: readonly [number, number]) => asText(bytes.subarray(start, end));
  // The standard lets years, months and days be separated by any of these.
  const [, year = "", month, day] = /^(\d{4})[-_: .](\d\d)[-_: .](\d\d)$/.exec(text(BROADCAST.date)) ?? [];
  return [
    ["description", text(BROADCAST.description)],
    ["encoded_by", text(BROADCAST.originator)],
    ["date", Number(year) > 0 ? `${year}-${month}-${day}` : ""],
  ];
}

async function findChunk(
  reader: ByteReader,
  name: RegExp,
): Promise<{ start: number; end: number } | undefined> {
  const little = latin(await reader.read({ start: 0, end: 4 })) !== "FORM";
  for (let at = 12, count = 0; at + 8 <= reader.size && count < MAX_CHUNKS; count++) {
    const head = await reader.read({ start: at, end: at + 8 });
    const size = viewOf(head).getUint32(4, little);
    const start = at + 8;
    if (name.test(latin(head.subarray(0, 4)))) return { start, end: Math.min(reader.size, start + size) };
    at = start + size + (size % 2);
  }
  return undefined;
}

// Before version 2.4, the year and the day (0405 for May 4) are separate frames.
function withDate(tags: Id3["tags"]): Id3["tags"] {
  const [year, day] = [/^(TYER?)$/, /^(TDAT?)$/].map((name) => tags.find((tag) => name.test(tag[0])));
  if (!day) return tags;
  const rest = tags.filter((tag) => tag !== day && tag !== year);
  if (!year || !/^\d{4}$/.test(`${year[1]}`) || !/^\d{4}$/.test(`${day[1]}`))
    return year ? [...rest, year] : rest;
  return [["date", `${year[1]}-${`${day[1]}`.slice(2)}-${`${day[1]}`.slice(0, 2)}`], ...rest];
}

interface Tag {
  reader: ByteReader;
  start: number;
  end: number;
  version: number;
  flags: number;
}

async function readTag(tag: Tag, id3: OpenId3): Promise<void> {
  const { reader, version, flags } = tag;
  // Up to version 2.3, frame sizes do not count the inserted bytes.
  const whole = version < 4 && (flags & TAG_FLAGS.unsynchronised) !== 0;
  if (whole) {
    const end = Math.min(tag.end, tag.start + MAX_TAG);
    const frames = memoryReader([resynchronise(await reader.read({ start: tag.start, end }))]);
    await readFrames({ ...tag, reader: frames, start: 0, end: frames.size }, false, id3);
  } else {
    await readFrames(tag, true, id3);
  }
}

async function readFrames(tag: Tag, common: boolean, id3: OpenId3): Promise<void> {
  const { reader, end, version, flags } = tag;
  const [letters, header] = version === 2 ? [3, 6] : [4, 10];
  let at = tag.start + (await extendedBytes(tag));
  while (at + header < end && id3.remainingFrames-- > 0) {
    const head = await reader.read({ start: at, end: at + header });
    // iTunes 12 writes zero-padded ID3v2.2 names into later tags; its comments there have no names of their uses.
    const name = latin(head.subarray(0, letters)).replace(/\0$/, "");
    const isMisplaced = name.length < letters;
    if (!/^[A-Z0-9]{3,4}$/.test(name)) return;
    const size = version === 4 ? sevenBits(head, 4) : number(head.subarray(letters, version === 2 ? 6 : 8));
    const own = version === 2 ? 0 : (head[9] ?? 0);
    const isText = (isMisplaced ? /^T/ : /^(T|COM|ULT|USLT)/).test(name);
    const compressed = version === 4 && isText ? own & FRAME_FLAGS.compressed : 0;
    const supported = version === 4 ? FRAME_FLAGS.unsynchronised | FRAME_FLAGS.length | compressed : 0;
    const start = at + header + (own & supported & FRAME_FLAGS.length ? 4 : 0);
    const body = { start, end: Math.min(end, at + header + size) };
    at += header + size;
    if ((own & ~supported) !== 0 || size < 2) continue;
    const unsynchronised =
      version === 4 && ((flags & TAG_FLAGS.unsynchronised) !== 0 || (own & FRAME_FLAGS.unsynchronised) !== 0);
    const read = async (max = Number.POSITIVE_INFINITY) => {
      const bytes = await reader.read({ ...body, end: Math.min(body.end, body.start + max) });
      return unsynchronised ? resynchronise(bytes) : bytes;
    };
    if (name === "APIC" || name === "PIC") {
      const prefix = await reader.read({ ...body, end: Math.min(body.end, body.start + PICTURE_HEAD) });
      id3.covers.push({
        mime: mimeOf(name, prefix),
        common: common && !isMisplaced,
        read: async () => pictureIn(name, await read()),
      });
    } else if (name === "CHAP") {
      const chapter = readChapter(await read(MAX_CHAPTER), version);
      if (chapter) id3.chapters.push(chapter);
    } else if (isText && size > 1) {
      const data = await read(MAX_TEXT);
      const text = compressed ? await inflate(data, MAX_TEXT) : data;
      if (text) id3.tags.push(readText(name, text));
    }
  }
}

// In version 2.4 the size includes the header.
async function extendedBytes({ reader, start, version, flags }: Tag): Promise<number> {
  if ((flags & TAG_FLAGS.extended) === 0) return 0;
  const head = await reader.read({ start, end: start + 4 });
  return version === 4 ? sevenBits(head, 0) : 4 + number(head);
}

function resynchronise(bytes: Uint8Array): Uint8Array {
  return bytes.filter((byte, at) => byte !== 0 || bytes[at - 1] !== 0xff);
}

function mimeOf(name: string, bytes: Uint8Array): string {
  const format = latin(name === "PIC" ? bytes.subarray(1, 4) : untilZero(bytes.subarray(1)));
  if (/jpe?g/i.test(format)) return COVER_CODECS.mjpeg;
  return /png$/i.test(format) ? COVER_CODECS.png : format.toLowerCase();
}

function pictureIn(name: string, bytes: Uint8Array): Uint8Array {
  const step = bytes[0] === 1 || bytes[0] === 2 ? 2 : 1;
  let at = name === "PIC" ? 5 : bytes.indexOf(0, 1) + 2;
  while (at < bytes.length && (bytes[at] !== 0 || bytes[at + step - 1] !== 0)) at += step;
  return bytes.subarray(at + step);
}

function readText(name: string, bytes: Uint8Array): readonly [string, string | readonly string[]] {
  const encoding = bytes[0] ?? 0;
  const several = (values: readonly string[]) => {
    const texts = values.filter(Boolean);
    return texts.length > 1 ? texts : (texts[0] ?? "");
  };
  if (/^TXX/.test(name)) {
    const [description = "", ...values] = decode(bytes.subarray(1), encoding);
    return [description, several(values)];
  }
  if (name.startsWith("T")) {
    const texts = decode(bytes.subarray(1), encoding);
    return [name, several(/^TCON?$/.test(name) ? texts.map(genreOf) : texts)];
  }
  // COMM and USLT: language, description and text. A comment's description names it, as in ffmpeg.
  const [description = "", value = ""] = decode(bytes.subarray(4), encoding);
  return [name.startsWith("COM") && description !== "" ? description : name, value];
}

function genreOf(text: string): string {
  const [, inBrackets, alone] = /^\((\d+)\)|^(\d+)$/.exec(text) ?? [];
  return ID3_GENRES[Number(inBrackets ?? alone)] ?? text;
}

// ID3v2 Chapter Frame Addendum: an id, start and end in milliseconds, two file offsets, and subframes.
function readChapter(bytes: Uint8Array, version: number): FileChapter | null {
  const at = bytes.indexOf(0) + 1;
  if (at === 0 || at + 16 > bytes.length) return null;
  const [start, end] = [at, at + 4].map((place) => number(bytes.subarray(place, place + 4)) / 1000);
  let title: string | undefined;
  for (let frame = at + 16; title === undefined && frame + 10 < bytes.length; ) {
    const size = version === 4 ? sevenBits(bytes, frame + 4) : number(bytes.subarray(frame + 4, frame + 8));
    const titled = latin(bytes.subarray(frame, frame + 4)) === "TIT2" && size > 1;
    if (titled) title = [readText("TIT2", bytes.subarray(frame + 10, frame + 10 + size))[1]].flat()[0];
    frame += 10 + size;
  }
  return { start: start ?? 0, end, title: title ?? "" };
}

function decode(bytes: Uint8Array, encoding: number): string[] {
  const texts = new TextDecoder(ENCODINGS[encoding] ?? "latin1")
    .decode(toLittleEndian(bytes, encoding))
    .split("\0");
  return texts.map((text) => text.replace(/^\ufeff/, ""));
}

const ENCODINGS = ["latin1", "utf-16le", "utf-16le", "utf-8"] as const;

// Every platform decodes little-endian.
function toLittleEndian(bytes: Uint8Array, encoding: number): Uint8Array {
  const big = encoding === 2 || (encoding === 1 && bytes[0] === 0xfe && bytes[1] === 0xff);
  if (!big) return bytes;
  return bytes.map((_, at) => bytes[at % 2 === 0 ? at + 1 : at - 1] ?? 0);
}

// Fixed fields in the last 128 bytes; version 1.1 ends the comment with a zero and the track number.
async function readVersion1(reader: ByteReader): Promise<Id3["tags"]> {
  const bytes = await reader.read({ start: Math.max(0, reader.size - 128), end: reader.size });
  if (bytes.length < 128 || latin(bytes.subarray(0, 3)) !== "TAG") return [];
  const text = (start: number, end: number) => asText(bytes.subarray(start, end));
  const track = bytes[125] === 0 ? (bytes[126] ?? 0) : 0;
  const tags = [
    ["title", text(3, 33)],
    ["artist", text(33, 63)],
    ["album", text(63, 93)],
    ["date", text(93, 97)],
    ["comment", text(97, track === 0 ? 127 : 125)],
    ["track", track === 0 ? "" : String(track)],
    ["genre", ID3_GENRES[bytes[127] ?? 255] ?? ""],
  ] as const;
  return tags.filter(([, value]) => value !== "");
}

// The encoding is Latin-1, but many programs write UTF-8.
function asText(bytes: Uint8Array): string {
  const text = untilZero(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(text);
  } catch {
    return new TextDecoder("latin1").decode(text);
  }
}

const APE = { footer: 32, version1: 128, max: 1_048_576, text: 0 } as const;

// APEv2 (wiki.hydrogenaudio.org/?title=APE_Tags_Header): items before a footer, at the end or before an ID3v1 tag.
async function readApe(reader: ByteReader): Promise<Id3["tags"]> {
  const start = Math.max(0, reader.size - APE.version1 - APE.footer);
  const tail = await reader.read({ start, end: reader.size });
  for (const at of [tail.length - APE.footer, tail.length - APE.footer - APE.version1]) {
    if (at < 0 || latin(tail.subarray(at, at + 8)) !== "APETAGEX") continue;
    const size = viewOf(tail).getUint32(at + 12, true);
    const end = start + at;
    if (size < APE.footer || size > APE.max || size - APE.footer > end) return [];
    return apeItems(viewOf(await reader.read({ start: end + APE.footer - size, end })));
  }
  return [];
}

function apeItems(view: DataView): Id3["tags"] {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  const items: Id3["tags"] = [];
  for (let at = 0; at + 9 < bytes.length; ) {
    const [length, flags] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
    const value = bytes.indexOf(0, at + 8) + 1;
    if (value === 0 || value + length > bytes.length) break;
    const texts = new TextDecoder().decode(bytes.subarray(value, value + length)).split("\0");
    if (((flags >> 1) & 3) === APE.text) items.push([latin(bytes.subarray(at + 8, value - 1)), texts]);
    at = value + length;
  }
  return items;
}

function untilZero(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0);
  return end < 0 ? bytes : bytes.subarray(0, end);
}

function latin(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

function number(bytes: Uint8Array): number {
  return bytes.reduce((value, byte) => value * 256 + byte, 0);
}

/** Genres by ID3v1 number, with the Winamp extensions. */
export const ID3_GENRES: readonly string[] = [
  "Blues,Classic Rock,Country,Dance,Disco,Funk,Grunge,Hip-Hop,Jazz,Metal,New Age,Oldies,Other,Pop,R&B,Rap",
  "Reggae,Rock,Techno,Industrial,Alternative,Ska,Death Metal,Pranks,Soundtrack,Euro-Techno,Ambient,Trip-Hop",
  "Vocal,Jazz+Funk,Fusion,Trance,Classical,Instrumental,Acid,House,Game,Sound Clip,Gospel,Noise,AlternRock",
  "Bass,Soul,Punk,Space,Meditative,Instrumental Pop,Instrumental Rock,Ethnic,Gothic,Darkwave",
  "Techno-Industrial,Electronic,Pop-Folk,Eurodance,Dream,Southern Rock,Comedy,Cult,Gangsta,Top 40",
  "Christian Rap,Pop/Funk,Jungle,Native American,Cabaret,New Wave,Psychedelic,Rave,Showtunes,Trailer,Lo-Fi",
  "Tribal,Acid Punk,Acid Jazz,Polka,Retro,Musical,Rock & Roll,Hard Rock,Folk,Folk-Rock,National Folk,Swing",
  "Fast Fusion,Bebop,Latin,Revival,Celtic,Bluegrass,Avantgarde,Gothic Rock,Progressive Rock",
  "Psychedelic Rock,Symphonic Rock,Slow Rock,Big Band,Chorus,Easy Listening,Acoustic,Humour,Speech,Chanson",
  "Opera,Chamber Music,Sonata,Symphony,Booty Bass,Primus,Porn Groove,Satire,Slow Jam,Club,Tango,Samba",
  "Folklore,Ballad,Power Ballad,Rhythmic Soul,Freestyle,Duet,Punk Rock,Drum Solo,A Cappella,Euro-House",
  "Dance Hall,Goa,Drum & Bass,Club-House,Hardcore Techno,Terror,Indie,BritPop,Afro-Punk,Polsk Punk,Beat",
  "Christian Gangsta Rap,Heavy Metal,Black Metal,Crossover,Contemporary Christian,Christian Rock,Merengue",
  "Salsa,Thrash Metal,Anime,Jpop,Synthpop,Abstract,Art Rock,Baroque,Bhangra,Big Beat,Breakbeat,Chillout",
  "Downtempo,Dub,EBM,Eclectic,Electro,Electroclash,Emo,Experimental,Garage,Global,IDM,Illbient",
  "Industro-Goth,Jam Band,Krautrock,Leftfield,Lounge,Math Rock,New Romantic,Nu-Breakz,Post-Punk,Post-Rock",
  "Psytrance,Shoegaze,Space Rock,Trop Rock,World Music,Neoclassical,Audiobook,Audio Theatre",
  "Neue Deutsche Welle,Podcast,Indie Rock,G-Funk,Dubstep,Garage Rock,Psybient",
].flatMap((line) => line.split(","));

// Ten frames of the largest size, plus the 4 KiB that mediabunny (1.61) searches for the first.
const WINDOW = 24 * KIB;
const FRAME_START = 40;

// gabriel.mp3-tech.org/mp3infotag.html: optional fields by flag; 21 bytes after them, the encoder's delay in 12 bits.
const FIRST_FRAME = 256;
const XING = /Xing|Info/;
const XING_FIELDS = [4, 4, 100, 4] as const;
const LAME_TAGS: ReadonlySet<string> = new Set(["LAME", "Lavf", "Lavc"]);
const DECODER_DELAY = 529;

/**
 * Limits an MP3 to its first frames after the ID3 tags, because mediabunny reads 64 KiB to find each frame. Null when no frame
 * directly follows the tags.
 */
export async function readMp3Start(reader: ByteReader): Promise<FileStart | null> {
  const at = await findFrame(reader);
  return (
    at && {
      reader: limitReader(reader, at.frame + WINDOW),
      whole: false,
      body: reader.size - at.frame,
      bitrate: await readBitrate(reader, at.frame),
      fps: new Map(),
      ends: new Map(),
    }
  );
}

/** Returns the number of samples that players skip at the start of an MP3, from its LAME tag; 0 if it has none. */
export async function readMp3Delay(reader: ByteReader): Promise<number> {
  const at = await findFrame(reader);
  const bytes = at && (await reader.read({ start: at.frame, end: at.frame + FIRST_FRAME }));
  const xing = bytes && XING.exec(String.fromCharCode(...bytes));
  if (!xing) return 0;
  const flags = viewOf(bytes).getUint32(xing.index + 4);
  const lengths = XING_FIELDS.filter((_, bit) => (flags >> bit) & 1);
  const tag = xing.index + 8 + lengths.reduce((sum, length) => sum + length, 0);
  const encoder = String.fromCharCode(...bytes.subarray(tag, tag + 4));
  if (!LAME_TAGS.has(encoder) || tag + 24 > bytes.length) return 0;
  return (viewOf(bytes).getUint16(tag + 21) >> 4) + DECODER_DELAY;
}

async function findFrame(reader: ByteReader): Promise<{ frame: number } | null> {
  let at = 0;
  for (let tags = 0; tags < MAX_TAGS; tags++) {
    const head = await reader.read({ start: at, end: at + HEADER });
    const tag = id3Size(head);
    if (tag === 0) return startsFrame(head) ? { frame: at } : null;
    at += tag;
  }
  return null;
}

/** Returns whether the first frame after the ID3 tags is of layer I or II, which mediabunny (1.61) mistakes for layer III. */
export async function isOtherLayer(reader: ByteReader): Promise<boolean> {
  const at = await findFrame(reader);
  const [first = 0, second = 0] = at ? await reader.read({ start: at.frame, end: at.frame + 2 }) : [];
  // ISO/IEC 11172-3, 2.4.2.3: 1 is layer III, and 0 stands for ADTS.
  return first === 0xff && (second & 0xe0) === 0xe0 && (second & 4) !== 0;
}

/** Returns the bytes of an ID3v2 tag (id3.org, 3.1) from its first ten bytes; 0 for none. */
export function id3Size(head: Uint8Array): number {
  if (head.length < HEADER || latin(head.subarray(0, 3)) !== "ID3") return 0;
  return HEADER + sevenBits(head, 6);
}

async function readBitrate(reader: ByteReader, at: number): Promise<FileStart["bitrate"]> {
  const frame = String.fromCharCode(...(await reader.read({ start: at, end: at + FRAME_START })));
  if (frame.includes("Xing")) return "variable";
  return frame.includes("Info") ? "constant" : "unknown";
}

// Eleven sync bits and a nonzero layer (ISO/IEC 11172-3, 2.4.1.3); in ADTS the layer is 0.
function startsFrame([first = 0, second = 0]: Uint8Array): boolean {
  return first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x06) !== 0;
}
