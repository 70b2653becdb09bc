import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunErrorKind } from "../../src/media/errors.ts";
import { clip } from "../fixtures/clips.ts";
import { type Answer, type Origin, startOrigin } from "../fixtures/origin.ts";
import { noise, virtualFile } from "../fixtures/virtual-file.ts";
import { readFacts } from "../judge/facts.ts";
import { type Rig, startRig } from "../judge/rig.ts";
import { expectFailure, logsWith, SECRET, waitUntilEmpty } from "./check.ts";

// A port below 1024 that no service of an ordinary machine listens on.
const DEAF = "127.0.0.1:1";

let rig: Rig;
let hidden: Origin;
beforeAll(async () => {
  hidden = await startOrigin();
  rig = await startRig((origin) => ({
    ALLOW_PRIVATE_NETWORK: "false",
    ALLOWED_HOSTS: `${new URL(origin.url).host}, ${DEAF}`,
    INGEST_SECONDS: "3",
    MAX_INPUT_BYTES: "400000",
  }));
}, 180_000);
afterAll(async () => {
  await rig?.close();
  await hidden.close();
});

// Three attempts of 3 seconds with pauses of 1 and 2 seconds between them, plus much more for a busy machine.
const SECONDS = 90;
const LIMIT = { timeout: 180_000 };

const file = (bytes: number) => virtualFile([noise(bytes)]);
let number = 0;

// Each fault has its own path, so that its requests can be counted.
function serve(answer: Answer): { url: string; requests(): number } {
  const path = `/fault-${number++}.mp4`;
  const url = `${rig.origin.serve(path, answer)}?token=${SECRET}`;
  return { url, requests: () => rig.origin.log.filter((request) => request.path === path).length };
}

const run = (input: string) => rig.door.runTask({ input, kind: "video", options: { width: 80 } }, SECONDS);

const STATUSES: { status: number; kind: RunErrorKind; attempts: number }[] = [
  { status: 404, kind: "input_not_found", attempts: 1 },
  { status: 410, kind: "input_not_found", attempts: 1 },
  { status: 401, kind: "input_forbidden", attempts: 1 },
  { status: 403, kind: "input_forbidden", attempts: 1 },
  { status: 400, kind: "input_unreachable", attempts: 1 },
  { status: 418, kind: "input_unreachable", attempts: 1 },
  { status: 429, kind: "input_unreachable", attempts: 3 },
  { status: 500, kind: "input_unreachable", attempts: 3 },
  { status: 503, kind: "input_unreachable", attempts: 3 },
];

test.concurrent.for(STATUSES)(
  "$status ends as $kind after $attempts attempts",
  LIMIT,
  async ({ status, kind, attempts }, { expect }) => {
    const fault = serve({ status, file: file(1000) });
    const task = await run(fault.url);
    expectFailure(task, kind, expect);
    expect(task.steps[0]?.status).toBe("failed");
    expect(fault.requests()).toBe(attempts);
    expect(task.error?.retryable).toBe(attempts > 1);
  },
);

// With a limit of 3 seconds, the timeouts for the next bytes and for the whole expire together.
const LATE: RunErrorKind[] = ["input_unreachable", "timeout"];

const FAULTS: Record<string, [Answer, RunErrorKind | RunErrorKind[]]> = {
  "an origin that never answers": [{ silent: true }, "input_unreachable"],
  "a body that never begins": [{ file: file(100_000), stall_after: 0 }, LATE],
  "a body that stalls": [{ file: file(100_000), stall_after: 5000, ranges: false }, LATE],
  "a body that is too slow": [{ file: file(300_000), bytes_per_second: 20_000, ranges: false }, "timeout"],
  "a truncated body, without ranges": [
    { file: file(100_000), cut_after: 50_000, ranges: false },
    "input_unreachable",
  ],
  "a truncated body of undeclared length": [
    { file: file(100_000), cut_after: 50_000, ranges: false, chunked: true },
    "input_unreachable",
  ],
  "a body smaller than declared": [
    { file: file(50_000), declared: 100_000, ranges: false },
    "input_unreachable",
  ],
  "a declared size beyond the limit": [{ file: file(500_000) }, "input_too_large"],
  "a declared size far beyond the limit": [
    { file: file(1000), declared_total: 900_000_000_000 },
    "input_too_large",
  ],
  "an undeclared size beyond the limit": [
    { file: file(10_000_000), chunked: true, ranges: false },
    "input_too_large",
  ],
  "a redirect to nowhere": [{ status: 302, file: file(10) }, "input_unreachable"],
  "a redirect to a file": [{ redirect: "file:///etc/passwd" }, "input_forbidden"],
  "a redirect to ftp": [{ redirect: "ftp://127.0.0.1/clip.mp4" }, "input_forbidden"],
};

test.concurrent.for(Object.entries(FAULTS))("fails on %s", LIMIT, async ([, [answer, kind]], { expect }) => {
  expectFailure(await run(serve(answer).url), kind, expect);
});

test.concurrent(
  "a file larger than its Content-Length is not taken as complete",
  LIMIT,
  async ({ expect }) => {
    const path = await clip("mp4", { seconds: 1 });
    const { bytes } = await readFacts(path);
    // The index is at the end, beyond the declared bytes.
    const fault = serve({ file: path, declared: Math.floor(bytes / 2), ranges: false });
    expectFailure(await run(fault.url), ["input_unreachable", "input_unsupported"], expect);
  },
);

