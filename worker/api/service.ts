import { z } from "zod";
import * as errors from "../errors.ts";
import { type Api, baseUrl, serve } from "../http/context.ts";
import { PROMETHEUS_TYPE, writePrometheus } from "../metrics.ts";
import type { Services } from "../services.ts";
import { createDocument, operation } from "./openapi.ts";
import { PAGE, PAGE_FILES, PAGE_POLICY } from "./reference-page.ts";

/** Body of `GET /health`. */
export const Health = z.object({ status: z.literal("ok") }).meta({ id: "Health" });

const METRICS = `# HELP framewright_task_seconds Tasks that ended, by the seconds from their creation.
# TYPE framewright_task_seconds histogram
framewright_task_seconds_bucket{kind="video",status="succeeded",le="1"} 0
framewright_task_seconds_bucket{kind="video",status="succeeded",le="+Inf"} 2
framewright_task_seconds_sum{kind="video",status="succeeded"} 17.5
framewright_task_seconds_count{kind="video",status="succeeded"} 2
`;

/** Adds the routes of the service itself: metrics, health, the OpenAPI document and the reference page. */
export function addServiceRoutes(app: Api, services: Services): void {
  let document: object | undefined;

  serve(
    app,
    operation({
      method: "get",
      path: "/metrics",
      operationId: "getMetrics",
      tag: "Service",
      summary: "Read counts and timings",
      description:
        "Returns counts and timings of the project's tasks, steps and encoders since it began, and how many are unfinished, in the text format of Prometheus. Each key sees its own project.",
      answers: {
        200: {
          description: "The metrics.",
          content: { "text/plain": { schema: { type: "string", examples: [METRICS] } } },
        },
      },
      errors: ["forbidden"],
    }),
    async (c) => {
      const report = await services.metrics(c.get("project"));
      return c.body(writePrometheus(report), 200, { "Content-Type": PROMETHEUS_TYPE });
    },
  );

  serve(
    app,
    operation({
      method: "get",
      path: "/health",
      operationId: "getHealth",
      tag: "Service",
      summary: "Check the service's health",
      open: true,
      answers: {
        200: { description: "The service responds.", schema: Health, examples: { ok: { status: "ok" } } },
      },
      errors: [],
    }),
    (c) => c.json({ status: "ok" } satisfies z.infer<typeof Health>),
  );

  serve(
    app,
    operation({
      method: "get",
      path: "/openapi.json",
      operationId: "getDocument",
      tag: "Service",
      summary: "Read this document",
      open: true,
      answers: {
        200: {
          description: "The OpenAPI 3.1 document of the service.",
          content: { "application/json": { schema: { type: "object" } } },
        },
      },
      errors: [],
    }),
    (c) => {
      document ??= createDocument(app.described);
      return c.json({ ...document, servers: [{ url: baseUrl(c, services.settings) }] });
    },
  );

  serve(
    app,
    operation({
      method: "get",
      path: "/docs",
      operationId: "getDocs",
      tag: "Service",
      summary: "Read the reference page",
      open: true,
      answers: {
        200: { description: "The page.", content: { "text/html": { schema: { type: "string" } } } },
      },
      errors: [],
    }),
    (c) => {
      c.header("Content-Security-Policy", PAGE_POLICY);
      c.header("Cache-Control", "no-cache");
      return c.html(PAGE);
    },
  );

  app.get("/docs/:file", async (c) => {
    const file = c.req.param("file");
    const answer = (PAGE_FILES as readonly string[]).includes(file)
      ? await services.assets.fetch(new Request(new URL(`/docs/${file}`, c.req.url)))
      : null;
    if (!answer?.ok) throw errors.pageFileNotFound({ path: c.req.path });
    return new Response(answer.body, answer);
  });
}
