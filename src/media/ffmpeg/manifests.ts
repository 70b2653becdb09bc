import { ntscRate } from "../features/fps.ts";
import { type AdaptiveFormat, FORMATS } from "../formats.ts";
import { manifestEntries } from "./manifest-entries.ts";
import { MANIFEST, MASTER } from "./output-files.ts";

/** A video or audio stream and its segments. */
export interface DashStream {
  /** Folder of its files; also the id of its Representation. */
  folder: string;
  /** Codec string (RFC 6381). */
  codecs: string;
  width?: number | undefined;
  height?: number | undefined;
  rate: Bitrates;
  /** Runs of segments in order of time, from the start of the stream. */
  runs: readonly SegmentRun[];
}

export interface DashSound extends DashStream {
  channels: number;
  /** Seconds of encoder delay before the first sample: playlists count them, players skip them. */
  priming: number;
  /** BCP 47 tag; undefined when unknown. */
  language?: string | undefined;
  /** Label in the player's menu. */
  name: string;
}

interface DashFacts {
  pictures: readonly DashStream[];
  /** The default track first. */
  sounds: readonly DashSound[];
  /** Text tracks of the stream; absent if there are none. */
  texts?: readonly StreamText[] | undefined;
  /** Frames per second; undefined when unknown. */
  fps: number | undefined;
}

interface TimedSegment {
  /** Microseconds from the start of the stream. */
  time: number;
  duration: number;
  init: string;
  number: number;
}

interface TimedStream extends DashStream {
  segments: TimedSegment[];
}

const TIMESCALE = 1_000_000;

const ROLES = "urn:mpeg:dash:role:2011";
const CHANNELS = "urn:mpeg:dash:23003:3:audio_channel_configuration:2011";

/**
 * Writes the DASH manifest (ISO/IEC 23009-1) of a complete on-demand stream, with paths relative to it. A Representation has one
 * init segment and consecutive segment numbers, so a new Period starts wherever the video changes its init segment or skips a number.
 */
