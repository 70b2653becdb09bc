import { expect, test } from "vitest";
import { writeSettings } from "../../../worker/local/build/write-settings.ts";
import { readSettings, SettingsError, serviceSettings } from "../../../worker/settings/read.ts";
import { NativeSettings, ServiceSettings } from "../../../worker/settings/schema.ts";

const SIGNING_KEY = "-".repeat(32);
const read = (variables: Record<string, unknown>) =>
  readSettings(ServiceSettings, { MEDIA_SIGNING_KEY: SIGNING_KEY, ...variables });

test("the defaults of a deployed service", () => {
  expect(read({})).toEqual({
    ...{ MEDIA_SIGNING_KEY: [SIGNING_KEY], ALLOW_PRIVATE_NETWORK: false, LOG_LEVEL: "info" },
    CORS_ORIGINS: ["*"],
    MAX_KEYS: 100,
    IMAGE_FRESH_SECONDS: 3600,
    ...{
      ...{ RECORD_TTL: 7_776_000, LISTED_BYTES: 8e9 },
      MEDIA_TTL: 604_800,
      EVENT_TTL: 604_800,
      MAX_INPUT_BYTES: 5e9,
      MAX_INPUT_SECONDS: 21_600,
    },
    ...{ DAILY_FETCHED_BYTES: 1e12, DAILY_STORED_BYTES: 5e11 },
    ...{ INGEST_SECONDS: 3600, WATCH_SECONDS: 30, STALL_SECONDS: 300 },
    ...{
      ENCODER_AWAY_SECONDS: 120,
      NATIVE_INSTANCES: 0,
      MAX_CHUNKS_IN_FLIGHT: 8,
      MAX_REQUESTS: 300,
      MAX_CREATIONS: 60,
    },
    ...{ MAX_RUNNING: 25, MAX_RUNNING_TOTAL: 1000, MAX_WAITING: 1000 },
    ...{ WEBHOOK_TIMEOUT_SECONDS: 10, WEBHOOK_RETRY_SECONDS: 5 },
  });
});

test("the defaults of a native encoder", () => {
  expect(readSettings(NativeSettings, {})).toEqual({
    ...{ PORT: 8080, HOST: "127.0.0.1", LEASE_SECONDS: 120, GRACE_SECONDS: 600, STALL_SECONDS: 60 },
    MAX_FILE_BYTES: 64 * 2 ** 30,
  });
});

test.for([
  ["1000", 1000],
  ["1 B", 1],
  ["500 MB", 5e8],
  ["4.1GB", 4_100_000_000],
  ["2 GiB", 2 ** 31],
  ["1.5 kib", 1536],
] as const)("a size of %j is %d bytes", ([text, bytes]) => {
  expect(read({ MAX_INPUT_BYTES: text }).MAX_INPUT_BYTES).toBe(bytes);
});

test.for([
  ["MAX_INPUT_SECONDS", 60, 60],
  ["ALLOW_PRIVATE_NETWORK", true, true],
  ["WEBHOOK_RETRY_SECONDS", 0.5, 0.5],
  ["MAX_REQUESTS", " 7 ", 7],
  ["MAX_REQUESTS", " ", 300],
  ["PUBLIC_URL", "https://media.example/api//", "https://media.example/api"],
  ["NATIVE_ENCODER_URL", "http://a:1/, ,https://b/c", ["http://a:1", "https://b/c"]],
  ["OPERATOR_KEY", "o".repeat(32), ["o".repeat(32)]],
  ["CORS_ORIGINS", "loopback, https://shop.example", ["loopback", "https://shop.example"]],
  ["SERVICE_HOSTS", "loopback,Media.example", ["loopback", "media.example"]],
  ["ALLOWED_HOSTS", "NAS.local, 127.1:9000,[::1]:80", ["nas.local", "127.0.0.1:9000", "[::1]:80"]],
  [
    "API_KEYS",
    "a, b:c ,d:e:f,",
    [
      { key: "a", project: null },
      { key: "c", project: "b" },
      { key: "e:f", project: "d" },
    ],
  ],
  ["MEDIA_SIGNING_KEY", `${"n".repeat(32)}, ${"o".repeat(32)}`, ["n".repeat(32), "o".repeat(32)]],
  ["CONNECTION_KEYS", `${"n".repeat(16)}, ${"o".repeat(16)}`, ["n".repeat(16), "o".repeat(16)]],
] as const)("%s=%j is read as %j", ([name, text, value]) => {
  expect(read({ [name]: text })[name]).toEqual(value);
});

