import { expect, test } from "vitest";
import { client, encoder, job, QUICK, running } from "./native-client.ts";
import { BUSY, type Script } from "./scripted-native.ts";

test.for([
  { name: "during a poll", script: { ask: ["silent"] }, method: "GET" },
  { name: "while the job is sent", script: { start: ["silent"] }, method: "POST" },
  { name: "between two polls", script: { ask: [running(0.01)] }, method: "GET" },
] as { name: string; script: Script; method: string }[])(
  "ends the job at once when aborted $name",
  async ({ script, method }) => {
    const one = await encoder("one", script);
    const stop = new AbortController();
    const timeouts = { ...QUICK, startMs: 60_000, pollMs: 60_000 };
    const encoding = client([one], { timeouts }).encode(job({ signal: stop.signal }));
    await one.arrival(method);
    const reason = new Error("enough");
    const at = performance.now();
    stop.abort(reason);
    await expect(encoding).rejects.toBe(reason);
    expect(performance.now() - at).toBeLessThan(10_000);
    expect(one.log.at(-1)).toBe("DELETE /jobs/run_1-0");
  },
);

test("does not wait long for an encoder that never answers the DELETE", async () => {
  const one = await encoder("one", { ask: ["silent"] });
  const stop = new AbortController();
  const deaf = {
    name: "deaf",
    fetch: (path: string, init: RequestInit = {}) =>
      init.method === "DELETE" ? new Promise<Response>(() => {}) : one.fetch(path, init),
  };
  const encoding = client([deaf]).encode(job({ signal: stop.signal }));
  await one.arrival("GET");
  const at = performance.now();
  stop.abort(new Error("enough"));
  await expect(encoding).rejects.toThrow("enough");
  expect(performance.now() - at).toBeLessThan(10_000);
});

test("stops waiting for a free slot when aborted", async () => {
  const one = await encoder("one", { start: [BUSY] });
  const stop = new AbortController();
  const encoding = client([one]).encode(
    job({ signal: stop.signal, onWait: () => stop.abort(new Error("enough")) }),
  );
  await expect(encoding).rejects.toThrow("enough");
  expect(one.log).toEqual(["POST /jobs"]);
});

test("repeats a DELETE that fails", async () => {
  const one = await encoder("one", {
    ask: ["silent"],
    end: ["cut", { status: 503 }, "half", { status: 204 }],
  });
  const stop = new AbortController();
  const timeouts = { ...QUICK, endMs: 60_000 };
  const encoding = client([one], { timeouts }).encode(job({ signal: stop.signal }));
  await one.arrival("GET");
  stop.abort(new Error("enough"));
  await expect(encoding).rejects.toThrow("enough");
  expect(one.log.slice(-4)).toEqual(Array(4).fill("DELETE /jobs/run_1-0"));
});
