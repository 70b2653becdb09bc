import { containerOf, type TagScheme } from "./containers.ts";

/** The place of a tag in formats with a fixed list of tags; other formats can hold any tag. */
interface TagPlaces {
  /** Item of the iTunes list of an MP4. */
  itunes?: string;
  /** Box of a MOV's user data. */
  quicktime?: string;
  /** Whether the INFO list of a WAV has a chunk for it. */
  riff?: true;
}

/** Tags that formats with a fixed list have a place for, by ffmpeg's names. */
const PLACED_TAGS = {
  title: { itunes: "\u00a9nam", quicktime: "\u00a9nam", riff: true },
  artist: { itunes: "\u00a9ART", quicktime: "\u00a9ART", riff: true },
  album: { itunes: "\u00a9alb", quicktime: "\u00a9alb", riff: true },
  album_artist: { itunes: "aART" },
  composer: { itunes: "\u00a9wrt" },
  performer: {},
  publisher: {},
  track: { itunes: "trkn", riff: true },
  disc: { itunes: "disk" },
  date: { itunes: "\u00a9day", quicktime: "\u00a9day", riff: true },
  genre: { itunes: "\u00a9gen", quicktime: "\u00a9gen", riff: true },
  comment: { itunes: "\u00a9cmt", quicktime: "\u00a9cmt", riff: true },
  description: { itunes: "desc" },
  synopsis: { itunes: "ldes" },
  lyrics: { itunes: "\u00a9lyr" },
  copyright: { itunes: "cprt", quicktime: "\u00a9cpy", riff: true },
  grouping: { itunes: "\u00a9grp" },
  show: { itunes: "tvsh" },
  episode_id: { itunes: "tven" },
  network: { itunes: "tvnn" },
  location: { itunes: "\u00a9xyz", quicktime: "\u00a9xyz" },
  make: { quicktime: "\u00a9mak" },
  model: { quicktime: "\u00a9mod" },
} as const satisfies Record<string, TagPlaces>;

/** The tag of a file's creation time, for which MP4, MOV and Matroska have a header field. */
export const CREATION_TIME = "creation_time";

const PLACES: ReadonlyMap<string, TagPlaces> = new Map<string, TagPlaces>(Object.entries(PLACED_TAGS));

const PRIVATE_NAMES = [
  /^(creation|origination|purchase|encoding|tagging|digiti[sz]ed|date.?time)[ _-]?(time|date|original)?$/,
  /^(creationdate|purd|idit|date_(digitized|encoded|tagged|purchased)|modification_(time|date)|time_reference)$/,
  /(^|[ _.:-])(geo|gps|latitude|longitude|altitude|coordinates?|iso6709)/,
  /location|(^|[ _-])place$|^(city|state|province|country|country_code|xyz|loci|iarl)$/,
  /(^|[ _.:-])(make|model|manufacturer|device|camera|lens|firmware|hardware|phone)([ _.:-]|$)|^(cameraid|camera_?model)/,
  /serial|(^|[ _.:-])(imei|uuid|udid|umid|guid|mac_?address|unique_?(device_?)?id)([ _.:-]|$)/,
  /(^|[ _.:-])(software|encod\w*|creator_?tool|tool|application|product_(name|version|uid)|company_name|writing_(app|library))([ _.:-]|$)/,
  /^(originator|originator_?reference|coding_history|ixml|xmp.*|exif.*|itunes_cddb.*|cddb.*)$/,
  /^(account_?(id|type|kind)|apid|akid|ownr?|owner|cnid|plid|atid|geid|sfid|cmid|town|tofn|towner|original_?file_?name|filename)$/,
  /^(com|org|net)\./,
];

/** The tags of a source that an output keeps: all that the format can hold, all but private ones, or none. */
export const METADATA_MODES = ["keep", "clean", "strip"] as const;
/** The tags of a source that an output keeps: all that the format can hold, all but private ones, or none. */
export type MetadataMode = (typeof METADATA_MODES)[number];

/** Tags by name. */
export type Tags = Readonly<Record<string, string>>;

/** The values of tags that have several, by name. */
export type TagValues = Readonly<Record<string, readonly string[]>>;

/** The tags of a file. */
export interface TagFacts {
  tags?: Tags;
  /** The values of the tags that have several, which `tags` joins with semicolons. */
  tag_values?: Record<string, string[]>;
  /** Names of tags whose texts are too long to carry. */
  long_tags?: string[];
}

/** Returns whether a tag describes a place, a device, a person's account or software rather than the work. */
export function isPrivate(name: string): boolean {
  return PRIVATE_NAMES.some((pattern) => pattern.test(name));
}

