import type { EncodeKind } from "../core/formats.ts";
import type { OptionsOf } from "../core/options.ts";
import type { Dropped, Source, SourceStream } from "../core/source.ts";
import { CHAPTER_PLACES, holdsCover, holdsTag, isDescriptive, type MetadataMode } from "../core/tags.ts";
import { isPictured } from "../media/features/subtitles.ts";
import { sourceForTrack } from "../media/features/track.ts";
import { createPlan } from "./create-plan.ts";
import { type Plan, soundsOf } from "./plan.ts";
import { audibleTrack } from "./sound/plan-sound.ts";

/**
 * Lists what the output of these options would lack of a source.
 *
 * @throws what {@link createPlan} throws.
 */
export function dropped<K extends EncodeKind>(kind: K, options: OptionsOf<K>, source: Source): Dropped[] {
  const metadata = "metadata" in options ? options.metadata : undefined;
  return listDropped(createPlan(source, kind, options), source, metadata);
}

/** Lists what a plan leaves out of a source. */
export function listDropped(plan: Plan, source: Source, metadata: MetadataMode = "clean"): Dropped[] {
  const others = plan.concat?.slice(1) ?? [];
  return [
    ...listOwn(plan, source, metadata),
    ...others.flatMap((part) =>
      listOwn(planOfPart(plan, part.source), part.source, metadata).map((lost) => ({
        ...lost,
        part: part.input,
      })),
    ),
  ];
}

// Of the later videos of a joined one, the output has only the pictures and one sound track.
function planOfPart({ tags, cover, subtitles, sound_track, ...plan }: Plan, part: Source): Plan {
  // A tag that all of them have is not lost.
  const shared = Object.entries(tags ?? {}).filter(([name, value]) => part.tags?.[name] === value);
  const track = audibleTrack(part) ?? 0;
  return { ...plan, tags: Object.fromEntries(shared), ...(track > 0 && { sound_track: track }) };
}

function listOwn(plan: Plan, source: Source, metadata: MetadataMode): Dropped[] {
  const streams = source.streams ?? [];
  return [
    ...streams.flatMap((stream): Dropped[] => {
      const reason = reasonOf(stream, plan, streams, metadata);
      const { kind, index, language } = stream;
      return reason === null ? [] : [{ kind, index, ...(language && { language }), reason }];
    }),
    ...mixedChannels(plan, source),
    ...lostChapters(plan, source, metadata),
    ...lostTags(plan, source, metadata),
  ];
}

function reasonOf(
  stream: SourceStream,
  plan: Plan,
  streams: readonly SourceStream[],
  metadata: MetadataMode,
): Dropped["reason"] | null {
  const { kind, index, codec } = stream;
  switch (kind) {
    case "video":
    case "audio": {
      const asked = kind === "video" ? plan.video !== null || plan.image !== null : plan.audio !== null;
      const taken = kind === "audio" ? soundsOf(plan).map(({ track }) => track) : [0];
      const isTaken = asked && taken.includes(streams.filter((other) => other.kind === kind).indexOf(stream));
      // The sound of joined videos may be another's alone.
      const isSilent = kind === "audio" && codec === null && joins(plan);
      if (isTaken && !isSilent) return null;
      if (kind === "audio" && codec === null) return unsupported(plan);
      return asked ? "one_track" : "asked";
    }
    case "cover":
      if (plan.cover === index) return null;
      if (isAlone(plan) || metadata === "strip") return "asked";
      if (!holdsCover(plan.format)) return "no_place_in_format";
      return plan.cover === undefined ? "not_supported" : "one_track";
    case "subtitle":
      if (plan.subtitles?.some((track) => track.stream === index)) return null;
      return plan.video && isPictured(stream) ? "no_place_in_format" : unsupported(plan);
    default:
      return unsupported(plan);
  }
}

function unsupported(plan: Plan): Dropped["reason"] {
  return isAlone(plan) ? "asked" : "not_supported";
}

// A request for a picture or a waveform excludes everything else.
function isAlone({ image, waveform }: Plan): boolean {
  return image !== null || waveform !== undefined;
}

// The other videos may not have been probed yet.
function joins({ further = [] }: Plan): boolean {
  return further.some(({ role }) => role === "concat");
}

function mixedChannels(plan: Plan, source: Source): Dropped[] {
  if (plan.waveform) return [];
  return soundsOf(plan).flatMap(({ track, audio }): Dropped[] => {
    const heard = sourceForTrack(source, { sound_track: track });
    const stream = heard.streams?.find(({ kind }) => kind === "audio");
    if (audio.mode !== "encode" || audio.channels >= (heard.audio?.channels ?? 0)) return [];
    return [{ kind: "channels", ...(stream && { index: stream.index }), reason: "downmixed" }];
  });
}

function lostChapters(plan: Plan, source: Source, metadata: MetadataMode): Dropped[] {
  if (!source.chapters) return [];
  if (plan.kind !== "video" && plan.kind !== "audio")
    return [{ kind: "chapters", reason: unsupported(plan) }];
  if (metadata === "strip") return [{ kind: "chapters", reason: "asked" }];
  if (joins(plan)) return [{ kind: "chapters", reason: "not_supported" }];
  return CHAPTER_PLACES.has(plan.format) ? [] : [{ kind: "chapters", reason: "no_place_in_format" }];
}

function lostTags(plan: Plan, source: Source, metadata: MetadataMode): Dropped[] {
  const names = Object.keys(source.tags ?? {}).filter((name) => plan.tags?.[name] === undefined);
  if (names.length === 0) return [];
  if (isAlone(plan) || metadata === "strip") return [{ kind: "tags", reason: "asked" }];
  const wanted = (name: string) => metadata === "keep" || isDescriptive(name);
  const reasons = names.map((name) => {
    if (!wanted(name)) return "private";
    // Only those of a later video of a joined one are left out for no reason of their own.
    return holdsTag(plan.format, name) ? "not_supported" : "no_place_in_format";
  });
  return [...new Set(reasons)].sort().map((reason) => ({ kind: "tags", reason }));
}
