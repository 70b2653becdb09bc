import { operation } from "./operation.ts";

const EXAMPLE = `# HELP framewright_task_seconds Tasks that ended, by the seconds from their creation.
# TYPE framewright_task_seconds histogram
framewright_task_seconds_bucket{kind="video",status="succeeded",le="1"} 0
framewright_task_seconds_bucket{kind="video",status="succeeded",le="+Inf"} 2
framewright_task_seconds_sum{kind="video",status="succeeded"} 17.5
framewright_task_seconds_count{kind="video",status="succeeded"} 2
`;

/** `GET /metrics`. */
export const getMetrics = operation({
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
      content: { "text/plain": { schema: { type: "string", examples: [EXAMPLE] } } },
    },
  },
  errors: ["forbidden"],
});