export function writeDash(facts: DashFacts): string {
  const { texts = [], fps } = facts;
  const { video, audio, all, starts, end } = timesOf(facts);
  const longest = longestSegment(all);
  const periods = starts.flatMap((start, index) => {
    const period = { start, end: starts[index + 1] ?? end };
    return [
      `  <Period id="${index}" start="${isoDuration(start)}">`,
      ...byCodec(video).flatMap((streams, place) => {
        // Players prefer the codec that needs the fewest bytes.
        const attributes = place > 0 ? ` selectionPriority="${place + 1}"` : "";
        const facts = fps ? ` frameRate="${frameRate(fps)}"` : "";
        return adaptationSet({ kind: "video", attributes }, facts, period, streams);
      }),
      ...audio.flatMap((stream, place) =>
        adaptationSet(
          setOf(stream, place, audio.length),
          "",
          period,
          [stream],
          [`        <AudioChannelConfiguration schemeIdUri="${CHANNELS}" value="${stream.channels}"/>`],
        ),
      ),
      ...writeTextSets(texts, index),
      "  </Period>",
    ];
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="static" mediaPresentationDuration="${isoDuration(end)}" maxSegmentDuration="${isoDuration(longest)}" minBufferTime="${isoDuration(longest)}">`,
    ...periods,
    "</MPD>",
    "",
  ].join("\n");
}

/** Groups streams by their codecs, in the order in which these first appear. */
function byCodec<S extends { codecs: string }>(streams: readonly S[]): S[][] {
  const codecOf = ({ codecs }: S) => codecs.slice(0, codecs.indexOf("."));
  return [...new Set(streams.map(codecOf))].map((codec) =>
    streams.filter((stream) => codecOf(stream) === codec),
  );
}

/** Returns the start and end of each Period that {@link writeDash} would write, in seconds. */
export function dashPeriods(facts: Pick<DashFacts, "pictures" | "sounds">): Period[] {
  const { starts, end } = timesOf(facts);
  return starts.map((start, index) => ({
    start: start / TIMESCALE,
    end: (starts[index + 1] ?? end) / TIMESCALE,
  }));
}

function timesOf({ pictures, sounds }: Pick<DashFacts, "pictures" | "sounds">) {
  const video = pictures.map((stream) => timed(stream));
  const audio = sounds.map((sound) => ({ ...sound, ...timed(sound, sound.priming) }));
  const all = [...video, ...audio];
  extendToEnd(all);
  const starts = [...new Set([0, ...(video.length > 0 ? video : audio).flatMap(periodStarts)])];
  return { video, audio, all, starts: starts.sort((a, b) => a - b), end: Math.max(0, ...all.map(endOf)) };
}

interface Period {
  start: number;
  end: number;
}

/** The facts by which players choose an AdaptationSet. */
interface SetFacts {
  kind: "video" | "audio";
  /** Additional attributes, each preceded by a space. */
  attributes?: string;
  children?: readonly string[];
}

function setOf({ language, name }: DashSound, place: number, count: number): SetFacts {
  const role = place === 0 ? "main" : "alternate";
  const priority = count > 1 && place === 0 ? ' selectionPriority="2"' : "";
  return {
    kind: "audio",
    attributes: `${language ? ` lang="${language}"` : ""}${priority}`,
    children:
      count > 1
        ? [`      <Label>${escapeXml(name)}</Label>`, `      <Role schemeIdUri="${ROLES}" value="${role}"/>`]
        : [],
  };
}

function adaptationSet(
  { kind, attributes = "", children = [] }: SetFacts,
  facts: string,
  period: Period,
  streams: readonly TimedStream[],
  details: readonly string[] = [],
): string[] {
  const representations = streams
    .toSorted((a, b) => b.rate.peak - a.rate.peak)
    .flatMap((stream) => {
      // Audio segments do not start exactly at the Period's edge, so the middle decides.
      const own = stream.segments.filter(({ time, duration }) => isWithin(period, time + duration / 2));
      return own.length === 0 ? [] : representation(stream, own, period.start, facts, details);
    });
  if (representations.length === 0) return [];
  return [
    `    <AdaptationSet contentType="${kind}" mimeType="${kind}/mp4" segmentAlignment="true" startWithSAP="1"${attributes}>`,
    ...children,
    ...representations,
    "    </AdaptationSet>",
  ];
}

function representation(
  { folder, codecs, width, height, rate }: DashStream,
  segments: readonly TimedSegment[],
  start: number,
  facts: string,
  details: readonly string[],
): string[] {
  const [first] = segments;
  const size = width && height ? ` width="${width}" height="${height}"` : "";
  const offset = start > 0 ? ` presentationTimeOffset="${start}"` : "";
  return [
    `      <Representation id="${folder}" codecs="${codecs}" bandwidth="${Math.ceil(rate.peak)}"${size}${facts}>`,
    ...details,
    `        <SegmentTemplate timescale="${TIMESCALE}"${offset} initialization="${first?.init}" media="${folder}/seg_$Number%05d$.m4s" startNumber="${first?.number}">`,
    "          <SegmentTimeline>",
    ...timeline(segments),
    "          </SegmentTimeline>",
    "        </SegmentTemplate>",
    "      </Representation>",
  ];
}

function timeline(segments: readonly TimedSegment[]): string[] {
  const rows: { time: number; duration: number; repeat: number }[] = [];
  for (const { time, duration } of segments) {
    const last = rows.at(-1);
    if (last?.duration === duration) last.repeat++;
    else rows.push({ time, duration, repeat: 0 });
  }
  return rows.map(({ time, duration, repeat }, index) => {
    const at = index === 0 ? ` t="${time}"` : "";
    return `            <S${at} d="${duration}"${repeat > 0 ? ` r="${repeat}"` : ""}/>`;
  });
}

function timed(stream: DashStream, priming = 0): TimedStream {
  let at = -priming;
  const segments = stream.runs.flatMap(({ init, segments }) =>
    segments.map(({ name, seconds }) => {
      const time = Math.max(0, Math.round(at * TIMESCALE));
      at += seconds;
      const duration = Math.round(at * TIMESCALE) - time;
      return { time, duration, init: init ?? "", number: Number(/(\d+)\.m4s$/.exec(name)?.[1]) };
    }),
  );
  return { ...stream, segments };
}

// dash.js jumps back when a viewer seeks past the end of the shorter track, unless its last segment reaches the end of the stream.
function extendToEnd(streams: readonly TimedStream[]): void {
  const [end, longest] = [Math.max(...streams.map(endOf)), longestSegment(streams)];
  for (const { segments } of streams) {
    const last = segments.at(-1);
    if (last && end - last.time - last.duration < longest) last.duration = end - last.time;
  }
}

function longestSegment(streams: readonly TimedStream[]): number {
  return Math.max(0, ...streams.flatMap(({ segments }) => segments.map(({ duration }) => duration)));
}

function periodStarts({ segments }: TimedStream): number[] {
  return segments.flatMap(({ time, init, number }, index) => {
    const before = segments[index - 1];
    return before && (before.init !== init || before.number + 1 !== number) ? [time] : [];
  });
}

function endOf({ segments }: TimedStream): number {
  const last = segments.at(-1);
  return last ? last.time + last.duration : 0;
}

function isWithin({ start, end }: Period, time: number): boolean {
  return time >= start && time < end;
}

function isoDuration(time: number): string {
  return `PT${Number((time / TIMESCALE).toFixed(6))}S`;
}

function frameRate(fps: number): string {
  const whole = ntscRate(fps);
  if (whole !== null) return `${whole * 1000}/1001`;
  return Number.isInteger(fps) ? String(fps) : `${Math.round(fps * 1000)}/1000`;
}

/**
 * Parses the streams of a DASH manifest written by Framewright. As in a master playlist, each stream includes the audio that plays
 * with it.
 */
export function parseDash(text: string): Omit<MasterEntry, "uri">[] {
  const [period = ""] = /<Period\b.*?<\/Period>/s.exec(text) ?? [];
  const sets = [...period.matchAll(/<AdaptationSet\b([^>]*)>(.*?)<\/AdaptationSet>/gs)];
  const of = (kind: string) =>
    sets
      .filter(([, facts = ""]) => facts.includes(`contentType="${kind}"`))
      .flatMap(([, , inside = ""]) => [...inside.matchAll(/<Representation\b[^>]*>/g)].map(([row]) => row));
  const [pictures, sound] = [of("video").map(entryOf), of("audio").map(entryOf)];
  const [best] = sound.toSorted((a, b) => b.bitrate - a.bitrate);
  if (pictures.length === 0 || !best) return pictures.length > 0 ? pictures : sound;
  return pictures.map((entry) => ({
    ...entry,
    bitrate: entry.bitrate + best.bitrate,
    codecs: `${entry.codecs},${best.codecs}`,
  }));
}

function entryOf(row: string): Omit<MasterEntry, "uri"> {
  const attribute = (name: string) => new RegExp(`\\s${name}="([^"]*)"`).exec(row)?.[1];
  const [width, height] = [Number(attribute("width")), Number(attribute("height"))];
  return {
    id: attribute("id") ?? "",
    bitrate: Number(attribute("bandwidth") ?? 0),
    codecs: attribute("codecs") ?? "",
    ...(width && height ? { width, height } : {}),
  };
}

