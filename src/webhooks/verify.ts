import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { WebhookEvent } from "../runs/webhook-events.ts";
import { parseJson } from "../util/text.ts";
import * as errors from "./errors.ts";

/** Headers of a request, as the web platform or Node provides them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

const SIGNED = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;

/**
 * Verifies a webhook's signature (Standard Webhooks) and returns its event. An event may arrive more than once; its `id`
 * identifies it.
 *
 * @param body The text exactly as received; parsing and serializing would change it.
 * @param secret The endpoint's secret; with several, as during a rotation, one match is enough.
 * @throws `forbidden` when the service did not sign the body within the last five minutes, `request_invalid` for a malformed
 * secret or a body that is not an event.
 * @example const event = verifyWebhook(await request.text(), request.headers, secret);
 */
export function verifyWebhook(
  body: string,
  headers: WebhookHeaders,
  secret: string | readonly string[],
): WebhookEvent {
  const signed = Object.fromEntries(SIGNED.map((name) => [name, headerOf(headers, name)]));
  const secrets = typeof secret === "string" ? [secret] : secret;
  if (!secrets.map(readSecret).some((key) => isSignedBy(key, body, signed))) throw errors.notSigned();
  const parsed = WebhookEvent.safeParse(parseJson(body));
  if (parsed.success) return parsed.data;
  throw errors.eventUnknown({ cause: parsed.error });
}

function isSignedBy(key: Webhook, body: string, signed: Record<string, string>): boolean {
  try {
    key.verify(body, signed, { jsonParse: false });
    return true;
  } catch (thrown) {
    if (thrown instanceof WebhookVerificationError) return false;
    throw thrown;
  }
}

function readSecret(secret: string): Webhook {
  try {
    return new Webhook(secret);
  } catch {
    // The library's message may contain the secret.
    throw errors.secretMalformed();
  }
}

function headerOf(headers: WebhookHeaders, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? "";
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof value === "string" ? value : (value?.join(" ") ?? "");
}
