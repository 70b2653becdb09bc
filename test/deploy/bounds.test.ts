import { expect, test } from "vitest";
import { LIGHT_MEMORY } from "../../src/encoders/light/light-estimate.ts";
import { BOUNDS } from "../../src/media/formats.ts";
import { MAX_SOURCE_BYTES } from "../../src/probe/probe.ts";
import { createIds } from "../../src/runs/ids.ts";
import { runFolder } from "../../src/runs/steps/media-keys.ts";
import { outputStem } from "../../src/runs/steps/upload.ts";
import { PARALLEL_FETCHES } from "../../src/storage/pinned.ts";
import { PARTS_AT_ONCE } from "../../src/storage/s3/upload.ts";
import { MIB } from "../../src/util/bytes.ts";
import { MAX_BODY_BYTES } from "../../worker/http/body.ts";
import { createSigner } from "../../worker/media/signed-urls.ts";
import { KEYS_AT_ONCE } from "../../worker/network/r2-storage.ts";
import { PAGE_CHARS } from "../../worker/run/run-index.ts";
import { ATTEMPTS, KV_TTL, MIRROR_MS, mirrorKey } from "../../worker/run/schedule.ts";
import { ENGINES } from "../../worker/run/workflow-instance.ts";
import { readSettings, ServiceSettings } from "../../worker/settings.ts";

// These limits need no bundles, unlike those of limits.service.test.ts. Numbers as the pages below https://developers.cloudflare.com/ state them for
// a paid plan.

const KEY = "a-signing-key-of-32-characters-for-tests";
const read = (vars: Record<string, string>) =>
  readSettings(ServiceSettings, { MEDIA_SIGNING_KEY: KEY, ...vars });

/** Returns the largest value that a setting takes, which the next one shows. */
function largest(
  name: "LISTED_BYTES" | "MAX_RUNNING_TOTAL" | "MAX_HEAVY_TOTAL" | "WEBHOOK_TIMEOUT_SECONDS",
  value: number,
) {
  expect(() => read({ [name]: String(value + 1) })).toThrow(name);
  return read({ [name]: String(value) })[name] ?? Number.NaN;
}

// The most bytes of a row in an object's database.
const MOST_ROW_BYTES = 2_000_000;

const id = createIds(Math.random)("task", Date.now());
const stem = outputStem(`https://example.com/${"a".repeat(5000)}.mp4`);
const file = `${runFolder("out", id)}${stem}/1080p/seg_00001.m4s`;
const bytesOf = (text: string) => new TextEncoder().encode(text).length;

// The list of what an output dropped is at most twice as long as that of the source's tracks.
const MOST_OUTPUT_BYTES = Math.max(
  3 * MAX_SOURCE_BYTES,
  MAX_SOURCE_BYTES +
    (BOUNDS.sheets.max + 2) *
      bytesOf(
        JSON.stringify({
          url: `https://media.example.com/${file}`,
          mime: "image/jpeg",
          filesize: 1e9,
          time: 1e5 / 3,
        }),
      ),
);
// A task has its options and its encode's, the source in four places and the output in three.
const MOST_RECORD_BYTES = 2 * MAX_BODY_BYTES + 4 * MAX_SOURCE_BYTES + 3 * MOST_OUTPUT_BYTES;

interface Bound {
  what: string;
  page: string;
  documented: number;
  ours(): number | Promise<number>;
  /** Documented as a least; else it is a most. */
  least?: true;
}

const LIMITS: readonly Bound[] = [
  {
    what: "memory of an isolate, in bytes",
    ...{ page: "workers/platform/limits", documented: 128_000_000, ours: () => LIGHT_MEMORY },
  },
  {
    what: "connections that wait for headers at once",
    ...{
      page: "workers/platform/limits",
      documented: 6,
      ours: () => Math.max(PARALLEL_FETCHES, PARTS_AT_ONCE),
    },
  },
  {
    what: "characters of a URL, of the longest file",
    ...{ page: "workers/platform/limits", documented: 16_384 },
    ours: async () => {
      const url = await createSigner([KEY], Date.now).sign(file, 1e10, "https://media.example.com");
      return url.length;
    },
  },
  {
    what: "seconds of an alarm, which waits for a receiver",
    ...{ page: "durable-objects/api/alarms", documented: 15 * 60 },
    ours: () => largest("WEBHOOK_TIMEOUT_SECONDS", 300),
  },
  {
    what: "bytes of a row, of a record with all that its request may hold",
    ...{
      page: "durable-objects/platform/limits",
      documented: MOST_ROW_BYTES,
      ours: () => MOST_RECORD_BYTES,
    },
  },
  {
    what: "bytes of a database, beyond which a project's records move to the archive",
    ...{
      page: "durable-objects/platform/limits",
      documented: 1e10,
      ours: () => largest("LISTED_BYTES", 9e9),
    },
  },
  {
    what: "instances at once",
    ...{ page: "workflows/reference/limits", documented: 50_000 },
    ours: () => largest("MAX_RUNNING_TOTAL", 25_000) + largest("MAX_HEAVY_TOTAL", 25_000),
  },
  {
    what: "instances of a Workflow created in a second, at 10,000 tasks a minute",
    ...{ page: "workflows/reference/limits", documented: 100, ours: () => 10_000 / 60 / ENGINES.length },
  },
  {
    what: "instances of an account created in a second, at 10,000 tasks a minute",
    ...{ page: "workflows/reference/limits", documented: 300, ours: () => 10_000 / 60 },
  },
  {
    what: "bytes of a call between Workers and objects, with a list of the most and largest records",
    ...{ page: "workers/runtime-apis/rpc", documented: 32 * MIB },
    // A page ends after the record that passes its bound.
    ours: () => 2 * (PAGE_CHARS + MOST_ROW_BYTES),
  },
  {
    what: "bytes of an instance's parameters",
    ...{ page: "workflows/reference/limits", documented: MIB, ours: () => bytesOf(JSON.stringify({ id })) },
  },
  {
    what: "retries of a step",
    ...{ page: "workflows/reference/limits", documented: 10_000, ours: () => ATTEMPTS - 1 },
  },
  {
    what: "milliseconds between two writes to a key",
    ...{ page: "kv/platform/limits", documented: 1000, ours: () => MIRROR_MS, least: true },
  },
  {
    what: "seconds until a key expires",
    ...{ page: "kv/api/write-key-value-pairs", documented: 60, ours: () => KV_TTL, least: true },
  },
  {
    what: "bytes of a key",
    ...{ page: "kv/platform/limits", documented: 512 },
    ours: () => bytesOf(mirrorKey({ id, object: "task" })),
  },
  {
    what: "bytes of a value",
    ...{ page: "kv/platform/limits", documented: 25 * MIB, ours: () => MOST_RECORD_BYTES },
  },
  {
    what: "keys deleted at once",
    ...{ page: "r2/api/workers/workers-api-reference", documented: 1000, ours: () => KEYS_AT_ONCE },
  },
];

test.each(LIMITS)("$page: $what", async ({ documented, ours, least }) => {
  const value = await ours();
  expect(value).toBeGreaterThan(0);
  if (least) expect(value).toBeGreaterThanOrEqual(documented);
  else expect(value).toBeLessThanOrEqual(documented);
});
