import { extname } from "node:path";
import { parseArgs } from "node:util";
import { type EncodeKind, FORMATS } from "../../src/media/formats.ts";
import type { Source } from "../../src/media/source.ts";
import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";
import * as errors from "./errors.ts";

/** The parsed arguments of the demo. */
export interface DemoArgs {
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
export function parseDemoArgs(args: string[]): DemoArgs | null {
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
  const options: DemoArgs["options"] = {};
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

/** Shows the progress of a task. */
export interface Progress {
  show(task: Task): void;
  /** Ends the line that is being drawn. */
  end(): void;
}

const WIDTH = 24;
const MARKS = { waiting: "·", processing: "…", succeeded: "✓", failed: "✗", cancelled: "-" } as const;

/** Creates a progress bar, redrawn in place on a terminal; other streams get a line for every 10 %. */
export function createProgress(out: NodeJS.WriteStream = process.stdout): Progress {
  let started = 0;
  let last = "";
  return {
    show(task) {
      started ||= Date.now();
      const steps = task.steps.map((step) => `${step.kind} ${MARKS[step.status]}`).join("  ");
      const percent = percentOf(task);
      if (out.isTTY) {
        const filled = Math.round((percent / 100) * WIDTH);
        const bar = "█".repeat(filled) + "░".repeat(WIDTH - filled);
        const seconds = ((Date.now() - started) / 1000).toFixed(1);
        last = `${bar} ${String(percent).padStart(3)}%  ${steps}  ${seconds} s`;
        out.write(`\r\x1b[K${last.slice(0, out.columns - 1)}`);
        return;
      }
      const line = `${String(percent - (percent % 10)).padStart(3)}%  ${steps}`;
      if (line !== last) out.write(`${line}\n`);
      last = line;
    },
    end() {
      if (out.isTTY && last) out.write("\n");
    },
  };
}

/** Returns a task's progress in percent; the encode weighs as much as all other steps together, which weigh the same. */
export function percentOf(task: Task): number {
  const weights = task.steps.map(({ kind }) => (kind === task.kind ? task.steps.length - 1 : 1));
  const done = task.steps.map(({ progress }, index) => (progress ?? 0) * (weights[index] ?? 0));
  const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);
  return Math.floor(sum(done) / sum(weights));
}

/** Describes a finished task in a few lines: its output, how long it took and which encoder ran. */
export function describeTask(task: Task, path: string, files: number, bytes: number): string[] {
  const encode = task.steps.find((step) => step.kind === task.kind)?.output;
  const source = task.steps.at(-1)?.output ?? encode;
  const times = task.steps.map((step) => `${step.kind} ${took(step).toFixed(1)} s`).join(", ");
  return [
    `output    ${path}${files > 1 ? ` (${files} files)` : ""}`,
    `          ${[...facts(source ?? null), size(bytes)].join(", ")}`,
    ...(source?.renditions ?? []).map(
      ({ width, height, bitrate, codecs }) => `          ${width}x${height} at ${bitrate} bit/s, ${codecs}`,
    ),
    `time      ${took(task).toFixed(1)} s (${times})`,
    `encoder   ${encode?.encoder ?? "unknown"}${encode?.reason ? `: ${encode.reason}` : ""}`,
  ];
}

function facts(source: Source | null): string[] {
  if (!source) return [];
  const { format, width, height, duration, codecs } = source;
  return [
    format,
    ...(width && height ? [`${width}x${height}`] : []),
    ...[codecs?.video, codecs?.audio].filter((codec) => codec != null),
    ...(duration === undefined ? [] : [`${duration.toFixed(2)} s`]),
  ];
}

function took({ started_at, finished_at }: Pick<Task | Step, "started_at" | "finished_at">): number {
  return started_at === null || finished_at === null ? 0 : (finished_at - started_at) / 1000;
}

function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
