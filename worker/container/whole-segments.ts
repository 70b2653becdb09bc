import { isWhole } from "./check-segments.ts";
import { listOutput, type OutputFile } from "./put-output.ts";

const SEGMENT = /^(.+\/seg_)(\d+)\.m4s$/;

/**
 * Lists the segments that a running ffmpeg has finished: those whose successor exists and that are whole, which they are not after the
 * disk was full. Other files and the last segments are whole only after it has ended.
 */
export async function wholeSegments(
  folder: string,
  isKnown: (name: string) => boolean,
): Promise<OutputFile[]> {
  const files = await listOutput(folder, null);
  const names = new Set(files.map(({ name }) => name));
  const done: OutputFile[] = [];
  for (const file of files) {
    const [, stem, number] = SEGMENT.exec(file.name) ?? [];
    if (number === undefined || isKnown(file.name)) continue;
    const next = `${stem}${String(Number(number) + 1).padStart(number.length, "0")}.m4s`;
    if (names.has(next) && (await isWhole(file))) done.push(file);
  }
  return done;
}
