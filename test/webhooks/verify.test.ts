import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { verifyWebhook } from "../../src/webhooks/verify.ts";
import { EVENT } from "../../worker/api/webhooks.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const BODY = JSON.stringify(EVENT);

function headersOf({ body = BODY, secrets = [SECRET], age = 0, id = EVENT.id } = {}) {
  const at = new Date(Math.floor(Date.now() / 1000 - age) * 1000);
  return {
    "webhook-id": id,
    "webhook-timestamp": String(at.getTime() / 1000),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(" "),
  };
}

test.each([
  { name: "Node headers", headers: headersOf() },
  { name: "web Headers", headers: new Headers(headersOf()) },
  { name: "headers in other letter cases", headers: { "Webhook-Id": EVENT.id, ...rename(headersOf()) } },
  {
    name: "an additional signature with the previous secret",
    headers: headersOf({ secrets: [OTHER, SECRET] }),
  },
  { name: "an event four minutes old", headers: headersOf({ age: 240 }) },
])("returns the event for $name", ({ headers }) => {
  expect(verifyWebhook(BODY, headers, SECRET)).toEqual(EVENT);
});

test("one matching secret of several is enough", () => {
  expect(verifyWebhook(BODY, headersOf({ secrets: [OTHER] }), [SECRET, OTHER])).toEqual(EVENT);
});

test.each([
  { name: "another body", body: `${BODY} `, headers: headersOf() },
  { name: "another secret", body: BODY, headers: headersOf({ secrets: [OTHER] }) },
  { name: "another id", body: BODY, headers: { ...headersOf(), "webhook-id": "evt_other" } },
  {
    name: "another time",
    body: BODY,
    headers: { ...headersOf(), "webhook-timestamp": String(Math.floor(Date.now() / 1000) - 7) },
  },
  { name: "an event from an hour ago", body: BODY, headers: headersOf({ age: 3600 }) },
  { name: "an event from tomorrow", body: BODY, headers: headersOf({ age: -86_400 }) },
  { name: "no headers", body: BODY, headers: {} },
  { name: "an empty signature", body: BODY, headers: { ...headersOf(), "webhook-signature": "" } },
  {
    name: "a malformed signature",
    body: BODY,
    headers: { ...headersOf(), "webhook-signature": "v1,? v2,x v1" },
  },
  { name: "a malformed time", body: BODY, headers: { ...headersOf(), "webhook-timestamp": "now" } },
])("rejects $name as forbidden", ({ body, headers }) => {
  const forbidden = expect.objectContaining({ kind: "forbidden", retryable: false });
  expect(() => verifyWebhook(body, headers, SECRET)).toThrow(forbidden);
});

test("rejects a signed body that is not an event, and an invalid secret without showing it", () => {
  for (const body of ['{"hello":1}', "hello", ""]) {
    const refused = expect.objectContaining({ kind: "request_invalid" });
    expect(() => verifyWebhook(body, headersOf({ body }), SECRET)).toThrow(refused);
  }
  for (const secret of ["", "whsec_", "whsec_%%%", []]) {
    const thrown = catchThrown(() => verifyWebhook(BODY, headersOf(), secret));
    expect(["request_invalid", "forbidden"]).toContain(Reflect.get(Object(thrown), "kind"));
    expect(String(thrown)).not.toContain("%%%");
  }
});

function rename(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
}

function catchThrown(work: () => unknown): unknown {
  try {
    return work();
  } catch (thrown) {
    return thrown;
  }
}
