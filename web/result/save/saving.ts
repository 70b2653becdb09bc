import { bytes } from "../../words/quantities.ts";

/**
 * Describes how large a file was, is now, and what that saves: `12.4 MB → 3.1 MB, 75 % smaller`; also when it grew. Sizes
 * are in bytes.
 */
export function saving(before: number, after: number): string {
  return `${bytes(before)} → ${bytes(after)}, ${change(before, after)}`;
}

function change(before: number, after: number): string {
  if (after === before || before === 0) return after === before ? "as large as before" : "larger";
  const percent = Math.round((Math.abs(after - before) / before) * 100);
  if (after < before) {
    // Never claim to save all of it.
    if (percent >= 100) return "more than 99 % smaller";
    return percent === 0 ? "less than 1 % smaller" : `${percent} % smaller`;
  }
  if (percent >= 100) return `${Number((after / before).toPrecision(2))} times as large`;
  return percent === 0 ? "less than 1 % larger" : `${percent} % larger`;
}
