import { randomBytes } from "node:crypto";
import { afterAll, afterEach, expect, onTestFinished, test, vi } from "vitest";
import type { ErrorKind } from "../../src/media/errors.ts";
import {
  type FileBody,
  MAX_PUT_BYTES,
  PART_BYTES,
  putFile,
  WRITE_TRIES,
} from "../../src/storage/http/writer.ts";
import { readStored, type SinkFault, startSink } from "../fixtures/sink.ts";

const sink = await startSink();
afterAll(() => sink.close());
afterEach(() => {
  sink.fail(null);
  expect(sink.open()).toBe(0);
});

const MIME = "video/mp4";
const NOISE = new Uint8Array(randomBytes(MAX_PUT_BYTES + 5));
const noise = (size: number) => NOISE.subarray(0, size);

function bodyOf(bytes: Uint8Array<ArrayBuffer>): FileBody & { opened: [number, number][] } {
  const opened: [number, number][] = [];
  return {
    opened,
    size: bytes.length,
    async open({ start, end }) {
      opened.push([start, end]);
      return bytes.subarray(start, end);
    },
  };
}

function put(name: string, body: FileBody, signal = new AbortController().signal, timeoutMs = 30_000) {
  const send = (url: string, init: RequestInit) => fetch(url, init);
  sink.log.length = 0;
  return putFile(`${sink.url}/${name}`, body, MIME, { fetch: send, signal, pauseMs: 1, timeoutMs });
}

test.for([0, 1, 1000, MAX_PUT_BYTES])("sends %i bytes in one request", async (size) => {
  const bytes = noise(size);
  const written = await put(`one-${size}`, bodyOf(bytes));
  expect(written).toEqual({ size, etag: expect.stringMatching(/^\w+$/) });
  expect(sink.log).toEqual([`PUT /one-${size}`]);
  expect(sink.types.get(`one-${size}`)).toBe(MIME);
  expect((await readStored(sink, `one-${size}`)).equals(bytes)).toBe(true);
});

test("sends a blob like bytes", async () => {
  const blob = new Blob([noise(1000)]);
  await put("blob", { size: 1000, open: async ({ start, end }) => blob.slice(start, end) });
  expect((await readStored(sink, "blob")).equals(noise(1000))).toBe(true);
});

test("sends larger files in parts, all of one size except the last", async () => {
  const bytes = noise(MAX_PUT_BYTES + 1);
  const body = bodyOf(bytes);
  expect(await put("parts", body)).toMatchObject({ size: bytes.length });
  expect(body.opened).toEqual([
    [0, PART_BYTES],
    [PART_BYTES, 2 * PART_BYTES],
    [2 * PART_BYTES, 2 * PART_BYTES + 1],
  ]);
  expect(sink.log.map((line) => line.replace(/upload=[\w-]+/, "upload=ID"))).toEqual([
    "POST /parts?uploads",
    "PUT /parts?upload=ID&part=1",
    "PUT /parts?upload=ID&part=2",
    "PUT /parts?upload=ID&part=3",
    "POST /parts?upload=ID",
  ]);
  expect(sink.types.get("parts")).toBe(MIME);
  expect((await readStored(sink, "parts")).equals(bytes)).toBe(true);
});

test("retries transient failures", async () => {
  const faults: Record<number, ReturnType<SinkFault>> = {
    0: { status: 503 },
    1: "cut",
    3: { status: 500 },
    5: { status: 429 },
  };
  sink.fail((_, count) => faults[count] ?? null);
  const bytes = noise(MAX_PUT_BYTES + 5);
  const body = bodyOf(bytes);
  await put("again", body);
  expect(sink.log.length).toBe(9);
  expect((await readStored(sink, "again")).equals(bytes)).toBe(true);
});

