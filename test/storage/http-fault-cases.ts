import { expect } from "vitest";
import type { Origin } from "../fixtures/origin.ts";
import { sha256 } from "../fixtures/virtual-file.ts";
import { file, type HttpCase, MB, open, type Run, stream } from "./http-case.ts";

/** Bodies that are too large, break off, change or never end. */
export const HTTP_FAULTS: HttpCase[] = [
  {
    name: "rejects a declared size over the limit",
    async judge(origin, run) {
      for (const ranges of [true, false]) {
        const url = origin.serve("/large", { file: file(50 * MB), ranges });
        const { error } = await run({ url, maxBytes: MB, act: stream });
        expect(error).toMatchObject({ kind: "input_too_large", retryable: false });
      }
    },
  },
  {
    name: "rejects a body that turns out to be over the limit, and stops reading",
    async judge(origin, run) {
      const url = origin.serve("/large-chunked", { file: file(50 * MB), ranges: false, chunked: true });
      const { error } = await run({ url, maxBytes: MB, act: stream });
      expect(error).toMatchObject({ kind: "input_too_large", retryable: false });
      await expect.poll(() => origin.log.at(-1)?.done).toBe(true);
      expect(origin.log.at(-1)?.bytes).toBeLessThan(20 * MB);
      expect(await run({ url, maxBytes: 50 * MB, act: stream })).toMatchObject({ bytes: 50 * MB });
    },
  },
  {
    name: "resumes a broken body where it broke, if there are ranges",
    async judge(origin, run) {
      const whole = file(3 * MB);
      const url = origin.serve("/cut", (n) => ({
        file: whole,
        ...(n > 0 && n < 5 ? { cut_after: 500_000 } : {}),
      }));
      const outcome = await run({ url, act: stream });
      expect(outcome).toMatchObject({ bytes: 3 * MB, hashes: [sha256(whole)] });
      const starts = origin.log.slice(1).map(({ range }) => Number(/bytes=(\d+)-$/.exec(range ?? "")?.[1]));
      expect(starts.length).toBe(5);
      expect(starts).toEqual(starts.toSorted((a, b) => a - b));
      expect(starts.at(-1)).toBeGreaterThan(0);
    },
  },
  {
    name: "reports a body that always breaks off as unreachable, after a bounded number of attempts",
    async judge(origin, run) {
      const url = origin.serve("/always-cut", (n) => ({
        file: file(3 * MB),
        ...(n > 0 ? { cut_after: 1000 } : {}),
      }));
      const { error } = await run({ url, act: stream });
      expect(error).toMatchObject({ kind: "input_unreachable", retryable: true });
      expect(origin.log.length).toBe(7);
    },
  },
  {
    name: "requests a range again after a break or a transient fault",
    async judge(origin, run) {
      const whole = file(MB);
      const faults = [
        { cut_after: 0 },
        {},
        { cut_after: 0 },
        { status: 503 },
        { status: 429 },
        { cut_after: 0 },
      ];
      const url = origin.serve("/passing", (n) => ({ file: whole, ...faults[n] }));
      const ranges = [{ start: 500_000, end: 500_010 }];
      const hashes = [sha256(whole, 500_000, 500_010)];
      expect(await run({ url, act: { kind: "read", ranges } })).toMatchObject({ hashes });
      const [head, range] = ["bytes=0-32767", "bytes=500000-565535"];
      expect(origin.log.map((request) => [request.range, request.status])).toEqual([
        ...[206, 206].map((status) => [head, status]),
        ...[206, 503, 429, 206, 206].map((status) => [range, status]),
      ]);
      const dropping = origin.serve("/dropping", (n) => ({ file: whole, disconnect: n > 0 && n < 3 }));
      expect(await run({ url: dropping, act: { kind: "read", ranges } })).toMatchObject({ hashes });
    },
  },
  {
    name: "resumes a broken long range where it broke",
    async judge(origin, run) {
      const whole = file(3 * MB);
      const range = { start: 100_000, end: 100_000 + 2 * MB };
      const url = origin.serve("/long-range", (n) => ({
        file: whole,
        ...(n > 0 && n < 5 ? { cut_after: 500_000 } : {}),
      }));
      const { hashes } = await run({ url, act: { kind: "read", ranges: [range] } });
      expect(hashes).toEqual([sha256(whole, range.start, range.end)]);
      const ranges = origin.log.slice(1).map((request) => /^bytes=(\d+)-(\d+)$/.exec(request.range ?? ""));
      expect(ranges.map((match) => Number(match?.[2]))).toEqual(Array(5).fill(range.end - 1));
      const starts = ranges.map((match) => Number(match?.[1]));
      expect(starts).toEqual(starts.toSorted((a, b) => a - b));
      expect(starts.at(-1)).toBeGreaterThan(range.start);
    },
  },
  {
    name: "reports a range that never arrives whole as unreachable, after a bounded number of attempts",
    async judge(origin, run) {
      const ranges = [{ start: 500_000, end: 500_010 }];
      const faults = [
        [{ cut_after: 0 }, 6],
        [{ status: 503 }, 6],
        [{ stall_after: 0 }, 2],
        [{ silent: true }, 2],
      ] as const;
      const timeouts = { idleMs: 1500, headersMs: 1500 };
      const checks = faults.map(async ([fault, tries], at) => {
        const path = `/never-${at}`;
        const url = origin.serve(path, (n) => ({ file: file(MB), ...(n > 0 ? fault : {}) }));
        const { error } = await run({ url, act: { kind: "read", ranges }, ...(tries === 2 && { timeouts }) });
        expect(error).toMatchObject({ kind: "input_unreachable", retryable: true });
        const requested = origin.log
          .filter((request) => request.path === path)
          .map((request) => request.range);
        expect([path, requested]).toEqual([
          path,
          ["bytes=0-32767", ...Array(tries).fill("bytes=500000-565535")],
        ]);
      });
      await Promise.all(checks);
    },
  },
  {
    name: "accepts a complete body of which only the end marker is missing",
    async judge(origin, run) {
      const whole = file(100_000);
      const url = origin.serve("/no-end", (_, range) => ({
        ...{ file: whole, chunked: true },
        cut_after: range === "bytes=0-" ? 100_000 : 32_768,
      }));
      expect(await run({ url, act: stream })).toMatchObject({ bytes: 100_000, hashes: [sha256(whole)] });
    },
  },
  ...([false, true] as const).map((chunked) => ({
    name: `reports a body that breaks off without ranges${chunked ? " and without a length" : ""} as unreachable`,
    async judge(origin: Origin, run: Run) {
      const answer = { file: file(3 * MB), ranges: false, chunked, cut_after: MB };
      const { error } = await run({ url: origin.serve("/cut-plain", answer), act: stream });
      expect(error).toMatchObject({
        kind: "input_unreachable",
        retryable: true,
        message: expect.stringContaining("broke off"),
      });
      expect(origin.log.length).toBe(1);
    },
  })),
  {
    name: "reports a body shorter than declared as unreachable",
    async judge(origin, run) {
      const answer = { file: file(100_000), declared_total: 150_000 };
      const plain = await run({ url: origin.serve("/short", { ...answer, ranges: false }), act: stream });
      expect(plain.error).toMatchObject({ kind: "input_unreachable", retryable: true });
      const ranged = await run({ url: origin.serve("/short-ranged", answer), act: stream });
      expect(ranged.error).toMatchObject({ kind: "input_unreachable", retryable: true });
    },
  },
  {
    name: "reports a body longer than declared as unreachable",
    async judge(origin, run) {
      const answers = [{ file: file(100_000) }, { file: file(300_000), ranges: false, chunked: true }];
      const url = origin.serve("/longer", (n) => answers[Math.min(n, 1)] ?? {});
      const { error } = await run({ url, act: stream });
      expect(error).toMatchObject({ kind: "input_unreachable", retryable: true });
    },
  },
  {
    name: "reports a file that changes between two reads as unreachable",
    async judge(origin, run) {
      const url = origin.serve("/changing", (n) => ({ file: file(MB), etag: `"v${n}"` }));
      const read = await run({ url, act: { kind: "read", ranges: [{ start: 500_000, end: 500_010 }] } });
      expect(read.error).toMatchObject({
        kind: "input_unreachable",
        retryable: true,
        message: expect.stringContaining("changed"),
      });
      expect(origin.log.length).toBe(2);
      const streamed = await run({ url, act: stream });
      expect(streamed.error).toMatchObject({ message: expect.stringContaining("changed") });
      const dated = origin.serve("/dated", (n) => ({
        ...{ file: file(MB), etag: null },
        headers: { "Last-Modified": new Date(n * 1000).toUTCString() },
      }));
      expect((await run({ url: dated, act: stream })).error).toMatchObject({
        message: expect.stringContaining("changed"),
      });
    },
  },
  {
    name: "reports a file that grows between two reads as unreachable",
    async judge(origin, run) {
      const url = origin.serve("/growing", (n) => ({ file: file(MB + n), etag: null }));
      const read = await run({ url, act: { kind: "read", ranges: [{ start: 500_000, end: 500_010 }] } });
      expect(read.error).toMatchObject({ kind: "input_unreachable", retryable: true });
    },
  },
  {
    name: "reports a body that stalls as unreachable",
    async judge(origin, run) {
      for (const ranges of [false, true]) {
        const url = origin.serve(`/stall-${ranges}`, (n) => ({
          ...{ file: file(MB), ranges },
          ...(n > 0 || !ranges ? { stall_after: 1000 } : {}),
        }));
        const { error } = await run({ url, act: stream, timeouts: { idleMs: 200 } });
        expect(error).toMatchObject({ kind: "input_unreachable", retryable: true });
      }
    },
  },
  {
    name: "accepts a slow but steady body, and times out one that takes too long",
    async judge(origin, run) {
      const whole = file(100_000);
      const url = origin.serve("/slow", { file: whole, bytes_per_second: 50_000, ranges: false });
      const outcome = await run({ url, act: stream, timeouts: { idleMs: 1500 } });
      expect(outcome).toMatchObject({ hashes: [sha256(whole)] });
      const { error } = await run({ url, act: stream, timeouts: { idleMs: 1500, totalMs: 300 } });
      expect(error).toMatchObject({ kind: "timeout" });
      await expect.poll(() => origin.log.at(-1)?.done).toBe(true);
    },
  },
  {
    name: "frees the connection on an abort before the headers, in the body or in a pause",
    async judge(origin, run) {
      const silent = origin.serve("/abort-silent", { silent: true });
      expect(await run({ url: silent, act: open, abort_after: 100 })).toEqual({
        error: { aborted: "Error: stopped" },
      });
      const slow = origin.serve("/abort-slow", { file: file(MB), bytes_per_second: 10_000, ranges: false });
      expect(await run({ url: slow, act: stream, abort_after: 200 })).toEqual({
        error: { aborted: "Error: stopped" },
      });
      const away = origin.serve("/abort-pause", (n) => ({ file: file(MB), ...(n > 0 && { status: 503 }) }));
      const read = { kind: "read", ranges: [{ start: 500_000, end: 500_010 }] } as const;
      const timeouts = { pauseMs: 3_600_000 };
      expect(
        await run({ url: away, act: { ...read, ranges: [...read.ranges] }, abort_after: 500, timeouts }),
      ).toEqual({
        error: { aborted: "Error: stopped" },
      });
      await expect.poll(() => origin.log.every(({ done }) => done)).toBe(true);
    },
  },
];
