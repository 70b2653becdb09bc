import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { unstable_readConfig as readConfig } from "wrangler";
import { createPlan } from "../../src/media/index.ts";
import { NATIVE_COSTS, NATIVE_MEMORY, nativeWork } from "../../src/media/native-costs.ts";
import type { Source } from "../../src/media/source.ts";
import { createChunks, cutPlan } from "../../src/media/timeline.ts";
import { createIds } from "../../src/runs/ids.ts";
import { runFolder } from "../../src/runs/steps/media-keys.ts";
import { outputStem } from "../../src/runs/steps/upload.ts";
import { MAX_PUT_BYTES, PART_BYTES } from "../../src/storage/http/writer.ts";
import { FETCH_BYTES, SEGMENT_BYTES } from "../../src/storage/pinned.ts";
import { MAX_JOB_BYTES } from "../../worker/container/server.ts";
import { parseSettings } from "../../worker/container/settings.ts";
import { MAX_BODY_BYTES } from "../../worker/http/body.ts";
import { buildPage } from "../../worker/local/build/build-page.ts";
import { WORKERS } from "../../worker/local/service.ts";
import { ROOT } from "../../worker/local/settings.ts";
import { UPLOAD_LIMITS } from "../../worker/media/uploads.ts";
import { readSettings, ServiceSettings } from "../../worker/settings.ts";
import { createMemoryApi } from "../worker/api/memory-api.ts";
import { measureStartup } from "./startup.ts";

const MIB = 2 ** 20;
const GIB = 2 ** 30;

/** The limits that Cloudflare documents, by the pages below https://developers.cloudflare.com/, for a paid plan unless named otherwise. */
const LIMITS = {
  /** workers/platform/limits. */
  worker: {
    bytes: 64 * MIB,
    cpu_ms: 300_000,
    /** Processor time to parse the code and run its global scope. */
    startup_ms: 1000,
    subrequests: 10_000_000,
    asset_bytes: 25 * MIB,
    assets_free: 20_000,
    variables: 128,
    variable_bytes: 5_000,
    /** The largest body of a request to a zone on a Free or Pro plan. */
    body_bytes: 100_000_000,
  },
  /** workflows/reference/limits. */
  workflow: { steps: 10_000, result_bytes: MIB, id: /^[a-zA-Z0-9_][a-zA-Z0-9-_]{0,99}$/ },
  /** r2/platform/limits. */
  r2: { part_least: 5 * MIB, parts: 10_000, key_bytes: 1024 },
  /** containers/platform-details: `standard-3`. */
  container: { memory: 8 * GIB, cpu: 2, disk: 16_000_000_000, stop_seconds: 900 },
  /** durable-objects/platform/limits. */
  object: { row_bytes: 2 * MIB },
} as const;

