import { expect } from "vitest";
import type { Origin } from "../fixtures/origin.ts";
import { sha256 } from "../fixtures/virtual-file.ts";
import { file, type HttpCase, open, type Run, stream } from "./http-case.ts";

/** Statuses, silence and redirects. */
export const HTTP_ANSWERS: HttpCase[] = [
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
    name: `maps status ${status} to ${kind}`,
    async judge(origin: Origin, run: Run) {
      const url = `${origin.serve("/status", { status, file: Buffer.alloc(status === 304 ? 0 : 100) })}?token=hush`;
      const { error } = await run({ url, act: open });
      expect(error).toEqual({ kind, retryable, message: expect.stringContaining(String(status)) });
      expect(JSON.stringify(error)).not.toContain("hush");
    },
  })),
  {
    name: "reports a silent host, an unknown host and a closed port as unreachable",
    async judge(origin, run) {
      const silent = origin.serve("/silent", { silent: true });
      for (const url of [silent, "http://no-such-host.invalid/a.mp4", "http://127.0.0.1:9/a.mp4"]) {
        const { error } = await run({ url, act: open, timeouts: { headersMs: 300 } });
        expect(error).toMatchObject({ kind: "input_unreachable", retryable: true });
      }
    },
  },
  {
    name: "follows up to five redirects",
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
    name: "rejects redirects in a loop, to nowhere and to other schemes",
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
    name: "rejects a redirect to a private host before contacting it",
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
    name: "leaves redirects to the platform where there is no guard",
    async judge(origin, run) {
      const whole = file(200_000);
      const last = origin.serve("/unguarded/end", { file: whole });
      const url = origin.serve("/unguarded", { redirect: "/unguarded/end" });
      const outcome = await run({ url, rules: null, act: stream });
      expect(outcome).toMatchObject({ hashes: [sha256(whole)], facts: { url: last, ranges: true } });
    },
  },
];
