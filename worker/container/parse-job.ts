import { z } from "zod";
import {
  MAX_PICTURE_INPUT,
  NATIVE_PROTOCOL,
  type NativeJob,
  type NativePicture,
} from "../../src/encoders/native/native-wire.ts";
import { extraFilesOf } from "../../src/media/extra-files.ts";
import { hasManyFiles } from "../../src/media/plan.ts";
import { CheckedPlan, Chunk, NamedSource } from "../../src/media/plan-schema.ts";
import { Source } from "../../src/media/source.ts";
import * as errors from "./errors.ts";
import { rules } from "./errors.ts";

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
  folder: url.refine((text) => text.endsWith("/"), { message: rules.folder }),
  name: fileName.nullable(),
}) satisfies z.ZodType<NativeJob>;

const Picture = z.strictObject({
  ...work,
  plan: CheckedPlan.refine(
    ({ image, further: extraInputs = [], ...rest }) =>
      image && !hasManyFiles({ image, ...rest }) && extraInputs.length === 0,
    { message: rules.onePicture },
  ),
  size: z.int().min(1).max(MAX_PICTURE_INPUT),
}) satisfies z.ZodType<NativePicture>;

const UPGRADES: Readonly<Record<number, (job: object) => object>> = {
  [NATIVE_PROTOCOL]: (job) => job,
  [NATIVE_PROTOCOL - 1]: upgradePrevious,
};

/** The versions of the protocol that this encoder reads, in ascending order. */
export const READ_PROTOCOLS: readonly number[] = Object.keys(UPGRADES).map(Number);

const Previous = z.looseObject({
  source: Source,
  plan: z.looseObject({ concat: z.array(z.looseObject({ source: Source })).exactOptional() }),
});

// Protocol 5 adds `denoise` and rejects unknown fields, which 4 ignored. Only sources have fields that vary by the probe's version.
function upgradePrevious(job: object): object {
  const { data = job } = Previous.safeParse(job);
  return { ...data, protocol: NATIVE_PROTOCOL };
}

/**
 * Parses a job from the wire. Throws `request_invalid`, which names the first fault: a field that is wrong or unknown, or a URL outside
 * `origins`, where null allows any.
 */
export function parseJob(json: unknown, origins: readonly string[] | null): NativeJob {
  const job = parse(Job, json);
  if (hasManyFiles(job.plan) !== (job.name === null))
    throw job.name === null ? errors.fileNameMissing() : errors.fileNameUnexpected();
  const { further: extraInputs = [] } = job;
  const count = extraFilesOf(job.plan, job.chunk).length;
  if (extraInputs.length !== count) throw errors.extraInputsDiffer({ count });
  const urls = {
    "input.url": job.input.url,
    folder: job.folder,
    ...Object.fromEntries(extraInputs.map((file, at) => [`further.${at}.url`, file.url])),
  };
  for (const [param, url] of Object.entries(urls)) {
    if (origins === null || origins.includes(new URL(url).origin)) continue;
    throw errors.originForbidden({ param });
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
  if (unknown.length > 0) throw errors.fieldUnknown({ param });
  throw errors.fieldInvalid({ param: param || "the job", message: issue?.message });
}

function upgrade(json: unknown): unknown {
  if (typeof json !== "object" || json === null) return json;
  const { protocol } = json as { protocol?: unknown };
  const step = READ_PROTOCOLS.find((each) => each === protocol);
  if (step === undefined) throw errors.protocolUnread({ versions: READ_PROTOCOLS });
  return UPGRADES[step]?.(json);
}
