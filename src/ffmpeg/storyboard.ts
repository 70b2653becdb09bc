import type { Source } from "../core/source.ts";
import type { Sprite } from "../media/features/storyboard.ts";
import { pictureFilters } from "../media/features.ts";
import type { Chunk, ImagePlan, Plan } from "../plan/plan.ts";
import { filterContext } from "./color.ts";
import { chain, mendFilters } from "./filters.ts";
import { imageArgs, imageSizing } from "./image-args.ts";
import { sheetName, sheetPattern } from "./output.ts";
import type { Cut } from "./span.ts";
import type { Toolset } from "./toolset.ts";

/** Names of the files of a storyboard beside its sheets; the first is the one to open. */
export const STORYBOARD = { vtt: "storyboard.vtt", json: "storyboard.json" } as const;

/** Returns everything after the input that makes the sheets of a storyboard, or several stills, in a folder. */
export function storyboardArgs(
  plan: Plan,
  chunk: Chunk,
  source: Source,
  { image, sheet, cut }: { image: ImagePlan; sheet: Sprite; cut: Cut },
  folder: string,
  toolset: Toolset,
): string[] {
  const filters = [
    ...cut.video,
    // While its neighbors are there.
    ...pictureFilters("clean", image, filterContext(source, toolset.engine)),
    ...pickFilters(sheet, chunk.keyframes_only === true),
    ...mendFilters({ ...image, clean: [], fps: null, length: null, ...image.geometry }),
    ...imageSizing(plan, source, image, toolset),
    ...(plan.kind === "storyboard" ? [`tile=${sheet.columns}x${sheet.rows}`] : []),
  ];
  return [
    ...["-filter_complex", `[0:V:0]${chain(filters)}[video]`, "-map", "[video]"],
    ...imageArgs(plan, image, toolset),
    ...["-map_metadata", "-1", "-map_chapters", "-1", ...toolset.output],
    ...["-f", "image2", `${folder}/${sheetPattern(plan)}`],
  ];
}

// A tile shows what a viewer sees at its time: rounded up, a picture counts for the next tile and replaces the one before it. Of
// keyframes it shows the last one of its span.
function pickFilters({ interval, tiles }: Sprite, keyframes: boolean): string[] {
  const rate = `1000/${Math.round(interval * 1000)}`;
  return [
    `fps=fps=${rate}:start_time=0:round=${keyframes ? "down" : "up"}:eof_action=pass`,
    "tpad=stop=-1:stop_mode=clone",
    `trim=end_frame=${tiles}`,
  ];
}

/** Where a tile is, and the stretch of time that it stands for, in seconds from the start of the output. */
export interface Tile {
  start: number;
  end: number;
  /** Name of its sheet. */
  sheet: string;
  x: number;
  y: number;
}

/** Writes the WebVTT of a storyboard, whose cues name tiles by media fragments, and its JSON. */
export function writeStoryboard(
  plan: Plan,
  { geometry }: ImagePlan,
  sheet: Sprite,
): { vtt: string; json: string } {
  const { width, height } = geometry;
  const { columns, rows, interval } = sheet;
  const tiles = listTiles(plan, { width, height }, sheet);
  const cues = tiles.map(
    ({ start, end, sheet: name, x, y }) =>
      `${timestamp(start)} --> ${timestamp(end)}\n${name}#xywh=${x},${y},${width},${height}\n`,
  );
  const sheets = Array.from({ length: sheet.sheets }, (_, index) => sheetName(plan, index));
  const facts = { duration: plan.duration, interval, width, height, columns, rows, sheets, tiles };
  return { vtt: ["WEBVTT\n", ...cues].join("\n"), json: JSON.stringify(facts) };
}

function listTiles(plan: Plan, size: { width: number; height: number }, sheet: Sprite): Tile[] {
  const { interval, tiles, columns, rows } = sheet;
  return Array.from({ length: tiles }, (_, index) => {
    const place = index % (columns * rows);
    const start = Math.round(index * interval * 1000) / 1000;
    const end = index === tiles - 1 ? (plan.duration ?? start + interval) : start + interval;
    return {
      start,
      end: Math.round(end * 1000) / 1000,
      sheet: sheetName(plan, Math.floor(index / (columns * rows))),
      x: (place % columns) * size.width,
      y: Math.floor(place / columns) * size.height,
    };
  });
}

function timestamp(seconds: number): string {
  const whole = Math.floor(seconds);
  const two = (value: number) => String(value).padStart(2, "0");
  const milliseconds = String(Math.round((seconds - whole) * 1000)).padStart(3, "0");
  return `${two(Math.floor(whole / 3600))}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}.${milliseconds}`;
}
