import { invalid, toMediaError } from "../../src/media/errors.ts";
import { isTrusted } from "../../src/storage/http/host-guard.ts";
import { errors } from "../errors.ts";
import type { Services } from "../services.ts";

type Needs = Pick<Services, "outside" | "settings">;

/** Checks the webhook URL of a new run, if any, and ensures that there is a secret to sign with; rejects with `request_invalid`. */
export async function checkWebhook(
  { webhook_url }: { webhook_url?: string | undefined },
  project: string,
  needs: Needs & Pick<Services, "webhooks">,
): Promise<void> {
  if (webhook_url === undefined) return;
  await checkWebhookUrl(webhook_url, "webhook_url", needs);
  await needs.webhooks.prepare(project);
}

/** Checks that events may be posted to a URL; rejects with `request_invalid` for a host that is not public, and for http unless private hosts are allowed. */
export async function checkWebhookUrl(
  url: string,
  param: string,
  { outside, settings }: Needs,
): Promise<void> {
  const parsed = new URL(url);
  if (parsed.protocol !== "https:" && !isTrusted(parsed, settings))
    throw invalid(param, "must be a URL that starts with https://.");
  try {
    await outside.guard(url);
  } catch (thrown) {
    throw errors.refusedUrl({ param, message: toMediaError(thrown).message });
  }
}
