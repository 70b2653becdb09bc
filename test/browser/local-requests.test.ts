import { expect, test } from "vitest";
import { parseLocalStep, parseLocalTask } from "../../src/browser/media-worker/local-requests.ts";

const url = "https://example.com/a.mp4";
const webhook_url = "https://example.com/hooks";
const rules = { connections: { check() {} } };

test.each([
  { name: "task", parse: () => parseLocalTask({ input: url, kind: "audio", webhook_url }, null, rules) },
  { name: "step", parse: () => parseLocalStep({ kind: "probe", input: { url }, webhook_url }, null, rules) },
])("rejects a webhook URL for a $name in the page, as only the service can deliver webhooks", ({ parse }) => {
  expect(parse).toThrow(expect.objectContaining({ kind: "request_invalid", param: "webhook_url" }));
});
