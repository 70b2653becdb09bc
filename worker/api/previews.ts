import { PreviewResponse } from "../../src/runs/preview.ts";
import { parsePreviewRequest } from "../../src/runs/requests.ts";
import * as errors from "../errors.ts";
import { readJson } from "../http/body.ts";
import { type Api, baseUrl, serve } from "../http/context.ts";
import { answerWorkError } from "../http/errors.ts";
import { countCreation } from "../limits/limits.ts";
import type { Services } from "../services.ts";
import { checkTaskAccess } from "./creation.ts";
import { operation, SAMPLE_REQUEST_ERRORS } from "./openapi.ts";

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
  const { previews, limits, settings } = services;

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
        schema: "PreviewRequest",
        examples: {
          frame: {
            input: "https://example.com/clip.mov",
            kind: "video",
            options: { width: 1280 },
            at: 12.5,
          },
        },
      },
      answers: { 200: { description: "The preview.", schema: "Preview", examples: { frame: FRAME } } },
      errors: SAMPLE_REQUEST_ERRORS,
      works: true,
    }),
    async (c) => {
      const request = parsePreviewRequest(await readJson(c.req.raw));
      const { at: _, ...rest } = request;
      const project = c.get("project");
      const need = await checkTaskAccess({ ...rest, metadata: {} }, project, services);
      if (need) throw errors.sampleOverHttp({ param: need.param });
      countCreation(c, limits);
      try {
        return c.json(await previews({ project, base: baseUrl(c, settings) }, request, c.req.raw.signal));
      } catch (thrown) {
        return answerWorkError(c, thrown);
      }
    },
  );
}
