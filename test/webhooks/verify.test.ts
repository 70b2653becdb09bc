import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { verifyWebhook } from "../../src/webhooks/verify.ts";
import { EVENT } from "../../worker/docs/webhook-examples.ts";

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
  ["headers of Node", headersOf()],
  ["headers of the web", new Headers(headersOf())],
  ["headers as they were written", { "Webhook-Id": EVENT.id, ...rename(headersOf()) }],
  ["a signature of the secret before too", headersOf({ secrets: [OTHER, SECRET] })],
  ["one that is four minutes old", headersOf({ age: 240 })],
])("an event is given back by %s", (_, headers) => {
  expect(verifyWebhook(BODY, headers, SECRET)).toEqual(EVENT);
});

test("of several secrets one is enough", () => {
  expect(verifyWebhook(BODY, headersOf({ secrets: [OTHER] }), [SECRET, OTHER])).toEqual(EVENT);
});

test.each([
  ["another body", `${BODY} `, headersOf()],
  ["another secret", BODY, headersOf({ secrets: [OTHER] })],
  ["another id", BODY, { ...headersOf(), "webhook-id": "evt_other" }],
  ["another time", BODY, { ...headersOf(), "webhook-timestamp": String(Math.floor(Date.now() / 1000) - 7) }],
  ["one of an hour ago", BODY, headersOf({ age: 3600 })],
  ["one of tomorrow", BODY, headersOf({ age: -86_400 })],
  ["no headers", BODY, {}],
  ["an empty signature", BODY, { ...headersOf(), "webhook-signature": "" }],
  ["a signature that is none", BODY, { ...headersOf(), "webhook-signature": "v1,? v2,x v1" }],
  ["a time that is none", BODY, { ...headersOf(), "webhook-timestamp": "now" }],
])("%s is forbidden", (_, body, headers) => {
  const forbidden = expect.objectContaining({ kind: "forbidden", retryable: false });
  expect(() => verifyWebhook(body, headers, SECRET)).toThrow(forbidden);
});

test("what was signed and is no event is refused, and so is what is no secret, which is not shown", () => {
  for (const body of ['{"hello":1}', "hello", ""]) {
    const refused = expect.objectContaining({ kind: "request_invalid" });
    expect(() => verifyWebhook(body, headersOf({ body }), SECRET)).toThrow(refused);
  }
  for (const secret of ["", "whsec_", "whsec_%%%", []]) {
    const thrown = trying(() => verifyWebhook(BODY, headersOf(), secret));
    expect(["request_invalid", "forbidden"]).toContain(Reflect.get(Object(thrown), "kind"));
    expect(String(thrown)).not.toContain("%%%");
  }
});

function rename(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
}

function trying(work: () => unknown): unknown {
  try {
    return work();
  } catch (thrown) {
    return thrown;
  }
}
