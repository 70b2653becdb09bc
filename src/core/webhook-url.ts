import { BOUNDS } from "./formats.ts";
import { invalid } from "./parse-object.ts";

/** Parses the URL of an endpoint; throws `request_invalid`. The service decides whether its host may be contacted. */
export function parseWebhookUrl(value: unknown, param: string): string {
  if (typeof value !== "string") throw invalid(param, "must be a string.");
  if (value.length > BOUNDS.url_length.max)
    throw invalid(param, `must not be longer than ${BOUNDS.url_length.max} characters.`);
  // The URL parser drops line breaks and tabs, so the text would differ from the URL contacted.
  if (/\p{Cc}/u.test(value)) throw invalid(param, "must not hold control characters.");
  const parsed = URL.parse(value);
  if (!parsed?.hostname || !/^https?:\/\//i.test(value))
    throw invalid(param, "must be a URL that starts with https://.");
  if (parsed.username || parsed.password) throw invalid(param, "must not hold a user name or password.");
  return value;
}
