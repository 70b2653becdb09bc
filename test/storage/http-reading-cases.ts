import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import { type ClipName, clip } from "../fixtures/clips.ts";
import type { Origin } from "../fixtures/origin.ts";
import { sha256 } from "../fixtures/virtual-file.ts";
import { file, type HttpCase, MB, open, type Run, stream } from "./http-case.ts";

/** Well-behaved files and servers. */
export const HTTP_READING: HttpCase[] = [
  {
    name: "reads the facts with one small request",
    async judge(origin, run) {
      const url = origin.serve("/facts", {
        file: file(3 * MB),
        mime: "Video/MP4; codecs=avc1",
        etag: '"abc"',
      });
      const { facts } = await run({ url, act: open });
      expect(facts).toEqual({ size: 3 * MB, etag: '"abc"', mime: "video/mp4", ranges: true, url });
      expect(origin.log.map(({ status, bytes }) => [status, bytes])).toEqual([[206, 32_768]]);
    },
  },
  {
    name: "reads many ranges with few requests",
    async judge(origin, run) {
      const whole = file(10 * MB);
      const url = origin.serve("/ranges", { file: whole });
      const starts = [0, 8, 4096, 32_000, 70_000, 80_000, 10 * MB - 40, 10 * MB - 20, 70_010, 20];
      const ranges = starts.map((start) => ({ start, end: start + 30 }));
      const { hashes } = await run({ url, act: { kind: "read", ranges } });
      expect(hashes).toEqual(ranges.map(({ start, end }) => sha256(whole, start, Math.min(end, whole.size))));
      expect(origin.log.map(({ range }) => range)).toEqual([
        "bytes=0-32767",
        `bytes=70000-${70_000 + 65_536 - 1}`,
        `bytes=${10 * MB - 40}-${10 * MB - 1}`,
      ]);
    },
  },
  {
    name: "reads ranges across the cache and beyond the end",
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
    name: "fetches larger pieces for sequential reads",
    async judge(origin, run) {
      const url = origin.serve("/along", { file: file(8 * MB) });
      const ranges = Array.from({ length: 128 }, (_, n) => ({ start: n * 32_768, end: (n + 1) * 32_768 }));
      await run({ url, act: { kind: "read", ranges } });
      expect(origin.log.length).toBeLessThanOrEqual(9);
    },
  },
  ...([[1], [32_767], [32_768], [32_769], [5 * MB + 1]] as const).map(([size]) => ({
    name: `streams ${size} bytes`,
    async judge(origin: Origin, run: Run) {
      const whole = file(size);
      const outcome = await run({ url: origin.serve("/whole", { file: whole }), act: stream });
      expect(outcome).toMatchObject({ bytes: size, hashes: [sha256(whole)] });
      expect(origin.log.length).toBe(size <= 32_768 ? 1 : 2);
    },
  })),
  {
    name: "streams an empty file, with ranges and without",
    async judge(origin, run) {
      for (const ranges of [true, false]) {
        const url = origin.serve(`/empty-${ranges}`, { file: new Uint8Array(0), ranges });
        expect(await run({ url, act: stream })).toMatchObject({ bytes: 0, facts: { size: 0 } });
      }
    },
  },
  {
    name: "streams from a server without ranges in one request",
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
    name: "streams a body without a declared length",
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
    name: "streams the whole file if a range gets 416",
    async judge(origin, run) {
      const whole = file(200_000);
      const url = origin.serve("/416", (n) =>
        n === 0 ? { status: 416, file: Buffer.from("no") } : { file: whole, ranges: false },
      );
      expect(await run({ url, act: stream })).toMatchObject({ bytes: 200_000, hashes: [sha256(whole)] });
    },
  },
  {
    name: "decompresses a compressed body, whose length is unknown",
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
    name: "sends no headers of its own except the range",
    async judge(origin, run) {
      await run({ url: origin.serve("/headers", { file: file(100) }), act: open });
      const headers = Object.keys(origin.log[0]?.headers ?? {});
      // Cloudflare's runtime adds `cf-worker`: the zone that the request comes from.
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
    name: "ingests a file and reports progress",
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
    name: "probes remote files, and rejects a page",
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
