import type { Source, SourceStream } from "../../core/source.ts";
import { firstSubtitles, type SubtitlesAsked } from "../further/burn.ts";
import type { Plan, SubtitlePlan } from "../plan.ts";

/** Codecs of text that are read from a format. */
const READABLE: Readonly<Record<string, ReadonlySet<string>>> = {
  ...{ mp4: new Set(["mov_text"]), mov: new Set(["mov_text"]) },
  ...{ matroska: new Set(["subrip", "ass", "webvtt"]), webm: new Set(["webvtt"]) },
};
const PICTURES: ReadonlySet<string> = new Set(["hdmv_pgs_subtitle", "dvd_subtitle", "dvb_subtitle", "xsub"]);

/** Plans the text tracks of an output: all of the source's that can be read, in their order, and then those of files. */
export function planSubtitles(source: Source, options: SubtitlesAsked): Pick<Plan, "subtitles"> {
  const files = planFiles(options);
  const taken = files.some((track) => track.default);
  const codecs = READABLE[source.format];
  const readable = ({ kind, codec }: SourceStream) => kind === "subtitle" && codecs?.has(codec ?? "");
  // The index of a fragmented file does not list its samples.
  const found = source.fragmented ? [] : (source.streams ?? []).filter(readable);
  const own = found.map(({ index, language, title, default: shown, forced }) => ({
    stream: index,
    ...(language && { language }),
    ...(title && { title }),
    ...(shown && !taken && { default: shown }),
    ...(forced && { forced }),
  }));
  const subtitles = [...own, ...files];
  return subtitles.length > 0 ? { subtitles } : {};
}

function planFiles(options: SubtitlesAsked): SubtitlePlan[] {
  const { subtitles = [] } = options;
  const first = firstSubtitles(options);
  return subtitles.flatMap(({ language, label, default: shown, burn }, at) => {
    const facts = {
      ...(language && { language }),
      ...(label && { title: label }),
      ...(shown && { default: shown }),
    };
    return burn ? [] : [{ file: first + at, ...facts }];
  });
}

/** Returns the bytes of the files of subtitles of a request, of whose further inputs `sources` are known. */
export function subtitleBytes(options: SubtitlesAsked, sources: readonly Source[] = []): number {
  return planFiles(options).reduce((sum, { file = 0 }) => sum + (sources[file]?.filesize ?? 0), 0);
}

// Of a track whose bitrate is unknown, several times that of the dialogue of a film.
const USUAL_BITS = 400;
// Texts are short, and each takes about as much again for its times and its place.
const WRITTEN = 2;

/** Returns the bytes that the source's own text tracks take in the output of a plan, about. */
export function ownTextBytes({ subtitles = [], duration, speed = 1 }: Plan, source: Source): number {
  const seconds = (duration ?? 0) * speed;
  const bits = subtitles.reduce((sum, { stream }) => {
    if (stream === undefined) return sum;
    const own = source.streams?.find(({ index }) => index === stream);
    const lasts = own?.duration ?? source.duration ?? seconds;
    return sum + (own?.bitrate ?? USUAL_BITS) * lasts * Math.min(1, seconds / (source.duration ?? seconds));
  }, 0);
  return (bits / 8) * WRITTEN;
}

/** Whether a track of subtitles is one of pictures, which no output holds. */
export function isPictured({ codec }: SourceStream): boolean {
  return PICTURES.has(codec ?? "");
}