test.concurrent("gives up on redirects in a loop or an endless chain", LIMIT, async ({ expect }) => {
  rig.origin.serve("/loop-a", { redirect: "/loop-b" });
  rig.origin.serve("/loop-b", { redirect: "/loop-a" });
  expectFailure(await run(`${rig.origin.url}/loop-a?token=${SECRET}`), "input_unreachable", expect);
  for (let hop = 0; hop < 50; hop++) rig.origin.serve(`/chain-${hop}`, { redirect: `/chain-${hop + 1}` });
  expectFailure(await run(`${rig.origin.url}/chain-0?token=${SECRET}`), "input_unreachable", expect);
  expect(rig.origin.log.filter(({ path }) => path.startsWith("/chain-")).length).toBeLessThan(25);
});

test.concurrent("follows a few redirects with every read", LIMIT, async ({ expect }) => {
  rig.origin.serve("/moved/clip.mp4", { file: await clip("mp4", { seconds: 1 }) });
  rig.origin.serve("/here", { redirect: "/there", status: 301 });
  rig.origin.serve("/there", { redirect: `${rig.origin.url}/moved/clip.mp4`, status: 307 });
  expect((await run(`${rig.origin.url}/here`)).status).toBe("succeeded");
  const rangesOf = (place: string) =>
    rig.origin.log.filter(({ path }) => path === place).map(({ range }) => range);
  expect(rangesOf("/here").length).toBeGreaterThan(1);
  expect([rangesOf("/there"), rangesOf("/moved/clip.mp4")]).toEqual([rangesOf("/here"), rangesOf("/here")]);
});

const MODIFIED = "Fri, 20 Nov 2026 12:00:00 GMT";

test.concurrent("resumes a broken connection where ranges allow it", LIMIT, async ({ expect }) => {
  const path = await clip("mp4", { seconds: 1 });
  // No more of either kind than a single read survives, whichever meets them; if each cost an attempt, they
  // would be too many. Without an ETag, the file is copied.
  const remaining = { range: 3, stream: 3 };
  const input = rig.origin.serve("/breaking.mp4", (_, range) => {
    const way = range?.endsWith("-") ? "stream" : "range";
    const breaks = remaining[way]-- > 0 && { cut_after: 1000 };
    return { file: path, etag: null, headers: { "Last-Modified": MODIFIED }, ...breaks };
  });
  const { task, ...output } = await rig.door.encode({ input, kind: "video", options: { width: 80 } });
  expect(task.status).toBe("succeeded");
  expect(Math.max(remaining.range, remaining.stream)).toBeLessThan(0);
  expect((await readFacts(output.path)).picture?.times).toHaveLength(25);
});

test.concurrent("retries a transient fault", LIMIT, async ({ expect }) => {
  const path = await clip("mp4", { seconds: 1 });
  const url = rig.origin.serve("/passing.mp4", (request) =>
    request === 0 ? { status: 503 } : { file: path },
  );
  expect((await run(url)).status).toBe("succeeded");
});

test.concurrent("a closed port is unreachable", LIMIT, async ({ expect }) => {
  expectFailure(await run(`http://${DEAF}/clip.mp4?token=${SECRET}`), "input_unreachable", expect);
});

const STEPS = (["probe", "ingest", "video", "audio", "image", "adaptive_video"] as const).flatMap((kind) =>
  (
    [
      [404, "input_not_found"],
      [403, "input_forbidden"],
    ] as const
  ).map(([status, error]) => ({ kind, status, error })),
);

test.concurrent.for(STEPS)(
  "a $kind step with a source of status $status ends as $error",
  LIMIT,
  async ({ kind, status, error }, { expect }) => {
    const { url } = serve({ status, file: file(1000) });
    const source = { object: "source", url, kind: "video", format: "mp4" } as const;
    const input = kind === "probe" || kind === "ingest" ? { url } : source;
    const step = await rig.door.runStep({ kind, input }, SECONDS);
    expect(step).toMatchObject({ status: "failed", output: null, error: { kind: error, retryable: false } });
    expect(JSON.stringify(step.error)).not.toContain(SECRET);
  },
);

const PRIVATE = (port: string) => [
  `http://127.0.0.1:${port}/secret.mp4`,
  `http://localhost:${port}/secret.mp4`,
  `http://0x7f000001:${port}/secret.mp4`,
  `http://2130706433:${port}/secret.mp4`,
  `http://0177.0.0.1:${port}/secret.mp4`,
  `http://127.1:${port}/secret.mp4`,
  `http://[::1]:${port}/secret.mp4`,
  `http://[::ffff:127.0.0.1]:${port}/secret.mp4`,
  `http://0.0.0.0:${port}/secret.mp4`,
  "http://169.254.169.254/latest/meta-data/",
  "http://10.0.0.1/clip.mp4",
  "http://192.168.1.1/clip.mp4",
  "http://172.16.0.1/clip.mp4",
  "http://100.64.0.1/clip.mp4",
  "http://metadata.google.internal/clip.mp4",
];

test("rejects private hosts in requests and behind redirects without contacting them", LIMIT, async () => {
  hidden.serve("/secret.mp4", { file: await clip("mp4", { seconds: 1 }) });
  const targets = PRIVATE(new URL(hidden.url).port);
  await Promise.all(
    targets.map(async (target) => {
      const direct = await rig.door.request("POST", "/tasks", { input: target, kind: "video" });
      expect(direct, target).toMatchObject({ status: 400, body: { kind: "invalid_input", param: "input" } });
      const hop = serve({ redirect: target });
      const second = serve({ redirect: hop.url });
      expectFailure(await run(second.url), "input_forbidden", expect);
    }),
  );
  expect(hidden.log).toEqual([]);
});

// Runs last, when all the others have ended.
test("leaves nothing in storage, in a run or in a log", LIMIT, async () => {
  expect((await run(rig.serve(await clip("mp4", { seconds: 1 })))).status).toBe("succeeded");
  await waitUntilEmpty(rig);
  expect(await logsWith(rig, SECRET)).toEqual([]);
});
