import { Container } from "@cloudflare/containers";
import { serveApi } from "../serve-api.ts";
import type { ServiceSettings } from "../settings/schema.ts";
import { serviceSettings } from "../settings/service-settings.ts";
import { SERVICE_IN_CONTAINER } from "./native.ts";

/**
 * A container with the native encoder, made of the Dockerfile beside this. It reaches nothing but the media routes of this
 * service, by the signed URLs of its jobs: it has no internet and no credentials. Every request keeps it awake, a client's poll
 * too.
 */
export class NativeEncoder extends Container<Bindings> {
  override defaultPort = 8080;
  // Callers poll a job every few seconds; the encoder ends a job that has not been polled for two minutes.
  override sleepAfter = "5m";
  override enableInternet = false;
  override pingEndpoint = "localhost/health";
  override envVars = containerVariables(serviceSettings(this.env));
}

function containerVariables({ NATIVE_ENCODER_TOKEN }: ServiceSettings): Record<string, string> {
  return {
    HOST: "0.0.0.0",
    PORT: "8080",
    SERVICE_ORIGINS: SERVICE_IN_CONTAINER,
    ...(NATIVE_ENCODER_TOKEN !== undefined && { NATIVE_ENCODER_TOKEN }),
  };
}

// Assigned, as a static field would hide the setter of the library, which then finds no handler.
NativeEncoder.outboundByHost = {
  [new URL(SERVICE_IN_CONTAINER).hostname]: (request: Request, bindings: unknown) =>
    new URL(request.url).pathname.startsWith("/media/")
      ? serveApi(request, bindings as Bindings)
      : new Response(null, { status: 403 }),
};
