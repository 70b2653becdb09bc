import { resolve } from "node:path";
import { expect, test } from "vitest";
import { parseSettings } from "../../worker/local/settings.ts";

test("the defaults", () => {
  expect(parseSettings({})).toEqual({
    port: 8787,
    state_dir: resolve(".framewright"),
    vars: {
      ALLOW_PRIVATE_NETWORK: "true",
      WATCH_SECONDS: "5",
      LOG_LEVEL: "error",
      CORS_ORIGINS: "loopback",
      SERVICE_HOSTS: "loopback",
    },
  });
});

test("passes the settings on to the service", () => {
  const limits = { MEDIA_TTL: "60", MAX_INPUT_BYTES: "1000", WATCH_SECONDS: "8", STALL_SECONDS: "9" };
  const more = { INGEST_SECONDS: "7", PUBLIC_URL: "https://media.example", ALLOW_PRIVATE_NETWORK: "false" };
  const urls = "http://127.0.0.1:9/a, https://b.example";
  const trust = { CORS_ORIGINS: "https://shop.example", SERVICE_HOSTS: "media.example" };
  const native = { NATIVE_ENCODER_URL: urls, MAX_CHUNKS_IN_FLIGHT: "3", LOG_LEVEL: "info" };
  const own = { PORT: "0", API_KEYS: "a, team:b", STATE_DIR: "/data", NATIVE_ENCODER_TOKEN: "secret" };
  const keys = { CONNECTION_KEYS: "the newest of the keys,the one that was before" };
  expect(parseSettings({ ...own, ...keys, HOME: "/root", ...limits, ...more, ...trust, ...native })).toEqual({
    port: 0,
    api_keys: "a, team:b",
    state_dir: "/data",
    vars: { ...limits, ...more, ...trust, ...native },
    native_token: "secret",
    connection_keys: keys.CONNECTION_KEYS,
  });
});

test("ignores empty settings", () => {
  expect(parseSettings({ PORT: "", API_KEYS: "", STATE_DIR: "", MEDIA_TTL: "" })).toEqual(parseSettings({}));
});

test.for([
  ["PORT", "-1"],
  ["PORT", "65536"],
  ["PORT", "80.5"],
  ["PORT", "http"],
  ["API_KEYS", " , "],
  ["API_KEYS", "no spaces:key"],
  ["API_KEYS", "team:"],
  ["CONNECTION_KEYS", "too short"],
  ["CONNECTION_KEYS", "long enough for a key,too short"],
  ["CORS_ORIGINS", "shop.example"],
  ["CORS_ORIGINS", "loopback,https://shop.example/"],
  ["SERVICE_HOSTS", "https://media.example"],
  ["ALLOW_PRIVATE_NETWORK", "yes"],
  ["LOG_LEVEL", "debug"],
  ["MEDIA_TTL", "a week"],
  ["MEDIA_TTL", "1.5"],
  ["MAX_INPUT_BYTES", "0"],
  ["MAX_INPUT_BYTES", "5 gigs"],
  ["STALL_SECONDS", "-5"],
  ["MAX_CHUNKS_IN_FLIGHT", "1.5"],
  ["MAX_REQUESTS", "0.5"],
  ["MAX_RUNNING", "0"],
  ["MAX_WAITING", "many"],
  ["MAX_CHUNKS_IN_FLIGHT", "0"],
  ["NATIVE_ENCODER_URL", "localhost:8080"],
  ["NATIVE_ENCODER_URL", "http://a.example,ftp://b.example"],
  ["NATIVE_ENCODER_URL", "http://a.example/?token=x"],
  ["PUBLIC_URL", "media.example"],
  ["ALLOWED_HOSTS", "http://nas.local"],
])("rejects %s=%j by name", ([name = "", value]) => {
  expect(() => parseSettings({ [name]: value })).toThrow(new RegExp(`^${name} must be [^\n]+\\.$`));
});