interface Bitrates {
  /** Rate of the segment with the highest rate. */
  peak: number;
  average: number;
}

export interface MasterStream {
  /** Path of its media playlist, relative to the master playlist. */
  uri: string;
  /** Codec string (RFC 6381), without that of separate audio. */
  codecs: string;
  width?: number | undefined;
  height?: number | undefined;
  rate: Bitrates;
}

export interface MasterSound {
  folder: string;
  codecs: string;
  channels: number;
  rate: Bitrates;
  /** BCP 47 tag; undefined when unknown. */
  language?: string | undefined;
  /** Label in the player's menu, unique among the tracks. */
  name: string;
}

export interface MasterFacts {
  streams: readonly MasterStream[];
  /** Separate audio tracks, the default one first; empty when the audio is in the streams. */
  sounds: readonly MasterSound[];
  /** Text tracks; absent when there are none. */
  texts?: readonly StreamText[] | undefined;
  /** Frames per second; undefined when unknown. */
  fps: number | undefined;
  /** The I-frame playlists of the streams, with the rates of their byte ranges; absent when there are none. */
  i_frames?: readonly MasterStream[] | undefined;
}

/**
 * Writes an HLS master playlist (RFC 8216, 4.3.4) with measured bitrates, the best stream first. The streams of a second codec follow
 * those of the first, because players that ignore codecs begin with the first stream; others prefer the highest score (RFC 8216bis,
 * 4.4.6.2), which ranks by size and then by codec.
 */
