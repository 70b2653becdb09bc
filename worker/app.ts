import { Hono } from "hono";
import { methodNotAllowed } from "hono/method-not-allowed";
import { addKeyRoutes } from "./api/keys.ts";
import { bearer } from "./auth/bearer.ts";
import type { Api, ApiEnv } from "./http/context.ts";
import { answerError, answerNoRoute, onlyErrors } from "./http/errors.ts";
import { noIcon, noStore, requestId, securityHeaders } from "./http/headers.ts";
import { crossOrigin, ownHosts, ownPages } from "./http/trust.ts";
import { logRequests } from "./observability/log.ts";
import { addConnectionRoutes } from "./routes/connections.ts";
import { addEventRoutes } from "./routes/events.ts";
import { addImageRoutes } from "./routes/images.ts";
import { addJobRoutes } from "./routes/jobs.ts";
import { addMediaRoutes } from "./routes/media.ts";
import { addMetricRoutes } from "./routes/metrics.ts";
import { addServiceRoutes } from "./routes/service.ts";
import { addStepRoutes } from "./routes/steps.ts";
import { addTaskRoutes } from "./routes/tasks.ts";
import { addUploadRoutes } from "./routes/uploads.ts";
import { addWebhookRoutes } from "./routes/webhooks.ts";
import type { Services } from "./services.ts";

// A request for a page file arrives here only when the file does not exist: 404, with or without a key.
const OPEN =
  /^\/(health|openapi\.json|docs(\/.*)?|app\/.*|media\/.*|image\/.*|uploads\/[^/]+\/parts\/[^/]+)$/s;

/** Creates the API over its services: all routes, headers and errors. */
export function createApp(services: Services): Api {
  const app: Api = Object.assign(new Hono<ApiEnv>(), { described: [] });
  app.use(requestId(services.id, services.now));
  app.use(logRequests(services.log, services.now));
  app.use(noStore, securityHeaders);
  const { cors_origins = ["*"], service_hosts, base_url } = services.settings;
  if (service_hosts) app.use(ownHosts(service_hosts));
  app.use(ownPages(cors_origins, base_url), crossOrigin(cors_origins));
  app.use("/favicon.ico", noIcon);
  app.use(methodNotAllowed({ app, onMethodNotAllowed: answerNoRoute }));
  app.use(onlyErrors);
  app.use(bearer(services, (path) => OPEN.test(path)));
  app.onError((thrown, c) => answerError(thrown, c));
  app.notFound((c) => answerNoRoute(c));
  addTaskRoutes(app, services);
  addJobRoutes(app, services);
  addStepRoutes(app, services);
  addConnectionRoutes(app, services);
  addUploadRoutes(app, services);
  addWebhookRoutes(app, services);
  addEventRoutes(app, services);
  addKeyRoutes(app, services);
  addMediaRoutes(app, services);
  addImageRoutes(app, services);
  addMetricRoutes(app, services);
  addServiceRoutes(app, services);
  return app;
}
