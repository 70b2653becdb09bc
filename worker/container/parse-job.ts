import { z } from "zod";
import { MediaError } from "../../src/core/errors.ts";
import { ENCODE_KINDS, FORMATS, VIDEO_CODECS } from "../../src/core/formats.ts";
import { Source } from "../../src/core/source.ts";
import {
  MAX_PICTURE_INPUT,
  NATIVE_PROTOCOL,
  type NativeJob,
  type NativePicture,
} from "../../src/encoders/native/native-wire.ts";
import { furtherOf } from "../../src/plan/further/further.ts";
import { FILE_ROLES } from "../../src/plan/further/further-file.ts";
import { hasManyFiles, type Plan } from "../../src/plan/plan.ts";
import { MOST_POINTS } from "../../src/plan/waveform/waveform-plan.ts";

// Everything that becomes a part of a path or of a filter is of such letters alone.
const word = z.string().regex(/^[A-Za-z0-9][\w.:-]{0,63}$/);
const fileName = z.string().regex(/^[A-Za-z0-9_-][\w.-]{0,127}$/);
const pixels = z
  .int()
  .min(0)
  .max(1 << 16);
const color = z.string().regex(/^0x([0-9a-f]{6}|[0-9a-f]{8})$/i);
const seconds = z.number().min(0).max(1e7);
const count = z.int().min(0);
const bits = z.number().positive().max(1e10);
const fps = z.number().positive().max(1000).nullable();
const box = { x: pixels, y: pixels, width: pixels, height: pixels };

const geometry = z.looseObject({
  rotate: z.literal([0, 90, 180, 270]),
  turn: z.literal([0, 90, 180, 270]),
  mirror: z.boolean(),
  crop: z.looseObject(box).nullable(),
  scale: z.looseObject({ width: pixels, height: pixels }).nullable(),
  pad: z.looseObject({ ...box, color }).nullable(),
  width: pixels,
  height: pixels,
});

const rate = z.union([
  z.looseObject({ crf: z.number().min(0).max(63), maxrate: bits.exactOptional() }),
  z.looseObject({ bitrate: bits }),
]);

const overlay = z.looseObject({
  input: z.int().min(0).max(100),
  width: pixels.min(1).nullable(),
  shrink: z.number().positive().max(1).exactOptional(),
  place: z.looseObject({
    x: z
      .number()
      .min(0)
      .max(1 << 16),
    y: z
      .number()
      .min(0)
      .max(1 << 16),
    of: z.enum(["pixels", "room"]),
  }),
  opacity: z.number().min(0).max(1),
  start: seconds,
  end: seconds.nullable(),
});

const videoEncode = z.looseObject({
  mode: z.literal("encode"),
  codec: z.enum(VIDEO_CODECS),
  geometry,
  rate,
  fps,
  deinterlace: z.boolean(),
  tone_map: z.boolean(),
  depth: z.literal([8, 10]),
  matte: color.nullable(),
  overlay: overlay.exactOptional(),
  burn: z.looseObject({ file: z.int().min(0).max(100) }).exactOptional(),
});

const video = z.discriminatedUnion("mode", [
  z.looseObject({ mode: z.literal("copy"), codec: word, width: pixels, height: pixels }),
  videoEncode,
]);

const shape = z.looseObject({
  loudness: z.number().min(-70).max(0).exactOptional(),
  volume: z.number().min(0).max(100).exactOptional(),
  fade_in: seconds.exactOptional(),
  fade_out: z.looseObject({ at: seconds, seconds }).exactOptional(),
});

const audio = z.discriminatedUnion("mode", [
  z.looseObject({ mode: z.literal("copy"), codec: word }),
  z.looseObject({
    mode: z.literal("encode"),
    codec: z.enum(["aac", "mp3", "opus", "vorbis", "flac", "pcm_s16le"]),
    bitrate: bits.nullable(),
    compression: z.int().min(0).max(12).nullable(),
    channels: z.int().min(1).max(64),
    sample_rate: z.int().min(1).max(1_000_000),
    shape: shape.exactOptional(),
  }),
]);

const motion = z.looseObject({
  fps,
  loop: z.int().min(0).max(65_535),
  palette: z
    .looseObject({
      colors: z.int().min(2).max(256),
      dither: z.union([z.literal("sierra2_4a"), z.int().min(0).max(5)]),
    })
    .nullable(),
});

const tiles = z.int().min(1).max(10_000);
const sheet = z.looseObject({
  interval: z.number().min(0.001).max(1e7),
  ...{ tiles, columns: tiles, rows: tiles, sheets: tiles },
});

const image = z.looseObject({
  geometry,
  quality: z.number().min(0).max(100).nullable(),
  animated: z.boolean(),
  alpha: z.boolean(),
  deinterlace: z.boolean(),
  tone_map: z.boolean(),
  matte: color.nullable(),
  motion: motion.exactOptional(),
  sheet: sheet.exactOptional(),
  overlay: overlay.exactOptional(),
});

const source = Source.superRefine(({ format, color: colors = {} }, context) => {
  const { primaries, transfer, space } = colors as Record<string, unknown>;
  const names = { format, "color.primaries": primaries, "color.transfer": transfer, "color.space": space };
  for (const [path, name] of Object.entries(names)) {
    if (name === undefined || word.safeParse(name).success) continue;
    context.addIssue({ code: "custom", path: path.split("."), message: "is no name" });
  }
});