export function writeMaster({ streams, sounds, texts = [], fps, i_frames = [] }: MasterFacts): string {
  const sound = highest(sounds);
  const audioCodecs = [...new Set(sounds.map(({ codecs }) => codecs))];
  const scores = scoresOf(byCodec(streams));
  const variants = bestFirst(streams).flatMap((stream) => {
    const { uri, codecs, width, height, rate } = stream;
    const attributes = [
      `BANDWIDTH=${Math.ceil(rate.peak + sound.peak)}`,
      `AVERAGE-BANDWIDTH=${Math.ceil(rate.average + sound.average)}`,
      `CODECS="${[codecs, ...audioCodecs].join(",")}"`,
      ...(width && height ? [`RESOLUTION=${width}x${height}`] : []),
      ...(width && fps ? [`FRAME-RATE=${fps.toFixed(3)}`] : []),
      ...(scores ? [`SCORE=${scores.get(stream)}`] : []),
      ...(sounds.length > 0 ? ['AUDIO="audio"'] : []),
      ...(texts.length > 0 ? ['SUBTITLES="subtitles"'] : []),
    ];
    return [`#EXT-X-STREAM-INF:${attributes.join(",")}`, uri];
  });
  const iFrameVariants = bestFirst(i_frames).map(({ uri, codecs, width, height, rate }) => {
    const size = width && height ? `,RESOLUTION=${width}x${height}` : "";
    return `#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=${Math.ceil(rate.peak)},AVERAGE-BANDWIDTH=${Math.ceil(rate.average)},CODECS="${codecs}"${size},URI="${uri}"`;
  });
  const group = sounds.map(({ folder, channels, language, name }, index) => {
    const facts = [
      "TYPE=AUDIO",
      'GROUP-ID="audio"',
      `NAME="${name}"`,
      ...(language ? [`LANGUAGE="${language}"`] : []),
      `DEFAULT=${index === 0 ? "YES" : "NO"}`,
      "AUTOSELECT=YES",
      `CHANNELS="${channels}"`,
      `URI="${folder}/${PLAYLIST}"`,
    ];
    return `#EXT-X-MEDIA:${facts.join(",")}`;
  });
  return [
    "#EXTM3U",
    "#EXT-X-VERSION:7",
    "#EXT-X-INDEPENDENT-SEGMENTS",
    ...group,
    ...writeTextGroup(texts),
    ...variants,
    ...iFrameVariants,
    "",
  ].join("\n");
}

function bestFirst(streams: readonly MasterStream[]): MasterStream[] {
  return byCodec(streams).flatMap((set) => set.toSorted((a, b) => b.rate.peak - a.rate.peak));
}

// Scores count from 1; at the same size, the later codec has the higher one. A single codec needs none.
function scoresOf(sets: readonly MasterStream[][]): Map<MasterStream, number> | null {
  if (sets.length < 2) return null;
  const ranked = sets.flatMap((set, place) =>
    set.map((stream) => ({ stream, place, pixels: (stream.width ?? 0) * (stream.height ?? 0) })),
  );
  ranked.sort((a, b) => a.pixels - b.pixels || a.place - b.place);
  return new Map(ranked.map(({ stream }, index) => [stream, index + 1]));
}

function highest(sounds: readonly { rate: Bitrates }[]): Bitrates {
  return {
    peak: Math.max(0, ...sounds.map(({ rate }) => rate.peak)),
    average: Math.max(0, ...sounds.map(({ rate }) => rate.average)),
  };
}

/** Measures a stream's bitrates from the durations in seconds and sizes in bytes of its segments. */
export function measureStream(segments: readonly { seconds: number; size: number }[]): Bitrates {
  const seconds = segments.reduce((sum, segment) => sum + segment.seconds, 0);
  const bits = segments.reduce((sum, segment) => sum + segment.size * 8, 0);
  const peak = Math.max(0, ...segments.map((segment) => (segment.size * 8) / segment.seconds));
  return { peak, average: seconds > 0 ? bits / seconds : 0 };
}