const configs = Object.entries(WORKERS).map(
  ([name, path]) => [name, readConfig({ config: join(ROOT, path) })] as const,
);
const folder = await mkdtemp(join(tmpdir(), "framewright-deploy-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

const SECRETS = { MEDIA_SIGNING_KEY: "a-signing-key-of-32-characters-for-tests" };
const settings = readSettings(ServiceSettings, SECRETS);

/** The longest film of the largest pictures that the service takes. */
function longest(duration: number): Source {
  return {
    ...{ object: "source", kind: "video", url: "https://example.com/film.mp4", format: "mp4", fps: 60 },
    ...{ width: 3840, height: 2160, duration, filesize: settings.MAX_INPUT_BYTES },
    codecs: { video: "h264", audio: "aac" },
    audio: { channels: 2, sample_rate: 48_000 },
  } as Source;
}

test.each(configs)(
  "the Worker %s fits, starts in time, and asks for no more than it may have",
  async (name, config) => {
    const out = join(folder, name);
    const args = ["deploy", "--dry-run", "--containers-rollout=none", "--outdir", out, "--config"];
    const wrangler = join(ROOT, "node_modules", ".bin", "wrangler");
    await promisify(execFile)(wrangler, [...args, join(ROOT, WORKERS[name as keyof typeof WORKERS])], {
      cwd: ROOT,
    });
    const modules = (await readdir(out)).filter((file) => /\.(js|wasm)$/.test(file));
    expect(modules.length).toBeGreaterThan(0);
    const sizes = await Promise.all(modules.map(async (file) => (await stat(join(out, file))).size));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(LIMITS.worker.bytes);
    expect(await measureStartup(join(out, "index.js"))).toBeLessThan(LIMITS.worker.startup_ms);
    expect(config.limits?.cpu_ms).toBeLessThanOrEqual(LIMITS.worker.cpu_ms);
    expect(config.limits?.subrequests ?? 0).toBeLessThanOrEqual(LIMITS.worker.subrequests);
  },
);

test("the variables and secrets are few and short", () => {
  const names = Object.keys(ServiceSettings.shape);
  expect(names.length).toBeLessThan(LIMITS.worker.variables);
  for (const value of Object.values(configs[0]?.[1].vars ?? {})) {
    expect(String(value).length).toBeLessThan(LIMITS.worker.variable_bytes);
  }
});

test("no request to the service is larger than a zone of the smallest plan lets through", () => {
  const bodies = [MAX_BODY_BYTES, MAX_JOB_BYTES, MAX_PUT_BYTES, PART_BYTES, UPLOAD_LIMITS.max];
  for (const bytes of bodies) expect(bytes).toBeLessThan(LIMITS.worker.body_bytes);
});

test("the largest input and the largest output fit R2's parts", () => {
  const { part_least, parts } = LIMITS.r2;
  const limit = part_least * parts;
  expect(
    readSettings(ServiceSettings, { ...SECRETS, MAX_INPUT_BYTES: "50 GB" }).MAX_INPUT_BYTES,
  ).toBeLessThan(limit);
  expect(() => readSettings(ServiceSettings, { ...SECRETS, MAX_INPUT_BYTES: "51 GB" })).toThrow(
    "MAX_INPUT_BYTES",
  );
  expect([UPLOAD_LIMITS.part_min, UPLOAD_LIMITS.parts]).toEqual([part_least, parts]);
  expect(PART_BYTES).toBeGreaterThan(part_least);
});

test.each(["video", "adaptive_video"] as const)(
  "%s of a week makes fewer steps than a Workflow may have",
  (kind) => {
    const week = 7 * 86_400;
    const plan = cutPlan(createPlan(longest(week), kind, {}), { chunk_seconds: 4 });
    expect(plan.chunks.length).toBeGreaterThan(3000);
    // Beside the chunks: probe, ingest, decisions, stitching, and what is done once.
    expect(plan.chunks.length + 50).toBeLessThan(LIMITS.workflow.steps);
    expect(JSON.stringify(JSON.stringify({ value: plan.chunks })).length).toBeLessThan(
      LIMITS.workflow.result_bytes,
    );
  },
);

test("chunks stay as long as they are wanted, until there would be too many", () => {
  const needs = { start: 0, end: null, encodes_video: true, has_audio: false, fps: 25 };
  const count = (duration: number, segmented: boolean) =>
    createChunks({ ...needs, duration, segmented }, { chunk_seconds: 6 }).length;
  expect([count(6000, false), count(6000, true)]).toEqual([1000, 1000]);
  expect([count(24_000, false), count(240_000, false)]).toEqual([4000, 4000]);
  expect(count(240_000, true)).toBeLessThanOrEqual(4000);
});

test("a run makes fewer subrequests than a Worker may", () => {
  const { MAX_INPUT_BYTES } = readSettings(ServiceSettings, { ...SECRETS, MAX_INPUT_BYTES: "50 GB" });
  const source = { ...longest(settings.MAX_INPUT_SECONDS), filesize: MAX_INPUT_BYTES };
  const plan = createPlan(source, "video", { codec: "av1", format: "webm" });
  const { pictures } = nativeWork(plan, source);
  // A run asks its encoders once a second.
  const seconds = (pictures ?? Number.NaN) / (2 * NATIVE_COSTS.parallel);
  expect(seconds).toBeGreaterThan(500_000);
  const parts = {
    polls: seconds,
    // The input is fetched by each lane; stored; and read back by as many as two encoders and by a retry of each.
    fetches: MAX_INPUT_BYTES / FETCH_BYTES,
    stretches: (5 * MAX_INPUT_BYTES) / SEGMENT_BYTES,
    // A chunk is started, called off, listed, read to be counted and to be stitched, and deleted; all that twice.
    chunks: 2 * 6 * 4000,
    // The output is written in parts.
    output: LIMITS.r2.parts,
  };
  const sum = Object.values(parts).reduce((all, each) => all + each, 0);
  expect(sum).toBeLessThan(configs[0]?.[1].limits?.subrequests ?? 0);
});

test("the ids of runs are ids of Workflows, and the keys of media fit R2", () => {
  const id = createIds(Math.random);
  const ids = (["task", "step"] as const).map((type) => id(type, Date.now()));
  for (const each of ids) expect(each).toMatch(LIMITS.workflow.id);
  const stem = outputStem(`https://example.com/${"a".repeat(5000)}.mp4`);
  const key = `${runFolder("out", ids[0] ?? "")}${stem}/1080p/seg_00001.m4s`;
  expect(new TextEncoder().encode(key).length).toBeLessThan(LIMITS.r2.key_bytes);
});

test("the native encoder asks for what its container has, and ends within the time that it is given", () => {
  const [container] = configs[0]?.[1].containers ?? [];
  expect(container?.instance_type).toBe("standard-3");
  expect(NATIVE_MEMORY).toBe(LIMITS.container.memory);
  const { grace_seconds, slots } = parseSettings({}, LIMITS.container.cpu);
  expect([grace_seconds < LIMITS.container.stop_seconds, slots]).toEqual([true, 1]);
  expect(container?.rollout_active_grace_period).toBe(grace_seconds);
  expect(container?.max_instances).toBeGreaterThanOrEqual(Number(configs[0]?.[1].vars.NATIVE_INSTANCES));
});

// As Cloudflare matches them: `*` stands for any characters.
const rules = [configs[0]?.[1].assets?.run_worker_first ?? []]
  .flat()
  .map((rule) => new RegExp(`^${RegExp.escape(String(rule)).replaceAll("\\*", ".*")}$`));
const comesFirst = (path: string) => rules.some((rule) => rule.test(path));

test("a request to any route of the API looks for no static file first", () => {
  const { routes } = createMemoryApi().app;
  const paths = new Set(
    routes.map(({ path }) => path).filter((path) => !["/*", "/favicon.ico"].includes(path)),
  );
  expect(paths.size).toBeGreaterThan(30);
  const late = [...paths].filter((path) => !comesFirst(path.replaceAll(/:\w+|\*/g, "x")));
  expect(late).toEqual([]);
});

test("every static file can be uploaded, and is served without the Worker", async () => {
  const assets = join(folder, "assets");
  await buildPage(assets);
  const entries = await readdir(assets, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  expect(files.map(({ name }) => name)).toContain("index.html");
  expect(files.length).toBeLessThan(LIMITS.worker.assets_free);
  const served = files.map(({ parentPath, name }) => `/${relative(assets, join(parentPath, name))}`);
  expect(served.filter(comesFirst)).toEqual([]);
  expect(["/", "/app"].filter(comesFirst)).toEqual([]);
  for (const { parentPath, name } of files) {
    expect((await stat(join(parentPath, name))).size).toBeLessThan(LIMITS.worker.asset_bytes);
  }
});
