import { z } from "zod";
import { closed, inputUrl, kindFrom, nullable, s3Url, seconds, webhookUrl } from "../media/fields.ts";
import { BOUNDS, ENCODE_KINDS, type EncodeKind, STEP_KINDS, type StepKind } from "../media/formats.ts";
import { OPTIONS } from "../media/options.ts";
import { parseBody } from "../media/parse-body.ts";
import { renameFacts, Source } from "../media/source.ts";

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const bytesOf = (value: object) => new TextEncoder().encode(JSON.stringify(value)).length;

// z.record would drop a key named `__proto__`.
const metadata = z
  .unknown()
  .optional()
  .transform((value, ctx) => {
    const table = value ?? {};
    if (isTable(table) && bytesOf(table) <= BOUNDS.metadata_bytes.max) return table;
    const rule = isTable(table)
      ? `must not exceed ${BOUNDS.metadata_bytes.max} bytes.`
      : "must be an object.";
    ctx.addIssue({ code: "custom", message: rule });
    return z.NEVER;
  })
  .meta({
    description: "Your own key-value pairs, up to 16 KB.",
    type: "object",
    propertyNames: { type: "string" },
    additionalProperties: {},
  });

const webhook_url = nullable(
  webhookUrl.optional().meta({
    description: "The https:// URL to which events are posted; only responses about deliveries contain it.",
    example: "https://example.com/hooks",
  }),
);

function taskRequest<const K extends EncodeKind, O extends z.ZodType>(kind: K, options: O, id: string) {
  return closed({
    input: inputUrl.meta({
      description: "Source URL: http://, https:// or s3://.",
      example: "https://example.com/clip.mov",
    }),
    kind: kindFrom([kind], ENCODE_KINDS),
    options: nullable(options),
    metadata,
    output: nullable(
      s3Url.optional().meta({ description: "Destination `s3://<bucket>/<key>`; needs a connection." }),
    ),
    webhook_url,
  }).meta({ id });
}

// On an unknown kind, a plain union still reports the other faults.
const FALLBACK = { unionFallback: true } as const;

/** Body of `POST /tasks`. */
export const TaskRequest = z
  .discriminatedUnion(
    "kind",
    [
      taskRequest("video", OPTIONS.video.prefault({}), "VideoTaskRequest"),
      taskRequest("audio", OPTIONS.audio.prefault({}), "AudioTaskRequest"),
      taskRequest("image", OPTIONS.image.prefault({}), "ImageTaskRequest"),
      taskRequest("animation", OPTIONS.animation.prefault({}), "AnimationTaskRequest"),
      taskRequest("storyboard", OPTIONS.storyboard.prefault({}), "StoryboardTaskRequest"),
      taskRequest("waveform", OPTIONS.waveform.prefault({}), "WaveformTaskRequest"),
      taskRequest("adaptive_video", OPTIONS.adaptive_video.prefault({}), "AdaptiveVideoTaskRequest"),
    ],
    FALLBACK,
  )
  .meta({ id: "TaskRequest" });
/** A valid request for a task. */
export type TaskRequest = z.output<typeof TaskRequest>;

function sampleShape<const K extends EncodeKind, O extends z.ZodType>(kind: K, options: O) {
  return {
    input: inputUrl.meta({
      description: "Source URL: http:// or https://.",
      example: "https://example.com/clip.mov",
    }),
    kind: kindFrom([kind], ENCODE_KINDS),
    options: nullable(options),
  };
}

function estimateRequest<const K extends EncodeKind, O extends z.ZodType>(kind: K, options: O, id: string) {
  return closed(sampleShape(kind, options)).meta({ id });
}

/** Body of `POST /estimates`. */
export const EstimateRequest = z
  .discriminatedUnion(
    "kind",
    [
      estimateRequest("video", OPTIONS.video.prefault({}), "VideoEstimateRequest"),
      estimateRequest("audio", OPTIONS.audio.prefault({}), "AudioEstimateRequest"),
      estimateRequest("image", OPTIONS.image.prefault({}), "ImageEstimateRequest"),
      estimateRequest("animation", OPTIONS.animation.prefault({}), "AnimationEstimateRequest"),
      estimateRequest("storyboard", OPTIONS.storyboard.prefault({}), "StoryboardEstimateRequest"),
      estimateRequest("waveform", OPTIONS.waveform.prefault({}), "WaveformEstimateRequest"),
      estimateRequest("adaptive_video", OPTIONS.adaptive_video.prefault({}), "AdaptiveVideoEstimateRequest"),
    ],
    FALLBACK,
  )
  .meta({ id: "EstimateRequest" });
/** A valid request for an estimate. */
export type EstimateRequest = z.output<typeof EstimateRequest>;

function previewRequest<const K extends EncodeKind, O extends z.ZodType>(kind: K, options: O, id: string) {
  const at = seconds.optional().meta({
    description:
      "Time to show, in seconds of the source; a time outside the output is moved into it. The default is the middle of the output, or for kind image the option start.",
    example: 12.5,
  });
  return closed({ ...sampleShape(kind, options), at: nullable(at) }).meta({ id });
}