/** Returns whether a tag states the loudness, so that it is wrong once that changes. */
export function isLoudness(name: string): boolean {
  return /^(replaygain|r128)_/.test(name);
}

/** Returns whether an output format holds each of the values of a tag; other formats join them. */
export function holdsTagValues(format: string): boolean {
  const { tags } = containerOf({ format });
  return tags === "id3" || tags === "vorbis";
}

/** Returns the name of a tag in a format where it differs from ffmpeg's. */
export function nameInFormat(name: string, format: string): string {
  if (containerOf({ format }).tags !== "id3") return name;
  return ID3_NAMES[name] ?? (ID3_TEXTS.has(name) ? name.toUpperCase() : name);
}

// ffmpeg has no names for these ID3 frames, and would write the tags as TXXX frames.
const ID3_NAMES: Readonly<Record<string, string>> = { bpm: "TBPM", isrc: "TSRC" };
const ID3_TEXTS: ReadonlySet<string> = new Set([
  ...["tdly", "tdor", "tdtg", "text", "tflt", "tit3", "tkey", "tmed", "tmoo", "toal", "tofn", "toly", "tope"],
  ...["town", "tpe4", "tpro", "trsn", "trso", "tsoa", "tsop", "tsot", "tsst"],
]);

/** Returns the place of a tag in a list of iTunes or QuickTime; undefined where it has none, or the scheme is another. */
export function tagPlace(name: string, scheme: TagScheme | undefined): string | undefined {
  if (scheme !== "itunes" && scheme !== "quicktime") return undefined;
  return PLACES.get(name)?.[scheme];
}

/** Returns whether an output format can hold a tag. */
export function holdsTag(format: string, name: string): boolean {
  const { tags } = containerOf({ format });
  if (tags === "itunes" || tags === "quicktime")
    return name === CREATION_TIME || tagPlace(name, tags) !== undefined;
  return tags === "riff" ? PLACES.get(name)?.riff === true : tags !== undefined;
}

/** Codecs of covers that every format with covers can hold. */
export const COVER_CODECS = { mjpeg: "image/jpeg", png: "image/png" } as const;

/** Maximum characters of a tag's text: those of a long song's lyrics, but records and requests contain them. */
export const MAX_TAG_TEXT = 32_768;
const LIMITS = { tags: 256, name: 64, bytes: 49_152 } as const;

const TECHNICAL =
  /^(encoder|vendor|vendor_id|handler_name|major_brand|minor_version|compatible_brands|duration|gapless_playback|media_type|hd_video|rotate|tlen|tsse|id3v2_priv.*|itunsmpb|itunnorm|itunpgap|waveformatextensible_channel_mask|metadata_block_picture|mp3gain_.*|bps(-.*)?|number_of_(frames|bytes).*|_statistics_.*|source_id|chapter\d+.*)$/;

/**
 * Normalizes a file's tags to ffmpeg's names, which are the same for all formats. Entries of one key are values of one tag; among keys
 * of the same meaning the first wins. Tags about the file itself are omitted.
 */
export function readTags(
  entries: Iterable<readonly [name: string, value: string | readonly string[]]>,
): TagFacts {
  const tags = new Map<string, string>();
  const several = new Map<string, string[]>();
  const totals = new Map<string, string>();
  const long = new Set<string>();
  let bytes = 0;
  for (const [name, values] of groupValues(entries)) {
    const value = values.join(";");
    const total = TOTALS[name];
    if (total) totals.set(total, value);
    const isNamed = name.length <= LIMITS.name && /^[\x20-\x3c\x3e-\x7e]+$/.test(name);
    if (total || value === "" || !isNamed || TECHNICAL.test(name)) continue;
    if (name === CREATION_TIME && Number.isNaN(Date.parse(value))) continue;
    const size = new TextEncoder().encode(
      JSON.stringify(values.length > 1 ? [name, value, values] : [name, value]),
    ).length;
    if (value.length > MAX_TAG_TEXT || tags.size === LIMITS.tags || bytes + size > LIMITS.bytes) {
      long.add(name);
      continue;
    }
    bytes += size;
    tags.set(name, value);
    if (values.length > 1) several.set(name, values);
  }
  for (const [name, total] of totals) {
    const number = tags.get(name);
    if (number && !number.includes("/") && /^\d+$/.test(total)) tags.set(name, `${number}/${total}`);
  }
  return {
    ...(tags.size > 0 && { tags: Object.fromEntries(tags) }),
    ...(several.size > 0 && { tag_values: Object.fromEntries(several) }),
    ...(long.size > 0 && { long_tags: [...long] }),
  };
}

