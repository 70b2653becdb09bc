import { MediaError } from "../../src/index.ts";
import { isLoopback } from "../../src/util/text.ts";
import * as strings from "./strings.ts";

const ANSWER_MS = 10_000;

/**
 * Parses the address of a service as people write it, with or without `https://`, for a page loaded over `page_protocol`.
 * Throws `request_invalid` with a message for the visitor.
 */
export function parseAddress(text: string, page_protocol: string): string {
  const trimmed = text.trim();
  const url = URL.parse(
    /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `${schemeFor(trimmed)}://${trimmed}`,
  );
  if (!trimmed || !url?.hostname) throw invalidAddress(strings.enterAddress);
  if (url.protocol !== "https:" && url.protocol !== "http:") throw invalidAddress(strings.addressNotHttp);
  if (url.username || url.password || url.search || url.hash) throw invalidAddress(strings.addressHasExtras);
  if (page_protocol === "https:" && url.protocol === "http:" && !isLoopback(url.hostname))
    throw invalidAddress(strings.addressNeedsHttps);
  return url.href.replace(/\/+$/, "");
}

/**
 * Checks, without a key, that a Framewright service responds at an address. Rejects with `service_unavailable` and a message
 * for the visitor.
 */
export async function reachService(base_url: string): Promise<void> {
  const { host } = new URL(base_url);
  let answer: Response;
  try {
    answer = await fetch(`${base_url}/health`, {
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      signal: AbortSignal.timeout(ANSWER_MS),
    });
  } catch (thrown) {
    const late = thrown instanceof DOMException && thrown.name === "TimeoutError";
    throw unavailable(
      late ? strings.serviceLate({ host, seconds: ANSWER_MS / 1000 }) : strings.serviceUnreachable({ host }),
    );
  }
  const health: unknown = await answer.json().catch(() => null);
  // Many services report their health this way; only Framewright sends such request ids.
  const ours = answer.headers.get("Request-Id")?.startsWith("req_");
  if (answer.ok && ours && Reflect.get(Object(health), "status") === "ok") return;
  throw unavailable(strings.notAService({ host }));
}

/** Checks that a text can be a key; throws `token_invalid` with a message for the visitor that does not contain the text. */
export function parseKey(text: string): string {
  const key = text.trim();
  if (/^[\x21-\x7e]{1,512}$/.test(key)) return key;
  throw new MediaError("token_invalid", strings.enterKey, {
    param: "api_key",
  });
}

function schemeFor(address: string): "http" | "https" {
  const host = URL.parse(`http://${address}`)?.hostname ?? "";
  return isLoopback(host) ? "http" : "https";
}

function invalidAddress(message: string): MediaError {
  return new MediaError("request_invalid", message, { param: "base_url" });
}

function unavailable(message: string): MediaError {
  return new MediaError("service_unavailable", message, { param: "base_url" });
}
