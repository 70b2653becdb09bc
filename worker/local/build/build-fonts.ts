import { createHash, randomUUID } from "node:crypto";
import { copyFile, cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readFont, readFontLetters, unpackFont } from "../../../src/subtitles/font.ts";
import { FONT_LIST, type FontFile } from "../../../src/subtitles/script-fonts.ts";
import { MIB } from "../../../src/util/bytes.ts";
import { ROOT } from "../settings.ts";
import { FONT_PACKAGE, SCRIPT_FONT_PACKAGES } from "./licenses.ts";

const FOLDER = join(ROOT, "dist", "fonts");

/**
 * Writes the fonts of scripts that DejaVu Sans lacks, and their list, to a folder, `dist/fonts/` by default. Skips a folder that has the
 * fonts of the same packages. `tell` receives a line about packages that are not installed.
 */
export async function buildFonts(folder = FOLDER, tell: (line: string) => void = () => {}): Promise<void> {
  const packages = await Promise.all(SCRIPT_FONT_PACKAGES.map(readPackage));
  const missing = SCRIPT_FONT_PACKAGES.filter((_, index) => packages[index] === null);
  if (missing.length > 0) tell(`These fonts are not installed: ${missing.join(", ")}. Run npm ci.`);
  const present = packages.filter((each) => each !== null);
  const versions = present.map(({ name, version }) => `${name} ${version}\n`).join("");
  if ((await readVersions(folder)) === versions) return;
  const temporary = `${folder}-${randomUUID()}`;
  await mkdir(temporary, { recursive: true });
  const hasLetter = readFontLetters(await readBytes(join(MODULES, FONT_PACKAGE, "ttf", "DejaVuSans.ttf")));
  const files: FontFile[] = [];
  for (const own of present) files.push(...(await writeSubsets(own, temporary, hasLetter)));
  await writeFile(join(temporary, FONT_LIST), JSON.stringify(files));
  await writeFile(join(temporary, VERSIONS), versions);
  for (const { name } of present.slice(0, 1))
    await copyFile(join(MODULES, name, "LICENSE"), join(temporary, "LICENSE"));
  await rm(folder, { recursive: true, force: true });
  // Another process may have finished first.
  await rename(temporary, folder).catch(() => rm(temporary, { recursive: true }));
}

/** Copies the fonts into an assets folder, unless it has them. */
export async function placeFonts(assets: string): Promise<void> {
  await buildFonts();
  const folder = join(assets, "fonts");
  if ((await readVersions(folder)) === (await readVersions(FOLDER))) return;
  await rm(folder, { recursive: true, force: true });
  await cp(FOLDER, folder, { recursive: true });
}

/** Lists the packages whose fonts a folder has. */
const VERSIONS = "versions.txt";

function readVersions(folder: string): Promise<string | null> {
  return readFile(join(folder, VERSIONS), "utf8").catch(() => null);
}

const MODULES = join(ROOT, "node_modules");

interface FontPackage {
  name: string;
  version: string;
  /** The code points of each subset, as CSS states them. */
  subsets: Record<string, string>;
}

async function readPackage(name: string): Promise<FontPackage | null> {
  const read = async (file: string) => JSON.parse(await readFile(join(MODULES, name, file), "utf8"));
  try {
    return { name, version: (await read("package.json")).version, subsets: await read("unicode.json") };
  } catch {
    return null;
  }
}

async function writeSubsets(
  { name, subsets }: FontPackage,
  folder: string,
  isCovered: (code: number) => boolean,
): Promise<FontFile[]> {
  const base = name.slice(name.indexOf("/") + 1);
  const files = Object.entries(subsets).map(async ([subset, ranges]): Promise<FontFile[]> => {
    const file = `${base}-${subset.replace(/[[\]]/g, "")}-400-normal.woff`;
    const bytes = await readBytes(join(MODULES, name, "files", file));
    const { family, hasLetter } = readFont(await unpackFont(bytes, MIB));
    const codes = codesOf(ranges).filter((code) => code > SPACE && hasLetter(code) && !isCovered(code));
    if (codes.length === 0) return [];
    await writeFile(join(folder, file), bytes);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return [{ name: file, family, size: bytes.length, sha256, ranges: rangesOf(codes) }];
  });
  return (await Promise.all(files)).flat();
}

const SPACE = 0x20;

async function readBytes(path: string): Promise<Uint8Array> {
  return new Uint8Array(await readFile(path));
}

/** Returns the code points of ranges such as `U+E01-E3A, U+200C`. */
function codesOf(ranges: string): number[] {
  return ranges.split(",").flatMap((range) => {
    const [first = 0, last = first] = range
      .trim()
      .slice(2)
      .split("-")
      .map((hex) => Number.parseInt(hex, 16));
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
}

function rangesOf(codes: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const code of codes.toSorted((a, b) => a - b)) {
    const range = ranges.at(-1);
    if (range && range[1] === code - 1) range[1] = code;
    else ranges.push([code, code]);
  }
  const hex = (code: number) => code.toString(16);
  return ranges
    .map(([first, last]) => (first === last ? hex(first) : `${hex(first)}-${hex(last)}`))
    .join(",");
}
