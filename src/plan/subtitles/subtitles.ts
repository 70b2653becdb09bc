import type { Source, SourceStream } from "../../core/source.ts";
import type { Plan } from "../plan.ts";

/** Codecs of text that are read from a format. */
const READABLE: Readonly<Record<string, ReadonlySet<string>>> = {
  ...{ mp4: new Set(["mov_text"]), mov: new Set(["mov_text"]) },
  ...{ matroska: new Set(["subrip", "ass", "webvtt"]), webm: new Set(["webvtt"]) },
};
const PICTURES: ReadonlySet<string> = new Set(["hdmv_pgs_subtitle", "dvd_subtitle", "dvb_subtitle", "xsub"]);

/** Plans the text tracks of an output: all of the source's that can be read, in their order. */
export function planSubtitles(source: Source): Pick<Plan, "subtitles"> {
  const codecs = READABLE[source.format];
  const readable = ({ kind, codec }: SourceStream) => kind === "subtitle" && codecs?.has(codec ?? "");
  // The index of a fragmented file does not list its samples.
  const found = source.fragmented ? [] : (source.streams ?? []).filter(readable);
  const subtitles = found.map(({ index, language, title, default: shown, forced }) => ({
    stream: index,
    ...(language && { language }),
    ...(title && { title }),
    ...(shown && { default: shown }),
    ...(forced && { forced }),
  }));
  return subtitles.length > 0 ? { subtitles } : {};
}

/** Whether a track of subtitles is one of pictures, which no output holds. */
export function isPictured({ codec }: SourceStream): boolean {
  return PICTURES.has(codec ?? "");
}
