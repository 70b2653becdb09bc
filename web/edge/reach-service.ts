import { MediaError } from "../../src/index.ts";
import { isLoopback } from "../../src/util/loopback.ts";

const ANSWER_MS = 10_000;

/**
 * Parses the address of a service as people write it, with or without `https://`, for a page loaded over `page_protocol`.
 * Throws `request_invalid` with a message for the visitor.
 */
export function parseAddress(text: string, page_protocol: string): string {
  const given = text.trim();
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `${schemeFor(given)}://${given}`);
  if (!given || !url?.hostname)
    throw wrong("Enter the address of a service, such as https://media.example.com.");
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw wrong("The address must start with https:// or http://.");
  if (url.username || url.password || url.search || url.hash)
    throw wrong("Leave user name, password, ? and # out of the address; the key has its own field.");
  if (page_protocol === "https:" && url.protocol === "http:" && !isLoopback(url.hostname))
    throw wrong(
      "This page was loaded over https, so the browser blocks services over http. Use the service's https:// address.",
    );
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
    const what = late
      ? `${host} did not respond within ${ANSWER_MS / 1000} seconds.`
      : `${host} can't be reached, or does not let this page read its responses.`;
    throw unavailable(`${what} Check the address, and that the service is running.`);
  }
  const health: unknown = await answer.json().catch(() => null);
  // Many services report their health this way; these request ids are ours.
  const ours = answer.headers.get("Request-Id")?.startsWith("req_");
  if (answer.ok && ours && Reflect.get(Object(health), "status") === "ok") return;
  throw unavailable(`${host} responds, but not as a Framewright service. Check the address.`);
}

/** Checks that a text can be a key; throws `token_invalid` with a message for the visitor that does not contain the text. */
export function parseKey(text: string): string {
  const key = text.trim();
  if (/^[\x21-\x7e]{1,512}$/.test(key)) return key;
  throw new MediaError("token_invalid", "Enter the key exactly, without spaces.", {
    param: "api_key",
  });
}

function schemeFor(address: string): "http" | "https" {
  const host = URL.parse(`http://${address}`)?.hostname ?? "";
  return isLoopback(host) ? "http" : "https";
}

function wrong(message: string): MediaError {
  return new MediaError("request_invalid", message, { param: "base_url" });
}

function unavailable(message: string): MediaError {
  return new MediaError("service_unavailable", message, { param: "base_url" });
}