test.for([
  ["MAX_INPUT_BYTES", ["1.5", "-1", "5 gigs", "5G", "0x10", "1e9", "50.1 GB", "0 GB"]],
  ["INGEST_SECONDS", ["0", "21601", "1.5", "1h", "Infinity"]],
  ["WEBHOOK_RETRY_SECONDS", ["0", "0.001", "3601", "-1", "NaN"]],
  ["MAX_REQUESTS", ["9007199254740993", "0", "+5"]],
  ["ALLOW_PRIVATE_NETWORK", ["TRUE", "1", "yes"]],
  ["PUBLIC_URL", ["media.example", "ftp://a", "https://a/?b", "https://a/#", "https://a:b@c"]],
  ["ALLOWED_HOSTS", ["http://a", "*.local", "10.0.0.0/8", "a b", "::1", "a:99999", "me@a"]],
  ["API_KEYS", ["project:", ":key", "a b:key", "my key", "ok,pro/ject:key", `${"p".repeat(65)}:key`, ","]],
  ["MEDIA_SIGNING_KEY", ["-".repeat(31), `${"n".repeat(32)},short`, `${"n".repeat(32)},`]],
  ["OPERATOR_KEY", ["o".repeat(31), `${"o".repeat(16)} ${"o".repeat(16)}`, `${"o".repeat(32)},`]],
  ["CONNECTION_KEYS", ["short", `${"n".repeat(16)},short`, `${"n".repeat(16)},`]],
] as const)("%s rejects %j", ([name, texts]) => {
  for (const text of texts) expect(() => read({ [name]: text }), text).toThrow(`${name} must be `);
});

test("a message shows the rejected value, shortened, but never a secret", () => {
  const longValue = `hush${"!".repeat(200)}`;
  const secrets = {
    API_KEYS: "hush hush",
    MEDIA_SIGNING_KEY: "hush",
    CONNECTION_KEYS: "hush",
    NATIVE_ENCODER_URL: "http://hush@hush",
  };
  const url = { PUBLIC_URL: "https://a:hush@b" };
  const rejectionOf = (variables: object) => {
    try {
      read({ ...variables });
    } catch (thrown) {
      if (thrown instanceof SettingsError) return thrown;
    }
    throw new Error("Not rejected.");
  };
  const { message, summary, param } = rejectionOf({ LOG_LEVEL: longValue });
  expect(message).toBe(`LOG_LEVEL must be info or error, not ${JSON.stringify(longValue.slice(0, 100))}.`);
  expect([summary, param]).toEqual(["LOG_LEVEL must be info or error.", "LOG_LEVEL"]);
  expect(rejectionOf({ ...secrets, ...url }).message).not.toContain("hush");
});

test("parses the settings once per env of an isolate, malformed ones too", () => {
  let looks = 0;
  const envOf = (variables: object) =>
    new Proxy(variables, {
      ownKeys(target) {
        looks++;
        return Reflect.ownKeys(target);
      },
    });
  const good = envOf({ MEDIA_SIGNING_KEY: SIGNING_KEY });
  expect(serviceSettings(good)).toBe(serviceSettings(good));
  const bad = envOf({ MAX_RUNNING: "0" });
  for (const _ of [1, 2, 3]) expect(() => serviceSettings(bad)).toThrow("MAX_RUNNING must be ");
  expect(looks).toBe(2);
});

test("rejects a document without a place for a table", () => {
  expect(() => writeSettings("# Settings")).toThrow("There is no place for the settings of service.");
});