test.for([
  { fault: { status: 403, kind: "forbidden" }, kind: "upload_forbidden", retryable: false, requests: 1 },
  { fault: { status: 401, kind: "token_invalid" }, kind: "upload_forbidden", retryable: false, requests: 1 },
  {
    fault: { status: 507, kind: "service_unavailable" },
    kind: "storage_full",
    retryable: false,
    requests: 1,
  },
  {
    fault: { status: 503, kind: "storage_full" },
    kind: "storage_full",
    retryable: false,
    requests: WRITE_TRIES,
  },
  { fault: { status: 413, kind: "payload_too_large" }, kind: "upload_failed", retryable: false, requests: 1 },
  {
    fault: { status: 500, kind: "internal_error" },
    kind: "upload_failed",
    retryable: true,
    requests: WRITE_TRIES,
  },
] as const satisfies { fault: object; kind: ErrorKind; retryable: boolean; requests: number }[])(
  "reports an answer of $fault as $kind",
  async ({ fault, kind, retryable, requests }) => {
    sink.fail(() => fault);
    await expect(put("refused?secret", bodyOf(noise(10)))).rejects.toMatchObject({
      ...{ kind, retryable, message: expect.not.stringContaining("secret") },
    });
    expect(sink.log).toHaveLength(requests);
    expect(await sink.files()).not.toContain("refused");
  },
);

test("retries a silent store and gives up in the end", async () => {
  // Timeouts fire as soon as the store is silent and never before, however busy the machine is.
  const limits: number[] = [];
  let late = new AbortController();
  const timeout = vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => {
    limits.push(ms);
    late = new AbortController();
    return late.signal;
  });
  onTestFinished(() => timeout.mockRestore());
  const fallSilent = () => {
    late.abort(new DOMException("The store is silent.", "TimeoutError"));
    return "silent" as const;
  };
  sink.fail((_, count) => (count === 0 ? fallSilent() : null));
  await put("silent", bodyOf(noise(1000)), undefined, 50);
  expect(sink.log).toHaveLength(2);
  sink.fail(fallSilent);
  const failed = put("silent", bodyOf(noise(1000)), undefined, 20);
  await expect(failed).rejects.toMatchObject({ kind: "upload_failed", retryable: true });
  expect(sink.log).toHaveLength(WRITE_TRIES);
  // The given time plus 4 ms for 1000 bytes.
  expect(limits).toEqual([54, 54, ...Array(WRITE_TRIES).fill(24)]);
});

test("gives up on a silent store after the timeouts of all attempts", async () => {
  sink.fail(() => "silent");
  let tries = 0;
  const send = (url: string, init: RequestInit) => {
    tries++;
    return fetch(url, init);
  };
  const { signal } = new AbortController();
  const options = { fetch: send, signal, pauseMs: 1, timeoutMs: 20 };
  const failed = putFile(`${sink.url}/late`, bodyOf(noise(1000)), MIME, options);
  await expect(failed).rejects.toMatchObject({ kind: "upload_failed", retryable: true });
  expect(tries).toBe(WRITE_TRIES);
});

test("removes the parts of a file that fails", async () => {
  sink.fail(({ part }) => (part === 2 ? { status: 403 } : null));
  await expect(put("back", bodyOf(noise(MAX_PUT_BYTES + 1)))).rejects.toMatchObject({
    kind: "upload_forbidden",
  });
  expect(sink.log.at(-1)).toMatch(/^DELETE \/back\?upload=/);
  expect(await sink.files()).not.toContain("back");
});

test("removes the parts of a file that is aborted", async () => {
  const controller = new AbortController();
  const reason = new Error("Enough.");
  sink.fail(({ part }) => {
    if (part !== 2) return null;
    controller.abort(reason);
    return "silent";
  });
  await expect(put("abort", bodyOf(noise(MAX_PUT_BYTES + 1)), controller.signal)).rejects.toBe(reason);
  expect(sink.log.at(-1)).toMatch(/^DELETE \/abort\?upload=/);
});

test("rejects an unreachable store and a nonsensical answer", async () => {
  const { signal } = new AbortController();
  const nowhere = (url: string, init: RequestInit) => fetch(url.replace(/:\d+/, ":1"), init);
  const failed = { kind: "upload_failed", retryable: true };
  await expect(
    putFile(`${sink.url}/x`, bodyOf(noise(1)), MIME, { fetch: nowhere, signal, pauseMs: 1 }),
  ).rejects.toMatchObject(failed);
  for (const text of ["hello", "{}", '{"size":7,"etag":"a"}']) {
    const nonsense = async () => new Response(text, { status: 201 });
    const wrong = putFile(`${sink.url}/x`, bodyOf(noise(1)), MIME, { fetch: nonsense, signal, pauseMs: 1 });
    await expect(wrong).rejects.toMatchObject(failed);
  }
});
