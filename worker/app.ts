import { Hono } from "hono";
import { methodNotAllowed } from "hono/method-not-allowed";
import { addConnectionRoutes } from "./api/connections.ts";
import { addEventStreamRoutes } from "./api/event-streams.ts";
import { addImageRoutes } from "./api/images.ts";
import { addJobRoutes } from "./api/jobs.ts";
import { addKeyRoutes } from "./api/keys.ts";
import { addMediaRoutes } from "./api/media.ts";
import { addEstimateRoutes, addPreviewRoutes } from "./api/samples.ts";
import { addServiceRoutes } from "./api/service.ts";
import { addStepRoutes } from "./api/steps.ts";
import { addTaskRoutes } from "./api/tasks.ts";
import { addUploadRoutes } from "./api/uploads.ts";
import { addWebhookRoutes } from "./api/webhooks.ts";
import { bearer } from "./auth/bearer.ts";
import type { Api, ApiEnv } from "./http/context.ts";
import { answerError, answerNoRoute, onlyErrors } from "./http/errors.ts";
import {
  crossOrigin,
  noIcon,
  noStore,
  ownHosts,
  ownPages,
  requestId,
  securityHeaders,
} from "./http/middleware.ts";
import { logRequests } from "./log.ts";
import type { Services } from "./services.ts";

// A request for a page file arrives here only when the file does not exist: 404, with or without a key.
const OPEN =
  /^\/(health|openapi\.json|docs(\/.*)?|app\/.*|media\/.*|image\/.*|uploads\/[^/]+\/parts\/[^/]+)$/s;

/** Creates the API with all its routes, headers and error handling. */
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
  addEstimateRoutes(app, services);
  addPreviewRoutes(app, services);
  addJobRoutes(app, services);
  addStepRoutes(app, services);
  addConnectionRoutes(app, services);
  addUploadRoutes(app, services);
  addWebhookRoutes(app, services);
  addEventStreamRoutes(app, services);
  addKeyRoutes(app, services);
  addMediaRoutes(app, services);
  addImageRoutes(app, services);
  addServiceRoutes(app, services);
  return app;
}
