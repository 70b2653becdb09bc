import type { Cue } from "./cue.ts";
import { readMarkup, writeMarkup } from "./markup.ts";
import { LONGEST_TEXT, timedBlocks } from "./timed-blocks.ts";

/** Converts cue text of WebVTT to what a {@link Cue} holds; null when nothing is left. */
export function readWebvttText(text: string, settings = ""): Pick<Cue, "text" | "settings"> | null {
  const marked = writeMarkup(readMarkup(text));
  return marked === "" ? null : { text: marked, settings: settings.replaceAll(/\s+/g, " ").trim() };
}

/** Parses a block of WebVTT in WebM: an identifier, settings and the text, a line each. */
export function readWebvttBlock(block: string): Pick<Cue, "text" | "settings"> | null {
  const [, settings = "", ...lines] = block.replaceAll(/\r\n?/g, "\n").split("\n");
  return readWebvttText(lines.join("\n"), settings);
}

// Regions, which are defined in the file's header, are not kept.
const SETTING = /^(?:vertical|line|position|size|align):[\w.,%-]+$/;

/** Parses a file of WebVTT; null stands for a text that is too long. Where its header maps its times to those of a stream, that is ignored. */
export function* readWebvtt(file: string): Generator<Cue | null, void> {
  for (const { start, end, settings, body } of timedBlocks(file)) {
    const blank = body.indexOf("\n\n");
    const marked = blank < 0 ? body : body.slice(0, blank);
    if (marked.length + settings.length > LONGEST_TEXT) yield null;
    else {
      const kept = settings.split(/\s+/).filter((each) => SETTING.test(each));
      const text = readWebvttText(marked, kept.join(" "));
      if (text) yield { start, end, ...text };
    }
  }
}

/** Writes such a block. */
export function writeWebvttBlock({ text, settings }: Cue): Uint8Array {
  return new TextEncoder().encode(`\n${settings}\n${text}`);
}

/**
 * Writes a file of WebVTT. As a segment of HLS (RFC 8216, 3.5) it says that its times are those of the stream, whose clock starts
 * at 0.
 */
export function writeWebvtt(cues: readonly Cue[], segment = false): string {
  const head = segment ? "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000\n" : "WEBVTT\n";
  const blocks = cues.map(({ start, end, text, settings }) => {
    return `${clock(start)} --> ${clock(end)}${settings ? ` ${settings}` : ""}\n${text}\n`;
  });
  // ffmpeg joins the segments of a playlist, whose cues end with an empty line.
  return [head, ...blocks, ""].join("\n");
}

function clock(ms: number): string {
  const [hours, minutes] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60];
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(hours)}:${two(minutes)}:${((ms % 60_000) / 1000).toFixed(3).padStart(6, "0")}`;
}
