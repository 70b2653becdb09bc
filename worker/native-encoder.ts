import { Container } from "@cloudflare/containers";
import { toBase64Url } from "../src/util/bytes.ts";
import { SERVICE_IN_CONTAINER } from "./run/encoders.ts";
import { serveApi } from "./serve-api.ts";

const TOKEN = "token";

/**
 * A container with the native encoder. It has no internet access and no credentials: it can reach only the media routes of this service,
 * at the signed URLs of its jobs. Every request keeps it awake, including polls.
 */
export class NativeEncoder extends Container<Bindings> {
  override defaultPort = 8080;
  // Outlasts the two minutes after which the encoder ends a job that is not polled.
  override sleepAfter = "5m";
  override enableInternet = false;
  override pingEndpoint = "localhost/health";
  // Stored, because a container outlives this instance of the object and keeps the variables that it started with.
  readonly #token = this.ctx.storage.kv.get<string>(TOKEN) ?? this.#drawToken();
  override envVars = {
    HOST: "0.0.0.0",
    PORT: "8080",
    SERVICE_ORIGINS: SERVICE_IN_CONTAINER,
    NATIVE_ENCODER_TOKEN: this.#token,
  };

  /** Forwards a request with the container's token, which only this object knows. */
  override fetch(request: Request): Promise<Response> {
    const headers = new Headers(request.headers);
    headers.set("Authorization", `Bearer ${this.#token}`);
    return super.fetch(new Request(request, { headers }));
  }

  #drawToken(): string {
    const token = toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
    this.ctx.storage.kv.put(TOKEN, token);
    return token;
  }
}

// Assigned, because a static field would shadow the library's setter.
NativeEncoder.outboundByHost = {
  [new URL(SERVICE_IN_CONTAINER).hostname]: (request: Request, bindings: unknown) =>
    new URL(request.url).pathname.startsWith("/media/")
      ? serveApi(request, bindings as Bindings)
      : new Response(null, { status: 403 }),
};