/** Body of `POST /previews`. */
export const PreviewRequest = z
  .discriminatedUnion(
    "kind",
    [
      previewRequest("video", OPTIONS.video.prefault({}), "VideoPreviewRequest"),
      previewRequest("audio", OPTIONS.audio.prefault({}), "AudioPreviewRequest"),
      previewRequest("image", OPTIONS.image.prefault({}), "ImagePreviewRequest"),
      previewRequest("animation", OPTIONS.animation.prefault({}), "AnimationPreviewRequest"),
      previewRequest("storyboard", OPTIONS.storyboard.prefault({}), "StoryboardPreviewRequest"),
      previewRequest("waveform", OPTIONS.waveform.prefault({}), "WaveformPreviewRequest"),
      previewRequest("adaptive_video", OPTIONS.adaptive_video.prefault({}), "AdaptiveVideoPreviewRequest"),
    ],
    FALLBACK,
  )
  .meta({ id: "PreviewRequest" });
/** A valid request for a preview. */
export type PreviewRequest = z.output<typeof PreviewRequest>;

const inputFault = {
  error: ({ input }: z.core.$ZodRawIssue) => (input == null ? "is required." : "must be an object."),
};

const file = z
  .object(
    {
      url: inputUrl,
      object: z
        .string("must be external_file or source.")
        .refine((name) => name === "external_file" || name === "source", "must be external_file or source.")
        .optional()
        .meta({ enum: ["external_file", "source"] }),
    },
    inputFault,
  )
  .transform(({ url }) => ({ object: "external_file" as const, url }));

const address = z.object({ url: inputUrl }, inputFault);

const source = z.preprocess((value, ctx) => {
  const { error } = address.safeParse(value, { reportInput: true });
  for (const issue of error?.issues ?? []) ctx.issues.push(issue as z.core.$ZodRawIssue);
  return renameFacts(value);
}, Source);

function stepRequest<const K extends StepKind, I extends z.ZodType, O extends z.ZodType>(
  kind: K,
  input: I,
  options: O,
  id: string,
) {
  return closed({ kind: kindFrom([kind], STEP_KINDS), input, options, webhook_url }).meta({ id });
}

/** Body of `POST /steps`. */
export const StepRequest = z
  .discriminatedUnion(
    "kind",
    [
      stepRequest("probe", file, nullable(OPTIONS.probe.prefault({})), "ProbeStepRequest"),
      stepRequest("ingest", file, nullable(OPTIONS.ingest.prefault({})), "IngestStepRequest"),
      stepRequest("video", source, nullable(OPTIONS.video.prefault({})), "VideoStepRequest"),
      stepRequest("audio", source, nullable(OPTIONS.audio.prefault({})), "AudioStepRequest"),
      stepRequest("image", source, nullable(OPTIONS.image.prefault({})), "ImageStepRequest"),
      stepRequest("animation", source, nullable(OPTIONS.animation.prefault({})), "AnimationStepRequest"),
      stepRequest("storyboard", source, nullable(OPTIONS.storyboard.prefault({})), "StoryboardStepRequest"),
      stepRequest("waveform", source, nullable(OPTIONS.waveform.prefault({})), "WaveformStepRequest"),
      stepRequest(
        "adaptive_video",
        source,
        nullable(OPTIONS.adaptive_video.prefault({})),
        "AdaptiveVideoStepRequest",
      ),
      stepRequest(
        "upload",
        source,
        z.preprocess((options) => options ?? {}, OPTIONS.upload),
        "UploadStepRequest",
      ),
    ],
    FALLBACK,
  )
  .meta({ id: "StepRequest" });
/** A valid request for a standalone step. */
export type StepRequest = z.output<typeof StepRequest>;

/** Parses the body of `POST /tasks`; throws a {@link MediaError} whose kind and `param` name the first fault. */
export function parseTaskRequest(body: unknown): TaskRequest {
  return parseBody(TaskRequest, body);
}

/** Parses the body of `POST /estimates`; throws a {@link MediaError} whose kind and `param` name the first fault. */
export function parseEstimateRequest(body: unknown): EstimateRequest {
  return parseBody(EstimateRequest, body);
}

/** Parses the body of `POST /previews`; throws a {@link MediaError} whose kind and `param` name the first fault. */
export function parsePreviewRequest(body: unknown): PreviewRequest {
  return parseBody(PreviewRequest, body);
}

/** Parses the body of `POST /steps`; throws a {@link MediaError} whose kind and `param` name the first fault. */
export function parseStepRequest(body: unknown): StepRequest {
  return parseBody(StepRequest, body, {
    explain({ input }) {
      const fault = input === undefined ? "is missing" : "is wrong";
      return `${fault}: pass a Source, such as the output of a probe step.`;
    },
  });
}
