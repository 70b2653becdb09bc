import type { Context } from "hono";
import {
  EstimateRequest,
  PreviewRequest,
  parseEstimateRequest,
  parsePreviewRequest,
} from "../../src/runs/requests.ts";
import { OutputEstimate, PreviewResponse } from "../../src/runs/samples.ts";
import * as errors from "../errors.ts";
import { readJson } from "../http/body.ts";
import { type Api, type ApiEnv, baseUrl, serve } from "../http/context.ts";
import { answerWorkError } from "../http/errors.ts";
import { countCreation } from "../limits/limits.ts";
import type { SampleOwner, Services } from "../services.ts";
import { checkTaskAccess } from "./new-run.ts";
import { operation, SAMPLE_REQUEST_ERRORS } from "./openapi.ts";

const INPUT = "https://example.com/clip.mov";
const SAMPLED = OutputEstimate.parse({
  bytes: { low: 4_310_000, high: 4_820_000 },
  seconds: 21,
  score: null,
});
const EXACT = OutputEstimate.parse({ bytes: { low: 48_212, high: 48_212 }, seconds: 0.4, score: null });

/** Adds the route of estimates. */
export function addEstimateRoutes(app: Api, services: Services): void {
  const { estimates } = services;

  serve(
    app,
    operation({
      method: "post",
      path: "/estimates",
      operationId: "estimate",
      tag: "Tasks",
      summary: "Estimate an output",
      description:
        "Estimates the size of a task's output and the time that its encode takes; creates nothing. Pictures and short media are encoded to the end, so both bounds are the exact size; otherwise stretches of the input are encoded, for up to 20 seconds. Work of the native encoder is sampled on the light one, with wider bounds. An estimate counts as a creation, and the bytes that it reads as fetched. The input is an http or https URL, or a file of the service; if it cannot be read or encoded, the response carries the kind of that error.",
      body: {
        schema: EstimateRequest,
        examples: {
          video: { input: INPUT, kind: "video", options: { width: 1280 } },
          image: { input: "https://example.com/photo.jpg", kind: "image", options: { format: "webp" } },
        },
      },
      answers: {
        200: {
          description: "The estimate.",
          schema: OutputEstimate,
          examples: { sampled: SAMPLED, exact: EXACT },
        },
      },
      errors: SAMPLE_REQUEST_ERRORS,
      works: true,
    }),
    async (c) => {
      const request = parseEstimateRequest(await readJson(c.req.raw));
      return answerSample(c, services, request, (owner) => estimates(owner, request, c.req.raw.signal));
    },
  );
}

const FRAME = PreviewResponse.parse({
  original: "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQ==",
  output: "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQ==",
  bytes: 48_212,
  seconds: 0.24,
  at: 12.5,
  width: 1280,
  height: 720,
});

/** Adds the route of previews. */
export function addPreviewRoutes(app: Api, services: Services): void {
  const { previews } = services;

  serve(
    app,
    operation({
      method: "post",
      path: "/previews",
      operationId: "preview",
      tag: "Tasks",
      summary: "Preview an output",
      description:
        "Encodes one moment of a task's output with its settings and returns it with the original for comparison; creates no task. It encodes a complete image, a few pictures around a frame of a video, or a few seconds of sound. Both files are `data:` URLs, of at most 12 MiB together. The light encoder makes previews within 28 seconds; work that only the native encoder can do is refused as `encoder_unavailable`. A preview counts as a creation, and the bytes that it reads count as fetched. The input is an http or https URL, or a file of the service; if it cannot be read or encoded, the response carries the kind of that error.",
      body: {
        schema: PreviewRequest,
        examples: {
          frame: {
            input: "https://example.com/clip.mov",
            kind: "video",
            options: { width: 1280 },
            at: 12.5,
          },
        },
      },
      answers: { 200: { description: "The preview.", schema: PreviewResponse, examples: { frame: FRAME } } },
      errors: SAMPLE_REQUEST_ERRORS,
      works: true,
    }),
    async (c) => {
      const request = parsePreviewRequest(await readJson(c.req.raw));
      const { at: _, ...task } = request;
      return answerSample(c, services, task, (owner) => previews(owner, request, c.req.raw.signal));
    },
  );
}

/** Answers with a sample of a task's work: checks access to its input, and counts it as a creation. */
async function answerSample(
  c: Context<ApiEnv>,
  services: Services,
  task: EstimateRequest,
  make: (owner: SampleOwner) => Promise<OutputEstimate | PreviewResponse>,
): Promise<Response> {
  const { limits, settings } = services;
  const project = c.get("project");
  const need = await checkTaskAccess({ ...task, metadata: {} }, project, services);
  if (need) throw errors.sampleOverHttp({ param: need.param });
  countCreation(c, limits);
  try {
    return c.json(await make({ project, base: baseUrl(c, settings) }));
  } catch (thrown) {
    return answerWorkError(c, thrown);
  }
}
