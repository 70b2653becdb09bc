import type { Source } from "../../src/media/source.ts";
import type { Step } from "../../src/runs/step.ts";
import type { Task } from "../../src/runs/task.ts";

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
