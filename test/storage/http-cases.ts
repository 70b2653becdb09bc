import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import { type ClipName, clip } from "../fixtures/clips.ts";
import type { Origin } from "../fixtures/origin.ts";
import { noise, sha256, type VirtualFile, virtualFile } from "../fixtures/virtual-file.ts";
import type { HttpOperation, HttpOutcome } from "./http-operations.ts";

const MB = 1024 * 1024;

/** A case: serves something at the origin, has it fetched, and judges the outcome and the origin's log. */
export interface HttpCase {
  name: string;
  judge(origin: Origin, run: (operation: HttpOperation) => Promise<HttpOutcome>): Promise<void>;
}

const file = (size: number): VirtualFile => virtualFile([noise(size)]);
const stream = { kind: "stream" } as const;
const open = { kind: "open" } as const;

/** What every platform's fetch must give through `openHttp`. */
export const HTTP_CASES: HttpCase[] = [
  {
    name: "facts from one small request",
    async judge(origin, run) {
      const url = origin.serve("/facts", {
        file: file(3 * MB),
        mime: "Video/MP4; codecs=avc1",
        etag: '"abc"',
      });
      const { facts } = await run({ url, act: open });
      expect(facts).toEqual({ size: 3 * MB, etag: '"abc"', mime: "video/mp4", ranges: true, url });
      expect(origin.log.map(({ status, bytes }) => [status, bytes])).toEqual([[206, 65_536]]);
    },
  },
  {
    name: "many ranges from few requests",
    async judge(origin, run) {
      const whole = file(10 * MB);
      const url = origin.serve("/ranges", { file: whole });
      const starts = [0, 8, 4096, 65_000, 70_000, 80_000, 10 * MB - 40, 10 * MB - 20, 70_010, 20];
      const ranges = starts.map((start) => ({ start, end: start + 30 }));
      const { hashes } = await run({ url, act: { kind: "read", ranges } });
      expect(hashes).toEqual(ranges.map(({ start, end }) => sha256(whole, start, Math.min(end, whole.size))));
      expect(origin.log.map(({ range }) => range)).toEqual([
        "bytes=0-65535",
        `bytes=70000-${70_000 + 65_536 - 1}`,
        `bytes=${10 * MB - 40}-${10 * MB - 1}`,
      ]);
    },
  },
  {
    name: "ranges across what is kept and what is not, and beyond the end",
    async judge(origin, run) {
      const whole = file(300_000);
      const url = origin.serve("/across", { file: whole });
      const spans = [
        [100_000, 100_010],
        [60_000, 200_000],
        [0, 300_000],
        [299_990, 400_000],
        [300_000, 300_001],
        [5, 5],
      ];
      const ranges = spans.map(([start = 0, end = 0]) => ({ start, end }));
      const { hashes } = await run({ url, act: { kind: "read", ranges } });
      expect(hashes).toEqual(ranges.map(({ start, end }) => sha256(whole, start, Math.min(end, whole.size))));
      const total = origin.log.reduce((sum, { bytes }) => sum + bytes, 0);
      expect(total).toBeLessThanOrEqual(300_000 + 65_536);
    },
  },
  {
    name: "reads that go on and on in larger steps",
    async judge(origin, run) {
      const url = origin.serve("/along", { file: file(8 * MB) });
      const ranges = Array.from({ length: 128 }, (_, n) => ({ start: n * 32_768, end: (n + 1) * 32_768 }));
      await run({ url, act: { kind: "read", ranges } });
      expect(origin.log.length).toBeLessThanOrEqual(9);
    },
  },
  ...([[1], [65_535], [65_536], [65_537], [5 * MB + 1]] as const).map(([size]) => ({
    name: `a stream of ${size} bytes`,
    async judge(origin: Origin, run: Parameters<HttpCase["judge"]>[1]) {
      const whole = file(size);
      const outcome = await run({ url: origin.serve("/whole", { file: whole }), act: stream });
      expect(outcome).toMatchObject({ bytes: size, hashes: [sha256(whole)] });
      expect(origin.log.length).toBe(size <= 65_536 ? 1 : 2);
    },
  })),
  {
    name: "an empty file, with ranges and without",
    async judge(origin, run) {
      for (const ranges of [true, false]) {
        const url = origin.serve(`/empty-${ranges}`, { file: new Uint8Array(0), ranges });
        expect(await run({ url, act: stream })).toMatchObject({ bytes: 0, facts: { size: 0 } });
      }
    },
  },
  {
    name: "a server without ranges, in one request",
    async judge(origin, run) {
      const whole = file(MB);
      const url = origin.serve("/no-ranges", { file: whole, ranges: false });
      const outcome = await run({ url, act: stream });
      expect(outcome).toMatchObject({
        bytes: MB,
        hashes: [sha256(whole)],
        facts: { size: MB, ranges: false },
      });
      expect(origin.log.length).toBe(1);
      expect(await run({ url, act: open })).toMatchObject({ facts: { size: MB, ranges: false } });
    },
  },
  {
    name: "a body of no declared length",
    async judge(origin, run) {
      const whole = file(MB);
      const url = origin.serve("/chunked", { file: whole, ranges: false, chunked: true });
      const outcome = await run({ url, act: stream });
      expect(outcome).toMatchObject({
        bytes: MB,
        hashes: [sha256(whole)],
        facts: { size: null, ranges: false },
      });
    },
  },
  {
    name: "a server that answers 416 to every range",
    async judge(origin, run) {
      const whole = file(200_000);
      const url = origin.serve("/416", (n) =>
        n === 0 ? { status: 416, file: Buffer.from("no") } : { file: whole, ranges: false },
      );
      expect(await run({ url, act: stream })).toMatchObject({ bytes: 200_000, hashes: [sha256(whole)] });
    },
  },
  ...(
    [
      [400, "input_unreachable", false],
      [401, "input_forbidden", false],
      [403, "input_forbidden", false],
      [404, "input_not_found", false],
      [405, "input_unreachable", false],
      [408, "input_unreachable", true],
      [410, "input_not_found", false],
      [418, "input_unreachable", false],
      [425, "input_unreachable", true],
      [429, "input_unreachable", true],
      [451, "input_unreachable", false],
      [500, "input_unreachable", true],
      [502, "input_unreachable", true],
      [503, "input_unreachable", true],
      [304, "input_unreachable", false],
    ] as const
  ).map(([status, kind, retryable]) => ({
    name: `status ${status} as ${kind}`,
    async judge(origin: Origin, run: Parameters<HttpCase["judge"]>[1]) {
      const url = `${origin.serve("/status", { status, file: Buffer.alloc(status === 304 ? 0 : 100) })}?token=hush`;
      const { error } = await run({ url, act: open });
      expect(error).toEqual({ kind, retryable, message: expect.stringContaining(String(status)) });
      expect(JSON.stringify(error)).not.toContain("hush");
    },
  })),
  {
    name: "a host that does not answer, one that is not there, and a port where nobody listens",
    async judge(origin, run) {
      const silent = origin.serve("/silent", { silent: true });
      for (const url of [silent, "http://no-such-host.invalid/a.mp4", "http://127.0.0.1:9/a.mp4"]) {
        const { error } = await run({ url, act: open, timeouts: { headers_ms: 300 } });
        expect(error).toMatchObject({ kind: "input_unreachable", retryable: true });
      }
    },
  },
  {
    name: "redirects, to the end",
    async judge(origin, run) {
      const last = origin.serve("/r/5", { file: Buffer.from("here") });
      for (let n = 0; n < 5; n++)
        origin.serve(`/r/${n}`, { redirect: n % 2 ? `${origin.url}/r/${n + 1}` : `${n + 1}` });
      const outcome = await run({ url: `${origin.url}/r/0`, act: stream });
      expect(outcome).toMatchObject({ bytes: 4, facts: { url: last } });
      const more = origin.serve("/r/more", { redirect: "/r/0" });
      const { error } = await run({ url: more, act: open });
      expect(error).toMatchObject({
        kind: "input_unreachable",
        retryable: false,
        message: expect.stringContaining("5 times"),
      });
    },
  },
  {
    name: "redirects in a loop, to nowhere and to other schemes as faults",
    async judge(origin, run) {
      origin.serve("/loop/a", { redirect: "/loop/b" });
      origin.serve("/loop/b", { redirect: "/loop/a#again" });
      const loop = await run({ url: `${origin.url}/loop/a`, act: open });
      expect(loop.error).toMatchObject({
        kind: "input_unreachable",
        retryable: false,
        message: expect.stringContaining("loop"),
      });
      const nowhere = await run({ url: origin.serve("/nowhere", { status: 302 }), act: open });
      expect(nowhere.error).toMatchObject({ kind: "input_unreachable", retryable: false });
      for (const redirect of [
        "file:///etc/passwd",
        "ftp://example.com/a",
        "data:text/plain,a",
        "http://user:hush@example.com/",
      ]) {
        const { error } = await run({ url: origin.serve("/scheme", { redirect }), act: open });
        expect(error).toMatchObject({ kind: "input_forbidden", retryable: false });
        expect(JSON.stringify(error)).not.toContain("hush");
      }
    },
  },
  {
    name: "a redirect to a private host as forbidden, before it is asked",
    async judge(origin, run) {
      const inner = new URL(origin.serve("/inner", { file: Buffer.from("inner") }));
      const rules = { allowed_hosts: [inner.host] };
      expect(await run({ url: inner.href, rules, act: stream })).toMatchObject({ bytes: 5 });
      origin.forget();
      for (const redirect of [
        inner.href.replace("127.0.0.1", "localhost"),
        inner.href.replace("127.0.0.1", "127.0.0.2"),
        inner.href.replace("127.0.0.1", "2130706434"),
        "http://169.254.169.254/latest/meta-data/",
        "//10.0.0.1/a.mp4",
      ]) {
        const { error } = await run({ url: origin.serve("/to-inner", { redirect }), rules, act: open });
        expect(error).toMatchObject({ kind: "input_forbidden", retryable: false });
      }
      expect(new Set(origin.log.map(({ path }) => path))).toEqual(new Set(["/to-inner"]));
    },
  },
  {
    name: "redirects followed by the platform where there is no guard",
    async judge(origin, run) {
      const whole = file(200_000);
      const last = origin.serve("/unguarded/end", { file: whole });
      const url = origin.serve("/unguarded", { redirect: "/unguarded/end" });
      const outcome = await run({ url, rules: null, act: stream });
      expect(outcome).toMatchObject({ hashes: [sha256(whole)], facts: { url: last, ranges: true } });
    },
  },
  {
    name: "a compressed body as what it holds, of no known length",
    async judge(origin, run) {
      const whole = file(300_000);
      const zipped = gzipSync(Buffer.concat([...whole.read(0, whole.size)]));
      for (const ranges of [false, true]) {
        const url = origin.serve(`/gzip-${ranges}`, {
          file: zipped,
          ranges,
          headers: { "Content-Encoding": "gzip" },
        });
        const outcome = await run({ url, act: stream });
        expect(outcome).toMatchObject({
          bytes: 300_000,
          hashes: [sha256(whole)],
          facts: { size: null, ranges: false },
        });
      }
    },
  },
  {
    name: "no header of ours but the range",
    async judge(origin, run) {
      await run({ url: origin.serve("/headers", { file: file(100) }), act: open });
      const headers = Object.keys(origin.log[0]?.headers ?? {});
      // `cf-worker` is added by Cloudflare's runtime: the zone that the request comes from.
      const harmless = [
        "cf-worker",
        "host",
        "connection",
        "accept",
        "accept-encoding",
        "accept-language",
        "user-agent",
        "sec-fetch-mode",
        "range",
      ];
      expect(headers.filter((name) => !harmless.includes(name))).toEqual([]);
      expect(origin.log[0]?.headers["accept-encoding"]).toMatch(/identity/);
    },
  },
  {
    name: "too large, by what is declared, without reading on",
    async judge(origin, run) {
      for (const ranges of [true, false]) {
        const url = origin.serve("/large", { file: file(50 * MB), ranges });
        const { error } = await run({ url, max_bytes: MB, act: stream });
        expect(error).toMatchObject({ kind: "input_too_large", retryable: false });
      }
    },
  },
  {
    name: "too large, by what comes",
    async judge(origin, run) {
      const url = origin.serve("/large-chunked", { file: file(50 * MB), ranges: false, chunked: true });
      const { error } = await run({ url, max_bytes: MB, act: stream });
      expect(error).toMatchObject({ kind: "input_too_large", retryable: false });
      await expect.poll(() => origin.log.at(-1)?.done).toBe(true);
      expect(origin.log.at(-1)?.bytes).toBeLessThan(20 * MB);
      expect(await run({ url, max_bytes: 50 * MB, act: stream })).toMatchObject({ bytes: 50 * MB });
    },
  },
  {
    name: "a body that breaks off, with ranges taken up again where it broke",
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
    name: "a body that always breaks off as unreachable, after a bounded number of tries",
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
  ...([false, true] as const).map((chunked) => ({
    name: `a body that breaks off without ranges${chunked ? " and without a length" : ""} as unreachable`,
    async judge(origin: Origin, run: Parameters<HttpCase["judge"]>[1]) {
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
    name: "a declared length that is too large as unreachable",
    async judge(origin, run) {
      const answer = { file: file(100_000), declared_total: 150_000 };
      const plain = await run({ url: origin.serve("/short", { ...answer, ranges: false }), act: stream });
      expect(plain.error).toMatchObject({ kind: "input_unreachable", retryable: true });
      const ranged = await run({ url: origin.serve("/short-ranged", answer), act: stream });
      expect(ranged.error).toMatchObject({ kind: "input_unreachable", retryable: true });
    },
  },
  {
    name: "more bytes than were declared as unreachable",
    async judge(origin, run) {
      const answers = [{ file: file(100_000) }, { file: file(300_000), ranges: false, chunked: true }];
      const url = origin.serve("/longer", (n) => answers[Math.min(n, 1)] ?? {});
      const { error } = await run({ url, act: stream });
      expect(error).toMatchObject({ kind: "input_unreachable", retryable: true });
    },
  },
  {
    name: "a file that changes between two reads as unreachable",
    async judge(origin, run) {
      const url = origin.serve("/changing", (n) => ({ file: file(MB), etag: `"v${n}"` }));
      const read = await run({ url, act: { kind: "read", ranges: [{ start: 500_000, end: 500_010 }] } });
      expect(read.error).toMatchObject({
        kind: "input_unreachable",
        retryable: true,
        message: expect.stringContaining("changed"),
      });
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
    name: "a file that grows between two reads as unreachable",
    async judge(origin, run) {
      const url = origin.serve("/growing", (n) => ({ file: file(MB + n), etag: null }));
      const read = await run({ url, act: { kind: "read", ranges: [{ start: 500_000, end: 500_010 }] } });
      expect(read.error).toMatchObject({ kind: "input_unreachable", retryable: true });
    },
  },
  {
    name: "a body that falls silent as unreachable",
    async judge(origin, run) {
      for (const ranges of [false, true]) {
        const url = origin.serve(`/stall-${ranges}`, (n) => ({
          ...{ file: file(MB), ranges },
          ...(n > 0 || !ranges ? { stall_after: 1000 } : {}),
        }));
        const { error } = await run({ url, act: stream, timeouts: { idle_ms: 200 } });
        expect(error).toMatchObject({ kind: "input_unreachable", retryable: true });
      }
    },
  },
  {
    name: "a body that is slow but steady, and one that takes longer than allowed",
    async judge(origin, run) {
      const whole = file(100_000);
      const url = origin.serve("/slow", { file: whole, bytes_per_second: 100_000, ranges: false });
      const outcome = await run({ url, act: stream, timeouts: { idle_ms: 400 } });
      expect(outcome).toMatchObject({ hashes: [sha256(whole)] });
      const { error } = await run({ url, act: stream, timeouts: { idle_ms: 400, total_ms: 300 } });
      expect(error).toMatchObject({ kind: "timeout" });
      await expect.poll(() => origin.log.at(-1)?.done).toBe(true);
    },
  },
  {
    name: "an abort, before the headers and in the body, that frees the connection",
    async judge(origin, run) {
      const silent = origin.serve("/abort-silent", { silent: true });
      expect(await run({ url: silent, act: open, abort_after: 100 })).toEqual({
        error: { aborted: "Error: stopped" },
      });
      const slow = origin.serve("/abort-slow", { file: file(MB), bytes_per_second: 10_000, ranges: false });
      expect(await run({ url: slow, act: stream, abort_after: 200 })).toEqual({
        error: { aborted: "Error: stopped" },
      });
      await expect.poll(() => origin.log.every(({ done }) => done)).toBe(true);
    },
  },
  {
    name: "an ingest, with its progress",
    async judge(origin, run) {
      const url = origin.serve("/ingest", { file: file(20 * MB), mime: "video/mp4" });
      const outcome = await run({ url, act: { kind: "ingest", key: "in/one" } });
      expect(outcome.bytes).toBe(20 * MB);
      const progress = outcome.progress ?? [];
      expect(progress.at(-1)).toEqual([20 * MB, 20 * MB]);
      expect(progress.length).toBeGreaterThan(3);
      expect(progress.map(([received]) => received)).toEqual(
        progress.map(([received]) => received).toSorted((a, b) => a - b),
      );
    },
  },
  {
    name: "a probe of remote files, from few bytes",
    async judge(origin, run) {
      const rotated = {
        kind: "video",
        width: 90,
        height: 160,
        fps: 25,
        duration: 2,
        codecs: { video: "h264", audio: "aac" },
      };
      const expected: [ClipName, object][] = [
        ["mp4_rotated_90", rotated],
        ["webm_alpha", { kind: "video", has_alpha: true, codecs: { video: "vp9", audio: null } }],
        ["mkv", { format: "matroska", width: 160, codecs: { video: "h264", audio: "aac" } }],
        ["mp3_cover", { kind: "audio", format: "mp3" }],
        ["flac", { kind: "audio", format: "flac", duration: 2 }],
        ["opus", { kind: "audio", format: "ogg", duration: 2 }],
      ];
      for (const [name, facts] of expected) {
        const url = origin.serve(`/probe/${name}`, { file: await clip(name) });
        expect(await run({ url, act: { kind: "probe" } })).toMatchObject({ source: { url, ...facts } });
      }
      const page = origin.serve("/probe/page.mp4", {
        file: Buffer.from("<!doctype html><p>No"),
        mime: "text/html",
      });
      const { error } = await run({ url: page, act: { kind: "probe" } });
      expect(error).toMatchObject({ kind: "input_unsupported", retryable: false });
    },
  },
];
