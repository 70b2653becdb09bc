import type { Forecast, Source } from "../../src/index.ts";
import { bytes } from "./quantities.ts";

interface Lowered {
  width?: number | string | undefined;
  height?: number | string | undefined;
  fps?: number | undefined;
  quality?: string | undefined;
}

const SOUND: Readonly<Record<string, string>> = {
  very_low: "the lowest quality",
  low: "low quality",
  medium: "medium quality",
  high: "high quality",
};

/** Describes what is lowered to keep a file below a size; null when nothing is. */
export function loweredWords(
  asked: Lowered,
  settled: Lowered,
  { width, height }: Pick<Forecast, "width" | "height">,
  { codecs }: Pick<Source, "codecs">,
  target_size: number,
): string | null {
  const isSmaller = asked.width !== settled.width || asked.height !== settled.height;
  const isQuieter =
    codecs?.audio !== null &&
    settled.quality !== undefined &&
    settled.quality !== (asked.quality ?? "medium");
  const changes = [
    isSmaller && width && height && `the picture shrinks to ${width} × ${height}`,
    asked.fps !== settled.fps && `motion drops to ${Number(settled.fps?.toPrecision(3))} frames per second`,
    isQuieter && `the sound gets ${SOUND[settled.quality ?? ""] ?? settled.quality}`,
  ].filter((change) => typeof change === "string");
  if (changes.length === 0) return null;
  const list = changes.length > 1 ? `${changes.slice(0, -1).join(", ")} and ${changes.at(-1)}` : changes[0];
  return `To stay below ${bytes(target_size)}, ${list}.`;
}
