import { expect, test } from "vitest";
import { writeSettings } from "../../../worker/local/build/write-settings.ts";
import {
  NativeSettings,
  readSettings,
  ServiceSettings,
  SettingsError,
  serviceSettings,
} from "../../../worker/settings.ts";

const SIGNING_KEY = "-".repeat(32);
const read = (variables: Record<string, unknown>) =>
  readSettings(ServiceSettings, { MEDIA_SIGNING_KEY: SIGNING_KEY, ...variables });

test("the defaults of a deployed service", () => {
  expect(read({})).toEqual({
    MEDIA_SIGNING_KEY: [SIGNING_KEY],
    ALLOW_PRIVATE_NETWORK: false,
    LOG_LEVEL: "info",
    CORS_ORIGINS: ["*"],
    MAX_KEYS: 100,
    IMAGE_FRESH_SECONDS: 3600,
    RECORD_TTL: 7_776_000,
    LISTED_BYTES: 8e9,
    MEDIA_TTL: 604_800,
    EVENT_TTL: 604_800,
    MAX_INPUT_BYTES: 5e9,
    MAX_INPUT_SECONDS: 21_600,
    DAILY_FETCHED_BYTES: 1e12,
    DAILY_STORED_BYTES: 5e11,
    INGEST_SECONDS: 3600,
    WATCH_SECONDS: 30,
    STALL_SECONDS: 300,
    ENCODER_AWAY_SECONDS: 120,
    NATIVE_INSTANCES: 0,
    MAX_CHUNKS_IN_FLIGHT: 8,
    MAX_REQUESTS: 300,
    MAX_CREATIONS: 60,
    MAX_RUNNING: 25,
    MAX_RUNNING_TOTAL: 1000,
    MAX_WAITING: 1000,
    WEBHOOK_TIMEOUT_SECONDS: 10,
    WEBHOOK_RETRY_SECONDS: 5,
  });
});

test("the defaults of a native encoder", () => {
  expect(readSettings(NativeSettings, {})).toEqual({
    PORT: 8080,
    HOST: "127.0.0.1",
    LEASE_SECONDS: 120,
    GRACE_SECONDS: 600,
    STALL_SECONDS: 60,
    MAX_FILE_BYTES: 64 * 2 ** 30,
  });
});

test.for([
  { text: "1000", bytes: 1000 },
  { text: "1 B", bytes: 1 },
  { text: "500 MB", bytes: 5e8 },
  { text: "4.1GB", bytes: 4_100_000_000 },
  { text: "2 GiB", bytes: 2 ** 31 },
  { text: "1.5 kib", bytes: 1536 },
] as const)("a size of $text is $bytes bytes", ({ text, bytes }) => {
  expect(read({ MAX_INPUT_BYTES: text }).MAX_INPUT_BYTES).toBe(bytes);
});

test.for([
  { name: "MAX_INPUT_SECONDS", text: 60, value: 60 },
  { name: "ALLOW_PRIVATE_NETWORK", text: true, value: true },
  { name: "WEBHOOK_RETRY_SECONDS", text: 0.5, value: 0.5 },
  { name: "MAX_REQUESTS", text: " 7 ", value: 7 },
  { name: "MAX_REQUESTS", text: " ", value: 300 },
  { name: "PUBLIC_URL", text: "https://media.example/api//", value: "https://media.example/api" },
  { name: "NATIVE_ENCODER_URL", text: "http://a:1/, ,https://b/c", value: ["http://a:1", "https://b/c"] },
  { name: "OPERATOR_KEY", text: "o".repeat(32), value: ["o".repeat(32)] },
  {
    name: "CORS_ORIGINS",
    text: "loopback, https://shop.example",
    value: ["loopback", "https://shop.example"],
  },
  { name: "SERVICE_HOSTS", text: "loopback,Media.example", value: ["loopback", "media.example"] },
  {
    name: "ALLOWED_HOSTS",
    text: "NAS.local, 127.1:9000,[::1]:80",
    value: ["nas.local", "127.0.0.1:9000", "[::1]:80"],
  },
  {
    name: "API_KEYS",
    text: "a, b:c ,d:e:f,",
    value: [
      { key: "a", project: null },
      { key: "c", project: "b" },
      { key: "e:f", project: "d" },
    ],
  },
  {
    name: "MEDIA_SIGNING_KEY",
    text: `${"n".repeat(32)}, ${"o".repeat(32)}`,
    value: ["n".repeat(32), "o".repeat(32)],
  },
  {
    name: "CONNECTION_KEYS",
    text: `${"n".repeat(16)}, ${"o".repeat(16)}`,
    value: ["n".repeat(16), "o".repeat(16)],
  },
] as const)("$name=$text is read as $value", ({ name, text, value }) => {
  expect(read({ [name]: text })[name]).toEqual(value);
});

test.for([
  { name: "MAX_INPUT_BYTES", texts: ["1.5", "-1", "5 gigs", "5G", "0x10", "1e9", "50.1 GB", "0 GB"] },
  { name: "INGEST_SECONDS", texts: ["0", "21601", "1.5", "1h", "Infinity"] },
  { name: "WEBHOOK_RETRY_SECONDS", texts: ["0", "0.001", "3601", "-1", "NaN"] },
  { name: "MAX_REQUESTS", texts: ["9007199254740993", "0", "+5"] },
  { name: "ALLOW_PRIVATE_NETWORK", texts: ["TRUE", "1", "yes"] },
  { name: "PUBLIC_URL", texts: ["media.example", "ftp://a", "https://a/?b", "https://a/#", "https://a:b@c"] },
  { name: "ALLOWED_HOSTS", texts: ["http://a", "*.local", "10.0.0.0/8", "a b", "::1", "a:99999", "me@a"] },
  {
    name: "API_KEYS",
    texts: ["project:", ":key", "a b:key", "my key", "ok,pro/ject:key", `${"p".repeat(65)}:key`, ","],
  },
  { name: "MEDIA_SIGNING_KEY", texts: ["-".repeat(31), `${"n".repeat(32)},short`, `${"n".repeat(32)},`] },
  {
    name: "OPERATOR_KEY",
    texts: ["o".repeat(31), `${"o".repeat(16)} ${"o".repeat(16)}`, `${"o".repeat(32)},`],
  },
  { name: "CONNECTION_KEYS", texts: ["short", `${"n".repeat(16)},short`, `${"n".repeat(16)},`] },
] as const)("$name rejects $texts", ({ name, texts }) => {
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
