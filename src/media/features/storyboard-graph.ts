import { formatClock } from "../clock.ts";
import { pictureFilters } from "../features.ts";
import { filterContext } from "../ffmpeg/color.ts";
import { imageArgs, imageScaling } from "../ffmpeg/image-graph.ts";
import { spriteName, spritePattern } from "../ffmpeg/output-files.ts";
import { chain, cleanupFilters } from "../ffmpeg/picture-graph.ts";
import type { Toolset } from "../ffmpeg/toolset.ts";
import type { Trim } from "../ffmpeg/trim.ts";
import { videoStream } from "../main-tracks.ts";
import type { Chunk, ImagePlan, Plan } from "../plan.ts";
import type { Source } from "../source.ts";
import type { Sprite } from "./storyboard.ts";

/** Names of a storyboard's index files, the main one first. */
export const STORYBOARD = { vtt: "storyboard.vtt", json: "storyboard.json" } as const;

/** Returns the arguments after the input that write the sprites of a storyboard, or a series of stills, to a folder. */
export function storyboardArgs(
  plan: Plan,
  chunk: Chunk,
  source: Source,
  { image, sprite, cut, files }: { image: ImagePlan; sprite: Sprite; cut: Trim; files: readonly string[] },
  folder: string,
  toolset: Toolset,
): string[] {
  const context = filterContext(source, toolset.engine);
  const profile = pictureFilters("profile", image, context);
  const filters = [
    ...cut.video,
    ...pictureFilters("clean", image, context),
    ...pickFilters(sprite, chunk.keyframes_only === true),
    ...cleanupFilters({ ...image, clean: [], profile, fps: null, length: null, ...image.geometry }),
    ...imageScaling(plan, source, image, toolset, files),
    ...(plan.kind === "storyboard" ? [`tile=${sprite.columns}x${sprite.rows}`] : []),
  ];
  return [
    "-filter_complex",
    `[${videoStream(source)}]${chain(filters)}[video]`,
    "-map",
    "[video]",
    ...imageArgs(plan, source, image, toolset),
    "-map_metadata",
    "-1",
    "-map_chapters",
    "-1",
    ...toolset.output,
    "-f",
    "image2",
    `${folder}/${spritePattern(plan)}`,
  ];
}

// Rounding up assigns a picture to the next tile, where it replaces earlier ones, so a tile shows what a viewer sees at its time.
function pickFilters({ interval, tiles }: Sprite, keyframes: boolean): string[] {
  const rate = `1000/${Math.round(interval * 1000)}`;
  return [
    `fps=fps=${rate}:start_time=0:round=${keyframes ? "down" : "up"}:eof_action=pass`,
    "tpad=stop=-1:stop_mode=clone",
    `trim=end_frame=${tiles}`,
  ];
}

/** The position of a tile, and its span in seconds from the start of the output. */
export interface Tile {
  start: number;
  end: number;
  /** Name of its sprite. */
  sheet: string;
  x: number;
  y: number;
}

/** Writes a storyboard's WebVTT, whose cues refer to tiles by media fragments, and its JSON. */
export function writeStoryboard(
  plan: Plan,
  { geometry }: ImagePlan,
  sprite: Sprite,
): { vtt: string; json: string } {
  const { width, height } = geometry;
  const { columns, rows, interval } = sprite;
  const tiles = listTiles(plan, { width, height }, sprite);
  const cues = tiles.map(
    ({ start, end, sheet: name, x, y }) =>
      `${timestamp(start)} --> ${timestamp(end)}\n${name}#xywh=${x},${y},${width},${height}\n`,
  );
  const sheets = Array.from({ length: sprite.sheets }, (_, index) => spriteName(plan, index));
  const facts = { duration: plan.duration, interval, width, height, columns, rows, sheets, tiles };
  return { vtt: ["WEBVTT\n", ...cues].join("\n"), json: JSON.stringify(facts) };
}

function listTiles(plan: Plan, size: { width: number; height: number }, sprite: Sprite): Tile[] {
  const { interval, tiles, columns, rows } = sprite;
  return Array.from({ length: tiles }, (_, index) => {
    const cell = index % (columns * rows);
    const start = Math.round(index * interval * 1000) / 1000;
    const end = index === tiles - 1 ? (plan.duration ?? start + interval) : start + interval;
    return {
      start,
      end: Math.round(end * 1000) / 1000,
      sheet: spriteName(plan, Math.floor(index / (columns * rows))),
      x: (cell % columns) * size.width,
      y: Math.floor(cell / columns) * size.height,
    };
  });
}

function timestamp(seconds: number): string {
  return formatClock(Math.round(seconds * 1000));
}