const waveform = z.looseObject({
  zoom: z.union([
    z.looseObject({ samples_per_pixel: z.int().min(1).max(1e9) }),
    z.looseObject({ pixels_per_second: z.int().min(1).max(1e6) }),
    z.looseObject({ points: z.int().min(1).max(MOST_POINTS), seconds }),
  ]),
  split: z.boolean(),
  bits: z.literal([8, 16]),
  picture: z.looseObject({ width: pixels, height: pixels, color, background: color }).nullable(),
});

const chunk = z.looseObject({
  index: z.int().min(0).max(100_000),
  track: z.enum(["all", "video", "audio"]),
  start: seconds,
  end: seconds.nullable(),
  decode_from: seconds.exactOptional(),
  shown_from: seconds.exactOptional(),
  keyframes_only: z.boolean().exactOptional(),
  sound: z.int().min(0).max(1000).exactOptional(),
  sound_from: seconds.exactOptional(),
});

// Loose objects: fields of a later version of the plan are passed on.
const plan = z
  .looseObject({
    kind: z.enum(ENCODE_KINDS),
    format: word,
    still: z.boolean(),
    start: seconds,
    end: seconds.nullable(),
    duration: seconds.nullable(),
    speed: z.number().min(0.01).max(100).exactOptional(),
    frames: z.number().min(0).nullable(),
    video: video.nullable(),
    audio: audio.nullable(),
    sound_track: z.int().min(0).max(1000).exactOptional(),
    language: z
      .string()
      .regex(/^[a-z]{3}$/)
      .exactOptional(),
    image: image.nullable(),
    waveform: waveform.exactOptional(),
    tags: z.record(z.string().regex(/^[^=]{1,64}$/), z.string().max(4096)).exactOptional(),
    cover: z.int().min(0).max(1000).exactOptional(),
    further: z
      .array(z.looseObject({ role: z.enum(FILE_ROLES), format: word, size: count, pixels: count }))
      .max(100)
      .exactOptional(),
    concat: z
      .array(
        z.looseObject({
          ...{ input: z.int().min(0).max(100), source, video: videoEncode.nullable(), frames: count },
          joined: z.looseObject({ seconds, ticks: z.int().min(1).max(0xffffffff) }).exactOptional(),
        }),
      )
      .max(100)
      .exactOptional(),
    held: z.looseObject({ from: seconds, until: seconds }).exactOptional(),
    renditions: z.array(z.looseObject({ name: fileName, geometry, rate, fps })).max(32),
    chunks: z.array(chunk).max(100_000),
  })
  .refine(({ kind, format }) => Object.hasOwn(FORMATS[kind], format), {
    path: ["format"],
    message: "is none of this kind",
  }) satisfies z.ZodType<Plan>;

const url = z.url({ protocol: /^https?$/ }).max(8192);
const input = z.object({ url, size: z.int().min(0), etag: z.string().max(512) });

const work = {
  protocol: z.literal(NATIVE_PROTOCOL),
  lane: z.string().max(128).exactOptional(),
  together: z.object({ id: z.string().max(128), size: z.int().min(2).max(100) }).exactOptional(),
  plan,
  chunk,
  source,
};

const Job = z.object({
  ...work,
  id: z.string().regex(/^[\w.-]{1,128}$/),
  input,
  further: z.array(input).max(100).exactOptional(),
  folder: url.refine((text) => text.endsWith("/"), { message: "must end with a slash" }),
  name: fileName.nullable(),
}) satisfies z.ZodType<NativeJob>;

const Picture = z.object({
  ...work,
  plan: plan.refine(
    ({ image, further = [], ...rest }) => image && !hasManyFiles({ image, ...rest }) && further.length === 0,
    { message: "is not of one picture" },
  ),
  size: z.int().min(1).max(MAX_PICTURE_INPUT),
}) satisfies z.ZodType<NativePicture>;

/** Reads a job as it came over the wire, which may read and write at these origins, null for any; throws `request_invalid` that names the first fault. */
export function parseJob(json: unknown, origins: readonly string[] | null): NativeJob {
  const job = parse(Job, json);
  if (hasManyFiles(job.plan) !== (job.name === null)) {
    const right =
      job.name === null ? "a file name" : "null for adaptive video, storyboards and several stills";
    throw new MediaError("request_invalid", `name must be ${right}.`, { param: "name" });
  }
  const { further = [] } = job;
  const needed = furtherOf(job.plan, job.chunk).length;
  if (further.length !== needed) {
    throw new MediaError("request_invalid", `further must hold ${needed} files.`, { param: "further" });
  }
  const urls = {
    "input.url": job.input.url,
    folder: job.folder,
    ...Object.fromEntries(further.map((file, at) => [`further.${at}.url`, file.url])),
  };
  for (const [param, url] of Object.entries(urls)) {
    if (origins === null || origins.includes(new URL(url).origin)) continue;
    throw new MediaError("request_invalid", `${param} must be at one of this encoder's SERVICE_ORIGINS.`, {
      param,
    });
  }
  return job;
}

/** Reads the head of a picture that comes with its request; throws as {@link parseJob}. */
export function parsePicture(json: unknown): NativePicture {
  return parse(Picture, json);
}

function parse<T>(schema: z.ZodType<T>, json: unknown): T {
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const param = issue?.path.join(".") || "the job";
  const fault = param === "protocol" ? `must be ${NATIVE_PROTOCOL}` : issue?.message;
  throw new MediaError("request_invalid", `${param}: ${fault}.`, { param });
}