// Facts about the file or its pictures, which outputs state in their own way.
const OF_FILE: ReadonlySet<string> = new Set(["language", "alpha_mode", "timecode", CREATION_TIME]);
const MAX_TRACK_NAMES = 32;

/** Returns the names of a track's own tags, except its language, measurements, and facts about the whole file. */
export function trackTagNames(entries: Iterable<readonly [name: string, value: string]>): string[] {
  // mkvmerge appends a language to the name of a tag.
  const plain = [...entries].map(([name, value]) => [name.replace(/-[a-z]{3}$/, ""), value] as const);
  const { tags = {}, long_tags = [] } = readTags(plain);
  const names = [...Object.keys(tags), ...long_tags].filter((name) => !OF_FILE.has(name));
  return names.slice(0, MAX_TRACK_NAMES);
}

function groupValues(
  entries: Iterable<readonly [name: string, value: string | readonly string[]]>,
): Map<string, string[]> {
  const groups = new Map<string, { key: string; values: Set<string> }>();
  for (const [key, text] of entries) {
    const values = [text].flat().map((each) => each.replaceAll("\0", "").trim());
    const name = nameTag(key);
    const group = groups.get(name) ?? { key, values: new Set() };
    if (group.key !== key) continue;
    for (const value of values) if (value !== "") group.values.add(value);
    if (group.values.size > 0) groups.set(name, group);
  }
  return new Map([...groups].map(([name, { values }]) => [name, [...values]]));
}

const TOTALS: Readonly<Record<string, string>> = {
  tracktotal: "track",
  totaltracks: "track",
  disctotal: "disc",
  totaldiscs: "disc",
};

function nameTag(key: string): string {
  // ffmpeg appends a language to some names, and gives QuickTime's keys in full.
  const name = key.trim().toLowerCase();
  const plain = /^(lyrics|location|comment|title|description)-[a-z]{3}$/.exec(name)?.[1] ?? name;
  const short = plain.replace(/^com\.apple\.quicktime\./, "");
  return NAMES[short] ?? (PLACES.has(short) ? short : plain);
}

const NAMES: Readonly<Record<string, string>> = {
  "\u00a9nam": "title",
  "\u00a9art": "artist",
  "\u00a9alb": "album",
  aart: "album_artist",
  "\u00a9wrt": "composer",
  "\u00a9com": "composer",
  "\u00a9day": "date",
  "\u00a9gen": "genre",
  "\u00a9cmt": "comment",
  "\u00a9inf": "comment",
  "\u00a9des": "comment",
  desc: "description",
  ldes: "synopsis",
  "\u00a9lyr": "lyrics",
  cprt: "copyright",
  "\u00a9cpy": "copyright",
  "\u00a9grp": "grouping",
  tvsh: "show",
  tven: "episode_id",
  tvnn: "network",
  gnre: "genre",
  tmpo: "bpm",
  tbpm: "bpm",
  tbp: "bpm",
  beats_per_minute: "bpm",
  beatsperminute: "bpm",
  tsrc: "isrc",
  trc: "isrc",
  cpil: "compilation",
  tcmp: "compilation",
  tcp: "compilation",
  itunescompilation: "compilation",
  "\u00a9xyz": "location",
  "location.iso6709": "location",
  "\u00a9mak": "make",
  "\u00a9mod": "model",
  "\u00a9too": "encoder",
  "\u00a9swr": "encoder",
  author: "artist",
  tit2: "title",
  tt2: "title",
  tpe1: "artist",
  tp1: "artist",
  talb: "album",
  tal: "album",
  tpe2: "album_artist",
  tp2: "album_artist",
  tcom: "composer",
  tcm: "composer",
  tpe3: "performer",
  tpub: "publisher",
  tpb: "publisher",
  trck: "track",
  trk: "track",
  tpos: "disc",
  tpa: "disc",
  tdrc: "date",
  tdrl: "date",
  tyer: "date",
  tye: "date",
  tcon: "genre",
  tco: "genre",
  comm: "comment",
  com: "comment",
  uslt: "lyrics",
  ult: "lyrics",
  tcop: "copyright",
  tcr: "copyright",
  tit1: "grouping",
  tt1: "grouping",
  tden: "creation_time",
  tenc: "encoded_by",
  ten: "encoded_by",
  tlan: "language",
  tss: "encoder",
  albumartist: "album_artist",
  "album artist": "album_artist",
  tracknumber: "track",
  discnumber: "disc",
  year: "date",
  part_number: "track",
  date_released: "date",
  date_recorded: "date",
  inam: "title",
  iart: "artist",
  iprd: "album",
  icrd: "date",
  ignr: "genre",
  icmt: "comment",
  icop: "copyright",
  iprt: "track",
  itrk: "track",
  isft: "encoder",
};
