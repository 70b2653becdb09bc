import { z } from "zod";
import { MediaError } from "../../src/core/errors.ts";
import {
  MAX_PICTURE_INPUT,
  NATIVE_PROTOCOL,
  type NativeJob,
  type NativePicture,
} from "../../src/encoders/native/native-wire.ts";
import { furtherOf } from "../../src/plan/further/further.ts";
import { hasManyFiles } from "../../src/plan/plan.ts";
import { CheckedPlan, Chunk, NamedSource } from "../../src/plan/plan-schema.ts";

const fileName = z.string().regex(/^[A-Za-z0-9_-][\w.-]{0,127}$/);
const url = z.url({ protocol: /^https?$/ }).max(8192);
const input = z.object({ url, size: z.int().min(0), etag: z.string().max(512) });

const work = {
  protocol: z.literal(NATIVE_PROTOCOL),
  lane: z.string().max(128).exactOptional(),
  together: z.object({ id: z.string().max(128), size: z.int().min(2).max(100) }).exactOptional(),
  plan: CheckedPlan,
  chunk: Chunk,
  source: NamedSource,
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
  plan: CheckedPlan.refine(
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
