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
import { strings } from "./strings.ts";

const fileName = z.string().regex(/^[A-Za-z0-9_-][\w.-]{0,127}$/);
const url = z.url({ protocol: /^https?$/ }).max(8192);
const input = z.strictObject({ url, size: z.int().min(0), etag: z.string().max(512) });

const work = {
  protocol: z.literal(NATIVE_PROTOCOL),
  lane: z.string().max(128).exactOptional(),
  plan: CheckedPlan,
  chunk: Chunk,
  source: NamedSource,
};

const Job = z.strictObject({
  ...work,
  together: z.strictObject({ id: z.string().max(128), size: z.int().min(2).max(100) }).exactOptional(),
  id: z.string().regex(/^[\w.-]{1,128}$/),
  input,
  further: z.array(input).max(100).exactOptional(),
  folder: url.refine((text) => text.endsWith("/"), { message: "must end with a slash" }),
  name: fileName.nullable(),
}) satisfies z.ZodType<NativeJob>;

const Picture = z.strictObject({
  ...work,
  plan: CheckedPlan.refine(
    ({ image, further = [], ...rest }) => image && !hasManyFiles({ image, ...rest }) && further.length === 0,
    { message: strings.notOnePicture },
  ),
  size: z.int().min(1).max(MAX_PICTURE_INPUT),
}) satisfies z.ZodType<NativePicture>;

// Makes a job of each protocol that is read one of the current protocol.
const UPGRADES: Readonly<Record<number, (job: object) => object>> = {
  [NATIVE_PROTOCOL]: (job) => job,
  [NATIVE_PROTOCOL - 1]: upgradePrevious,
};

/** The versions of the protocol that this encoder reads, in ascending order. */
export const READ_PROTOCOLS: readonly number[] = Object.keys(UPGRADES).map(Number);

// Protocol 5 renamed nothing: it refuses unknown fields, which 4 ignored, and adds `denoise`.
function upgradePrevious(job: object): object {
  return { ...job, protocol: NATIVE_PROTOCOL };
}

/**
 * Parses a job from the wire. Throws `request_invalid`, which names the first fault: a field that is wrong or unknown, or a URL outside
 * `origins`, where null allows any.
 */
export function parseJob(json: unknown, origins: readonly string[] | null): NativeJob {
  const job = parse(Job, json);
  const several = hasManyFiles(job.plan);
  if (several !== (job.name === null)) throw invalid("name", strings.wrongName(several));
  const { further = [] } = job;
  const needed = furtherOf(job.plan, job.chunk).length;
  if (further.length !== needed) throw invalid("further", strings.wrongFurther(needed));
  const urls = {
    "input.url": job.input.url,
    folder: job.folder,
    ...Object.fromEntries(further.map((file, at) => [`further.${at}.url`, file.url])),
  };
  for (const [param, url] of Object.entries(urls)) {
    if (origins === null || origins.includes(new URL(url).origin)) continue;
    throw invalid(param, strings.foreignUrl(param));
  }
  return job;
}

/** Parses the head of a picture that comes with its request; throws as {@link parseJob} does. */
export function parsePicture(json: unknown): NativePicture {
  return parse(Picture, json);
}

function parse<T>(schema: z.ZodType<T>, json: unknown): T {
  const parsed = schema.safeParse(upgrade(json));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const unknown = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const param = [...(issue?.path ?? []), ...unknown].join(".");
  if (param === "") throw invalid("the job", strings.fault("the job", issue?.message));
  if (unknown.length > 0) throw invalid(param, strings.unknownField(param));
  throw invalid(param, strings.fault(param, issue?.message));
}

function upgrade(json: unknown): unknown {
  if (typeof json !== "object" || json === null) return json;
  const { protocol } = json as { protocol?: unknown };
  const step = READ_PROTOCOLS.find((each) => each === protocol);
  if (step === undefined) throw invalid("protocol", strings.wrongProtocol(READ_PROTOCOLS));
  return UPGRADES[step]?.(json);
}

function invalid(param: string, message: string): MediaError {
  return new MediaError("request_invalid", message, { param });
}