export interface MasterEntry {
  /** URI as written, relative to the playlist. */
  uri: string;
  /** The id of a Representation of DASH; absent in HLS. */
  id?: string;
  /** Bits per second, from BANDWIDTH. */
  bitrate: number;
  codecs: string;
  width?: number;
  height?: number;
}

/** Parses the streams of an HLS master playlist (RFC 8216, 4.3.4.2) in order, and ignores all other lines. */
export function parseMasterPlaylist(text: string): MasterEntry[] {
  const lines = text.split(/\r?\n/);
  return lines.flatMap((line, index) => {
    const list = /^#EXT-X-STREAM-INF:(.*)$/.exec(line)?.[1];
    const uri = lines.slice(index + 1).find((next) => next !== "" && !next.startsWith("#"));
    if (list === undefined || uri === undefined) return [];
    const attribute = (name: string) =>
      new RegExp(`(?:^|,)${name}=("[^"]*"|[^,]*)`).exec(list)?.[1]?.replaceAll('"', "");
    const [, width, height] = /^(\d+)x(\d+)$/.exec(attribute("RESOLUTION") ?? "") ?? [];
    const size = width && height ? { width: Number(width), height: Number(height) } : {};
    return [
      { uri, bitrate: Number(attribute("BANDWIDTH") ?? 0), codecs: attribute("CODECS") ?? "", ...size },
    ];
  });
}

/** Name of the playlist in each rendition's folder. */
export const PLAYLIST = "playlist.m3u8";

const I_FRAMES = "iframes.m3u8";

interface Segment {
  /** Path relative to the master playlist. */
  name: string;
  seconds: number;
  /** The EXTINF line, as written. */
  line: string;
}

/** Segments of a media playlist that share an init segment. */
export interface SegmentRun {
  /** Path of the init segment relative to the master playlist; null when there is none. */
  init: string | null;
  segments: Segment[];
}

