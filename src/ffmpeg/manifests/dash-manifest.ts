import { ntscRate } from "../../media/features/fps.ts";
import { type StreamText, writeTextSets } from "../text/stream-text.ts";
import type { Bitrates, MasterEntry } from "./master-playlist.ts";
import type { SegmentRun } from "./media-playlist.ts";

/** A stream of pictures or sound, and where its segments are. */
export interface DashStream {
  /** Folder of its files, which also names its Representation. */
  folder: string;
  /** Its codec as in RFC 6381. */
  codecs: string;
  width?: number | undefined;
  height?: number | undefined;
  rate: Bitrates;
  /** In order of time, from the start of the stream. */
  runs: readonly SegmentRun[];
}

export interface DashSound extends DashStream {
  channels: number;
  /** Seconds that the encoder adds before the first sample: playlists count them, players skip them. */
  priming: number;
  /** As in BCP 47; undefined when unknown. */
  language?: string | undefined;
  /** For a player's menu. */
  name: string;
}

export interface DashFacts {
  pictures: readonly DashStream[];
  /** The usual one first. */
  sounds: readonly DashSound[];
  /** Absent without any. */
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

// Ticks per second: HLS playlists state microseconds.
const TIMESCALE = 1_000_000;

const ROLES = "urn:mpeg:dash:role:2011";
const CHANNELS = "urn:mpeg:dash:23003:3:audio_channel_configuration:2011";

/**
 * Writes the DASH manifest (ISO/IEC 23009-1) of a complete on-demand stream, with paths relative to it. A Representation has one
 * init segment and consecutive numbers, so a new Period starts wherever the pictures have another init segment or skip a number.
 */
export function writeDash(facts: DashFacts): string {
  const { texts = [], fps } = facts;
  const { video, audio, all, starts, end } = timesOf(facts);
  const longest = longestOf(all);
  const periods = starts.flatMap((start, index) => {
    const within = { start, end: starts[index + 1] ?? end };
    return [
      `  <Period id="${index}" start="${lasting(start)}">`,
      ...adaptationSet({ kind: "video" }, fps ? ` frameRate="${frameRate(fps)}"` : "", within, video),
      ...audio.flatMap((stream, place) =>
        adaptationSet(
          setOf(stream, place, audio.length),
          "",
          within,
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
    `<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="static" mediaPresentationDuration="${lasting(end)}" maxSegmentDuration="${lasting(longest)}" minBufferTime="${lasting(longest)}">`,
    ...periods,
    "</MPD>",
    "",
  ].join("\n");
}

/** Returns the Periods of the manifest of these streams, in seconds. */
export function dashPeriods(facts: Pick<DashFacts, "pictures" | "sounds">): Within[] {
  const { starts, end } = timesOf(facts);
  return starts.map((start, index) => ({
    ...{ start: start / TIMESCALE, end: (starts[index + 1] ?? end) / TIMESCALE },
  }));
}

function timesOf({ pictures, sounds }: Pick<DashFacts, "pictures" | "sounds">) {
  const video = pictures.map((stream) => timed(stream));
  const audio = sounds.map((sound) => ({ ...sound, ...timed(sound, sound.priming) }));
  const all = [...video, ...audio];
  reachEnd(all);
  const starts = [...new Set([0, ...(video.length > 0 ? video : audio).flatMap(breaksOf)])];
  return { video, audio, all, starts: starts.sort((a, b) => a - b), end: Math.max(0, ...all.map(endOf)) };
}

interface Within {
  start: number;
  end: number;
}

/** What players use to choose an AdaptationSet. */
interface SetFacts {
  kind: "video" | "audio";
  /** Further attributes, each after a space. */
  attributes?: string;
  inside?: readonly string[];
}

// Among several, a player begins with the main one.
function setOf({ language, name }: DashSound, place: number, count: number): SetFacts {
  const role = place === 0 ? "main" : "alternate";
  const priority = count > 1 && place === 0 ? ' selectionPriority="2"' : "";
  return {
    kind: "audio",
    attributes: `${language ? ` lang="${language}"` : ""}${priority}`,
    inside:
      count > 1
        ? [`      <Label>${escaped(name)}</Label>`, `      <Role schemeIdUri="${ROLES}" value="${role}"/>`]
        : [],
  };
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

function adaptationSet(
  { kind, attributes = "", inside: facing = [] }: SetFacts,
  facts: string,
  within: Within,
  streams: readonly TimedStream[],
  inside: readonly string[] = [],
): string[] {
  const representations = streams
    .toSorted((a, b) => b.rate.peak - a.rate.peak)
    .flatMap((stream) => {
      // Segments of sound begin near those of the pictures, but not exactly there.
      const own = stream.segments.filter(({ time, duration }) => isWithin(within, time + duration / 2));
      return own.length === 0 ? [] : representation(stream, own, within.start, facts, inside);
    });
  if (representations.length === 0) return [];
  return [
    `    <AdaptationSet contentType="${kind}" mimeType="${kind}/mp4" segmentAlignment="true" startWithSAP="1"${attributes}>`,
    ...facing,
    ...representations,
    "    </AdaptationSet>",
  ];
}

function representation(
  { folder, codecs, width, height, rate }: DashStream,
  segments: readonly TimedSegment[],
  start: number,
  facts: string,
  inside: readonly string[],
): string[] {
  const [first] = segments;
  const size = width && height ? ` width="${width}" height="${height}"` : "";
  const offset = start > 0 ? ` presentationTimeOffset="${start}"` : "";
  return [
    `      <Representation id="${folder}" codecs="${codecs}" bandwidth="${Math.ceil(rate.peak)}"${size}${facts}>`,
    ...inside,
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

// Where one track ends a little before another, dash.js moves viewers who seek behind it back; with the last segment as long as the
// stream it knows that there is nothing to wait for.
function reachEnd(streams: readonly TimedStream[]): void {
  const [end, longest] = [Math.max(...streams.map(endOf)), longestOf(streams)];
  for (const { segments } of streams) {
    const last = segments.at(-1);
    if (last && end - last.time - last.duration < longest) last.duration = end - last.time;
  }
}

function longestOf(streams: readonly TimedStream[]): number {
  return Math.max(0, ...streams.flatMap(({ segments }) => segments.map(({ duration }) => duration)));
}

function breaksOf({ segments }: TimedStream): number[] {
  return segments.flatMap(({ time, init, number }, index) => {
    const before = segments[index - 1];
    return before && (before.init !== init || before.number + 1 !== number) ? [time] : [];
  });
}

function endOf({ segments }: TimedStream): number {
  const last = segments.at(-1);
  return last ? last.time + last.duration : 0;
}

function isWithin({ start, end }: Within, time: number): boolean {
  return time >= start && time < end;
}

function lasting(time: number): string {
  return `PT${Number((time / TIMESCALE).toFixed(6))}S`;
}

function frameRate(fps: number): string {
  const whole = ntscRate(fps);
  if (whole !== null) return `${whole * 1000}/1001`;
  return Number.isInteger(fps) ? String(fps) : `${Math.round(fps * 1000)}/1000`;
}

/** Parses the streams of a DASH manifest that Framewright wrote, as those of a master playlist: each with the sound it is played with. */
export function parseDash(text: string): Omit<MasterEntry, "uri">[] {
  const [period = ""] = /<Period\b.*?<\/Period>/s.exec(text) ?? [];
  const sets = [...period.matchAll(/<AdaptationSet\b([^>]*)>(.*?)<\/AdaptationSet>/gs)];
  const of = (kind: string) =>
    sets
      .filter(([, facts = ""]) => facts.includes(`contentType="${kind}"`))
      .flatMap(([, , inside = ""]) => [...inside.matchAll(/<Representation\b[^>]*>/g)].map(([row]) => row));
  const [pictures, sound] = [of("video").map(entryOf), of("audio").map(entryOf)];
  const [heard] = sound.toSorted((a, b) => b.bitrate - a.bitrate);
  if (pictures.length === 0 || !heard) return pictures.length > 0 ? pictures : sound;
  return pictures.map((entry) => ({
    ...entry,
    bitrate: entry.bitrate + heard.bitrate,
    codecs: `${entry.codecs},${heard.codecs}`,
  }));
}

function entryOf(row: string): Omit<MasterEntry, "uri"> {
  const attribute = (name: string) => new RegExp(`\\s${name}="([^"]*)"`).exec(row)?.[1];
  const [width, height] = [Number(attribute("width")), Number(attribute("height"))];
  return {
    bitrate: Number(attribute("bandwidth") ?? 0),
    codecs: attribute("codecs") ?? "",
    ...(width && height ? { width, height } : {}),
  };
}
