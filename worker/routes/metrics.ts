import { getMetrics } from "../docs/metrics.ts";
import type { Api } from "../http/context.ts";
import { serve } from "../http/serve.ts";
import { PROMETHEUS_TYPE, writePrometheus } from "../observability/prometheus.ts";
import type { Services } from "../services.ts";

/** Adds the route of metrics, which needs the scope `admin`. */
export function addMetricRoutes(app: Api, { metrics }: Pick<Services, "metrics">): void {
  serve(app, getMetrics, async (c) => {
    const report = await metrics(c.get("project"));
    return c.body(writePrometheus(report), 200, { "Content-Type": PROMETHEUS_TYPE });
  });
}