/** Parses the segments of an fMP4 media playlist (RFC 8216, 4.3.3) located at `name`, and ignores all other lines. */
export function parseMediaPlaylist(name: string, text: string): SegmentRun {
  const lines = text.split(/\r?\n/);
  const map = lines.flatMap((line) => /^#EXT-X-MAP:URI="([^"]*)"/.exec(line)?.[1] ?? []);
  const segments = lines.flatMap((line, index) => {
    const seconds = Number(/^#EXTINF:([\d.]+)/.exec(line)?.[1]);
    const uri = lines.slice(index + 1).find((next) => next !== "" && !next.startsWith("#"));
    if (!(seconds > 0) || uri === undefined) return [];
    return [{ name: resolve(name, uri), seconds, line }];
  });
  return { init: map[0] === undefined ? null : resolve(name, map[0]), segments };
}

interface PlaylistFacts {
  /** Bytes of each segment up to the end of its first picture. When present, the playlist is an I-frame playlist (RFC 8216, 4.3.3.6). */
  leads?: ReadonlyMap<string, number> | undefined;
  /** URL of the segments' key, and their common initialization vector in hexadecimal; by default each has its {@link segmentIv}. */
  encryption?: { key_url: string; iv?: string } | undefined;
}

/** Returns a segment's default initialization vector in hexadecimal: its number, which players derive from its position (RFC 8216, 5.2). */
export function segmentIv(name: string): string {
  return Number(/(\d+)\.m4s$/.exec(name)?.[1] ?? 0)
    .toString(16)
    .padStart(32, "0");
}

/** Writes the media playlist of a complete on-demand stream; `folder` is its location, ending in a slash. */
export function writeMediaPlaylist(
  folder: string,
  runs: readonly SegmentRun[],
  { leads, encryption }: PlaylistFacts = {},
): string {
  const relative = (name: string) => (name.startsWith(folder) ? name.slice(folder.length) : `../${name}`);
  const lengths = runs.flatMap((run) => run.segments.map(({ seconds }) => Math.round(seconds)));
  const rangeOf = (name: string) => (leads ? [`#EXT-X-BYTERANGE:${leads.get(name)}@0`] : []);
  const keys = encryption && keyLines(encryption);
  let init: string | null = null;
  let place = 0;
  const lines = runs.flatMap((run) => {
    const map = run.init === null || run.init === init ? [] : [`#EXT-X-MAP:URI="${relative(run.init)}"`];
    init = run.init ?? init;
    const clear = map.length > 0 ? (keys?.clear() ?? []) : [];
    const segments = run.segments.flatMap(({ name, line }) => [
      ...(keys?.before(name, place++) ?? []),
      line,
      ...rangeOf(name),
      relative(name),
    ]);
    return [...clear, ...map, ...segments];
  });
  return [
    "#EXTM3U",
    "#EXT-X-VERSION:7",
    // Some players divide by the duration, so it must not be 0.
    `#EXT-X-TARGETDURATION:${Math.max(1, ...lengths)}`,
    "#EXT-X-MEDIA-SEQUENCE:0",
    "#EXT-X-PLAYLIST-TYPE:VOD",
    leads ? "#EXT-X-I-FRAMES-ONLY" : "#EXT-X-INDEPENDENT-SEGMENTS",
    ...lines,
    "#EXT-X-ENDLIST",
    "",
  ].join("\n");
}

// A key applies to later init segments too, which are in the clear. Only a segment numbered by its position has an implicit vector.
function keyLines({ key_url, iv }: NonNullable<PlaylistFacts["encryption"]>) {
  const key = `#EXT-X-KEY:METHOD=AES-128,URI="${key_url}"`;
  let current: string | null = null;
  const change = (line: string) => {
    const lines = line === current ? [] : [line];
    current = line;
    return lines;
  };
  return {
    before(name: string, place: number): string[] {
      const own = iv ?? segmentIv(name);
      const isPlace = iv === undefined && Number.parseInt(own, 16) === place;
      return change(isPlace ? key : `${key},IV=0x${own}`);
    },
    clear: () => (current === null ? [] : change("#EXT-X-KEY:METHOD=NONE")),
  };
}

/** Returns the paths, relative to the master playlist, of all files referenced by a playlist or manifest located at `name`. */
export function referencedPaths(name: string, text: string): string[] {
  return [...new Set(manifestEntries(text).map((uri) => resolve(name, uri)))];
}

function resolve(playlist: string, uri: string): string {
  return new URL(uri, `http://stream/${playlist}`).pathname.slice(1);
}

/** A playlist or manifest; its name is a path relative to the output folder. */
export interface Manifest {
  name: string;
  text: string;
}

export interface ManifestFacts extends DashFacts {
  /** Encryption of the HLS segments; absent when they are in the clear. */
  encryption?: PlaylistFacts["encryption"];
  /** Bytes of each video segment up to the end of its first picture; absent for no I-frame playlists. */
  leads?: ReadonlyMap<string, number> | undefined;
}

/** Writes all playlists and manifests of an adaptive video format; the main one comes last. */
export function writeManifests(format: AdaptiveFormat, facts: ManifestFacts): Manifest[] {
  return FORMATS.adaptive_video[format].manifests.flatMap((name) =>
    name === MANIFEST ? [{ name, text: writeDash(facts) }] : writePlaylists(facts),
  );
}

function writePlaylists({ pictures, sounds, texts = [], fps, leads, encryption }: ManifestFacts): Manifest[] {
  const all = [...pictures, ...sounds].map((stream) => ({
    ...stream,
    uri: `${stream.folder}/${PLAYLIST}`,
  }));
  const streams = pictures.length > 0 ? all.slice(0, pictures.length) : all;
  const i_frames =
    leads &&
    pictures.map((stream) => {
      const segments = stream.runs.flatMap((run) => run.segments);
      const ranges = segments.map(({ name, seconds }) => ({ seconds, size: leads.get(name) ?? 0 }));
      return { ...stream, uri: `${stream.folder}/${I_FRAMES}`, rate: measureStream(ranges) };
    });
  const master = writeMaster({ streams, sounds: pictures.length > 0 ? sounds : [], texts, fps, i_frames });
  return [
    ...all.map(({ uri, folder, runs }) => ({
      name: uri,
      text: writeMediaPlaylist(`${folder}/`, runs, { encryption }),
    })),
    ...(i_frames ?? []).map(({ uri, folder, runs }) => ({
      name: uri,
      text: writeMediaPlaylist(`${folder}/`, runs, { leads }),
    })),
    ...texts.map(({ folder, segments }) => ({
      name: `${folder}/${PLAYLIST}`,
      text: writeMediaPlaylist(`${folder}/`, [{ init: null, segments: [...segments] }]),
    })),
    { name: MASTER, text: master },
  ];
}

/** A text track of adaptive video. */
export interface StreamText {
  /** Folder of its files. */
  folder: string;
  /** Label in the player's menu, unique among the tracks. */
  name: string;
  /** BCP 47 tag; undefined when unknown. */
  language?: string | undefined;
  /** Whether players show it by default; at most one track has this. */
  default?: true | undefined;
  forced?: true | undefined;
  /** The segments of its playlist. */
  segments: readonly Segment[];
}

/** Writes the text tracks of a master playlist (RFC 8216, 4.3.4.1). */
export function writeTextGroup(texts: readonly StreamText[]): string[] {
  return texts.map(({ folder, name, language, default: isDefault, forced }) => {
    const facts = [
      "TYPE=SUBTITLES",
      'GROUP-ID="subtitles"',
      `NAME="${name}"`,
      ...(language ? [`LANGUAGE="${language}"`] : []),
      `DEFAULT=${isDefault ? "YES" : "NO"}`,
      "AUTOSELECT=YES",
      `FORCED=${forced ? "YES" : "NO"}`,
      `URI="${folder}/${PLAYLIST}"`,
    ];
    return `#EXT-X-MEDIA:${facts.join(",")}`;
  });
}

/** Returns the path of a text track's file for one Period of a DASH manifest; its times count from the start of the Period. */
export function periodText(folder: string, period: number): string {
  return `${folder}/period_${period}.vtt`;
}

const BANDWIDTH = 256;

/** Writes the text tracks of a Period, each as a single file: players disagree on segmented plain WebVTT. */
export function writeTextSets(texts: readonly StreamText[], period: number): string[] {
  return texts.flatMap(({ folder, name, language, default: isDefault, forced }) => {
    const roles = [forced ? "forced-subtitle" : "subtitle", ...(isDefault ? ["main"] : [])];
    return [
      `    <AdaptationSet contentType="text" mimeType="text/vtt"${language ? ` lang="${language}"` : ""}>`,
      `      <Label>${escapeXml(name)}</Label>`,
      ...roles.map((role) => `      <Role schemeIdUri="${ROLES}" value="${role}"/>`),
      `      <Representation id="${folder}" bandwidth="${BANDWIDTH}">`,
      `        <BaseURL>${periodText(folder, period)}</BaseURL>`,
      "      </Representation>",
      "    </AdaptationSet>",
    ];
  });
}

function escapeXml(text: string): string {
  // XML forbids control characters, even as character references.
  return text
    .replaceAll(/\p{Cc}/gu, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;");
}

/**
 * Gives each track a unique label for the player's menu: its title, its language in that language, or its number. Languages are
 * canonical BCP 47 tags, undefined when unknown.
 */
export function nameTracks(
  tracks: readonly { title?: string | undefined; language?: string | undefined }[],
): string[] {
  const names = new Set<string>();
  return tracks.map(({ title = "", language }, index) => {
    const name = quotable(title) || quotable(nameOf(language)) || `Track ${index + 1}`;
    let own = name;
    for (let count = 2; names.has(own); count++) own = `${name} ${count}`;
    names.add(own);
    return own;
  });
}

// Quotes and line breaks (in players Unicode's too) would end a playlist attribute; XML forbids the last two.
function quotable(name: string): string {
  return name.replaceAll(/["\p{Cc}\p{Zl}\p{Zp}\ufffe\uffff]/gu, "");
}

function nameOf(language: string | undefined): string {
  if (language === undefined) return "";
  return new Intl.DisplayNames([language], { type: "language" }).of(language) ?? language;
}
