import { z } from "zod";
import { MediaError } from "../media/errors.ts";
import { closed, inputUrl, nullable, ruled, textUpTo, webhookUrl } from "../media/fields.ts";
import { DEFAULT_FORMAT, type EncodeKind, isDrawnWaveform } from "../media/formats.ts";
import { parseBody } from "../media/parse-body.ts";
import * as errors from "./errors.ts";
import { parseTaskRequest, TaskRequest } from "./requests.ts";

const JOB_OUTPUTS = { min: 1, max: 10 } as const;

const SEVERAL_FILES: ReadonlySet<EncodeKind> = new Set(["adaptive_video", "storyboard"]);

function checkReadableByTask({ kind, options }: TaskRequest): void {
  if (SEVERAL_FILES.has(kind)) throw errors.afterSeveralFiles({ kind });
  if (kind === "image" && (options.interval !== undefined || options.count !== undefined))
    throw errors.afterSeveralStills();
  if (kind === "waveform" && !isDrawnWaveform(options.format))
    throw errors.afterData({ kind, format: options.format ?? DEFAULT_FORMAT.waveform });
}

const name = nullable(
  ruled(textUpTo(64), (text) =>
    /^[\w.-]*$/.test(text) ? null : "must consist of letters, digits, . _ and -.",
  )
    .optional()
    .meta({ description: "A name of your choice, unique in the job.", example: "small" }),
);

const after = nullable(
  z
    .union(
      [z.int().min(0), textUpTo(64)],
      "must be the name of another output, or its index in outputs, counted from 0.",
    )
    .optional()
    .meta({
      description:
        "Name, or index from 0, of the output whose file this output reads in place of the job's input.",
    }),
);

const JobOutput = z
  .union(
    TaskRequest.options.map((option) =>
      closed({ name, after, ...omitShared(option.shape) }).meta({ id: idOf(option) }),
    ),
  )
  .meta({ id: "JobOutput" });
/** One output of a job: the body of `POST /tasks` without `input` and `webhook_url`. */
export type JobOutput = Unshared<TaskRequest> & {
  name?: string | undefined;
  after?: string | number | undefined;
};

type Unshared<T> = T extends TaskRequest ? Omit<T, "input" | "webhook_url"> : never;

const input = inputUrl.meta({
  description: "Source URL: http://, https:// or s3://. It is probed once, and read once, for all outputs.",
  example: "https://example.com/clip.mov",
});
const webhook_url = nullable(
  webhookUrl.optional().meta({
    description:
      "The https:// URL to which the events of every task are posted; only responses about deliveries contain it.",
    example: "https://example.com/hooks",
  }),
);
const outputsRule = `must be a list of ${JOB_OUTPUTS.min} to ${JOB_OUTPUTS.max} outputs.`;
const listOf = <T extends z.ZodType>(output: T) =>
  z.array(output, outputsRule).min(JOB_OUTPUTS.min, outputsRule).max(JOB_OUTPUTS.max, outputsRule);

/** Body of `POST /jobs`. */
export const JobRequest = closed({ input, outputs: listOf(JobOutput), webhook_url }).meta({
  id: "JobRequest",
});

/** A valid request for a job; `after` is the index of another output. */
export interface JobRequest {
  outputs: { name: string | undefined; after: number | null; request: TaskRequest }[];
  input: string;
  webhook_url?: string | undefined;
}

const RawJobRequest = closed({ input, outputs: listOf(z.record(z.string(), z.unknown())), webhook_url });
const Link = z.object({ name, after });

/**
 * Parses the body of `POST /jobs`, each output as `POST /tasks` would; throws a {@link MediaError} whose kind and `param`, such as
 * `outputs.0.options.fps`, name the first fault.
 */
export function parseJobRequest(body: unknown): JobRequest {
  const { input, outputs, webhook_url } = parseBody(RawJobRequest, body);
  const parsed = outputs.map((output, index) =>
    within(index, () => {
      const { name, after, ...rest } = output;
      const link = parseBody(Link, { name, after });
      const shared = ["input", "webhook_url"].find((field) => field in rest);
      if (shared !== undefined) throw errors.fieldOfJob({ field: shared });
      const request = parseTaskRequest({ ...rest, input });
      return { ...link, request: { ...request, ...(webhook_url !== undefined && { webhook_url }) } };
    }),
  );
  const names = parsed.map((output) => output.name);
  const resolved = parsed.map(({ name, after, request }, index) =>
    within(index, () => {
      if (name !== undefined && names.indexOf(name) !== index) throw errors.nameTaken();
      return { name, after: indexOf(after), request };
    }),
  );
  for (const index of resolved.keys()) within(index, () => checkAfter(index, resolved));
  return { input, outputs: resolved, webhook_url };

  function indexOf(after: string | number | undefined): number | null {
    if (after === undefined) return null;
    const index = typeof after === "number" ? after : names.indexOf(after);
    if (index >= 0 && index < parsed.length) return index;
    throw errors.afterUnknown();
  }
}

function checkAfter(index: number, outputs: JobRequest["outputs"]): void {
  const first = outputs[index]?.after ?? null;
  if (first === null) return;
  const chain = new Set<number>();
  for (let at: number | null = index; at !== null; at = outputs[at]?.after ?? null) {
    if (chain.has(at)) throw errors.afterCircular();
    chain.add(at);
  }
  const source = outputs[first]?.request;
  if (source) checkReadableByTask(source);
}

/** Prefixes the errors of an output's fields with its path. */
function within<T>(index: number, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw thrown instanceof MediaError ? errors.ofOutput({ index, error: thrown }) : thrown;
  }
}

function omitShared<S extends { input: unknown; webhook_url: unknown }>({
  input: _,
  webhook_url: __,
  ...shape
}: S) {
  return shape;
}

function idOf(option: z.ZodType): string {
  return (option.meta()?.id ?? "").replace("TaskRequest", "JobOutput");
}
