import { extname } from "node:path";
import { parseArgs } from "node:util";
import { type EncodeKind, FORMATS } from "../../src/media/formats.ts";
import { errors } from "./errors.ts";

/** The parsed arguments of the demo. */
export interface DemoWish {
  /** A file or an http(s) URL; null for a generated sample clip. */
  input: string | null;
  kind: string;
  options: Record<string, string | number>;
  /** Path of the output; null for `demo-output` with the right extension in the current folder. */
  out: string | null;
}

/** The demo's help text. */
export const DEMO_USAGE = `npm run demo -- [FILE or URL] [options]

  --kind KIND         video, audio, image, animation, storyboard, waveform, adaptive_video; default by --format or --out, else video
  --format FORMAT     such as mp4, webm, mp3, jpeg, hls; default by --out
  --codec CODEC       h264, h265, vp9, av1
  --quality QUALITY   very_low, low, medium, high, very_high
  --width, --height   pixels, or a percentage such as 50%
  --fit FIT           contain, cover, fill      --position POSITION   center, top, bottom-left, …
  --background COLOR  such as #1e90ff           --fps N
  --bitrate BITS      bits per second           --start, --end SECONDS
  --loop N            times that an animation plays
  --out PATH          default demo-output.EXTENSION here; a folder for adaptive_video and storyboard

Without FILE or URL it makes a sample clip and converts it to an MP4 640 pixels wide.`;

const TEXTS = ["format", "codec", "quality", "fit", "position", "background"] as const;
const SIZES = ["width", "height"] as const;
const NUMBERS = ["fps", "bitrate", "loop", "start", "end"] as const;

/** Parses the demo's arguments; returns null for `--help`. Throws a {@link MediaError} that names the wrong argument. */
export function parseDemoArgs(args: string[]): DemoWish | null {
  const text = { type: "string" } as const;
  const names = [...TEXTS, ...SIZES, ...NUMBERS, "kind", "out"] as const;
  const texts = Object.fromEntries(names.map((name) => [name, text])) as Record<
    (typeof names)[number],
    typeof text
  >;
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { ...texts, help: { type: "boolean", short: "h" } },
  });
  if (values.help) return null;
  if (positionals.length > 1) throw errors.tooManyInputs({ inputs: positionals });
  const options: DemoWish["options"] = {};
  for (const name of TEXTS) if (values[name] !== undefined) options[name] = values[name];
  for (const name of SIZES) {
    const value = values[name];
    if (value !== undefined) options[name] = /^\d+$/.test(value) ? Number(value) : value;
  }
  for (const name of NUMBERS) {
    const value = values[name];
    if (value === undefined) continue;
    if (!/^\d+(\.\d+)?$/.test(value)) throw errors.notANumber({ name, value });
    options[name] = Number(value);
  }
  const out = values.out ?? null;
  const guess = guessFormat(out);
  if (!values.format && guess && (!values.kind || values.kind === guess.kind)) options.format = guess.format;
  const kind = values.kind ?? kindOf(options.format) ?? "video";
  const input = positionals[0] ?? null;
  if (!input && kind === "video" && !options.width && !options.height) options.width = 640;
  return { input, kind, options, out };
}

function kindOf(format: unknown): string | undefined {
  return Object.entries(FORMATS).find(([, formats]) => String(format) in formats)?.[0];
}

// Returns the first format with this path's extension.
function guessFormat(path: string | null): { kind: string; format: string } | undefined {
  const extension = extname(path ?? "")
    .slice(1)
    .toLowerCase();
  if (!extension) return undefined;
  for (const kind of Object.keys(FORMATS) as EncodeKind[]) {
    for (const [format, facts] of Object.entries(FORMATS[kind])) {
      if (facts.extension === extension || format === extension) return { kind, format };
    }
  }
  return undefined;
}
