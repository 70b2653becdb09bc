import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { BOUNDS, FORMATS, STEP_KINDS, type StepKind } from "../../../src/media/formats.ts";
import { OPTIONS } from "../../../src/media/options.ts";
import { runMain } from "../cli.ts";
import { ROOT } from "../settings.ts";

interface OptionSchema {
  description?: string;
  type?: string;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  default?: unknown;
  items?: OptionSchema;
  anyOf?: OptionSchema[];
  properties?: Record<string, OptionSchema>;
  required?: string[];
}

interface OptionsSchema {
  properties: Record<string, OptionSchema>;
  required: string[];
}

const HEADER = `// Written by \`npm run docs:options\` from the schemas of options.ts; a test compares.
import type { AutoQuality, Fit, Flip, Position, Quality, StepKind, Turn } from "./formats.ts";
import type { CodecOf, ConcatOption, CropOption, EncryptionOption, FontOption, ImageOverlayOption, ImageTextOption, OverlayOption, PartOption, SizeOption, SubtitleOption, TextOption, TransitionOption } from "./option-shapes.ts";
import type { MetadataMode } from "./tags.ts";
`;

const FOOTER = `
interface OptionTypes {
  probe: ProbeOptions;
  ingest: NoOptions;
  video: VideoOptions;
  audio: AudioOptions;
  image: ImageOptions;
  animation: AnimationOptions;
  storyboard: StoryboardOptions;
  waveform: WaveformOptions;
  adaptive_video: AdaptiveVideoOptions;
  upload: UploadOptions;
}

/** The options of a kind. */
export type OptionsOf<K extends StepKind> = OptionTypes[K];
`;

const TYPES: Readonly<Record<string, string>> = {
  quality: "Quality",
  "video.quality": "AutoQuality",
  "image.quality": "AutoQuality",
  "animation.quality": "AutoQuality",
  rotate: "Turn",
  flip: "Flip",
  crop: "CropOption",
  encryption: "EncryptionOption",
  fit: "Fit",
  position: "Position",
  overlay: "OverlayOption",
  "image.overlay": "ImageOverlayOption",
  text: "TextOption[]",
  fonts: "FontOption[]",
  "image.text": "ImageTextOption[]",
  concat: "ConcatOption[]",
  parts: "PartOption[]",
  codecs: '("h264" | "h265" | "hevc" | "av1")[]',
  transition: "TransitionOption",
  subtitles: "SubtitleOption[]",
  metadata: "MetadataMode",
  track: "number | string",
  width: "SizeOption",
  height: "SizeOption",
};

/** Writes the TypeScript of `src/media/option-types.ts`: the options of every kind, with the descriptions, bounds and defaults of their schemas. */
export function writeOptionTypes(): string {
  const types = STEP_KINDS.map(typeOf);
  return `${HEADER}\n${types.join("\n")}${FOOTER}`;
}

function typeOf(kind: StepKind): string {
  const name = OPTIONS[kind].meta()?.id ?? "";
  const about =
    kind === "ingest" ? "Options of the kind `ingest`: none." : `Options of the kind \`${kind}\`.`;
  const { properties, required } = schemaOf(kind);
  const lines = Object.entries(properties)
    .filter(([option]) => !(kind === "video" && (option === "format" || option === "codec")))
    .map(([option, schema]) => member(kind, option, schema, required.includes(option)));
  const body = lines.length > 0 ? `{\n${lines.join("")}}` : "Record<string, never>";
  const target = kind === "video" ? `${videoTargets(properties)} & ` : "";
  return `/** ${about} */\nexport type ${name} = ${target}${body};\n`;
}

function videoTargets(properties: OptionsSchema["properties"]): string {
  const [first, ...others] = Object.keys(FORMATS.video);
  const comment = (option: string) => `/** ${optionDoc(option, properties[option] ?? {})} */\n`;
  const one = (format: string, mark: string) =>
    `{\n${comment("format")}format${mark}: "${format}"${mark && " | undefined"};\n${comment("codec")}codec?: CodecOf<"${format}"> | undefined;\n}`;
  return `(${[one(first ?? "", "?"), ...others.map((format) => one(format, ""))].join(" | ")})`;
}

function member(kind: StepKind, option: string, schema: OptionSchema, required: boolean): string {
  const typeName = isPixels(option, schema) ? undefined : (TYPES[`${kind}.${option}`] ?? TYPES[option]);
  return property(option, { schema, type: typeName ?? typeText(schema), required });
}

function property(
  name: string,
  { schema, type, required }: { schema: OptionSchema; type: string; required: boolean },
): string {
  const fallback =
    schema.default === undefined ? "" : `\n   *\n   * @default ${JSON.stringify(schema.default)}`;
  return `  /**\n   * ${optionDoc(name, schema)}${fallback}\n   */\n  ${name}${required ? "" : "?"}: ${type}${required ? "" : " | undefined"};\n`;
}

/** Returns the TypeScript type of a JSON schema. */
export function typeText(schema: OptionSchema): string {
  const { items, anyOf, properties, required = [] } = schema;
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(" | ");
  if (anyOf) return [...new Set(anyOf.map(typeText))].join(" | ");
  if (items) return `(${typeText(items)})[]`;
  if (!properties) return schema.type === "integer" ? "number" : (schema.type ?? "unknown");
  const fields = Object.entries(properties).map(([name, each]) =>
    property(name, { schema: each, type: typeText(each), required: required.includes(name) }),
  );
  return `{\n${fields.join("")}}`;
}

function isPixels(option: string, { type }: OptionSchema): boolean {
  return (option === "width" || option === "height") && type === "integer";
}

function optionDoc(option: string, schema: OptionSchema): string {
  const { description = "", minimum, maximum } = schema;
  const { pixels, percent } = BOUNDS;
  const bounds =
    (option === "width" || option === "height") && !isPixels(option, schema)
      ? ` ${pixels.min} to ${pixels.max.toLocaleString("en-US")}, ${percent.min}% to ${percent.max.toLocaleString("en-US")}%.`
      : minimum === undefined || maximum === undefined
        ? ""
        : ` ${minimum.toLocaleString("en-US")} to ${maximum.toLocaleString("en-US")}.`;
  return `${description}${bounds}`;
}

function schemaOf(kind: StepKind): OptionsSchema {
  const shape: Readonly<Record<string, z.ZodType>> = OPTIONS[kind].shape;
  const properties = Object.entries(shape).map(([name, schema]) => [
    name,
    z.toJSONSchema(schema, { io: "input" }) as OptionSchema,
  ]);
  const required = Object.keys(shape).filter((name) => !shape[name]?.safeParse(undefined).success);
  return { properties: Object.fromEntries(properties), required };
}

if (import.meta.main)
  runMain(async () => {
    const path = join(ROOT, "src", "media", "option-types.ts");
    await writeFile(path, writeOptionTypes());
    const biome = join(ROOT, "node_modules", ".bin", "biome");
    await promisify(execFile)(biome, ["check", "--write", path], { cwd: ROOT });
  });
