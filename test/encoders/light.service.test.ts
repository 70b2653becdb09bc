import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { afterEach, expect, test } from "vitest";
import { createLightEncoder } from "../../src/encoders/light/light.ts";
import type { LightLimits } from "../../src/encoders/light/light-estimate.ts";
import {
  type LightMessage,
  type LightRequest,
  readLightRequest,
} from "../../src/encoders/light/light-wire.ts";
import { FRAME_MIME, frameHead, readFrames } from "../../src/encoders/wire-frame.ts";
import { MediaError } from "../../src/media/errors.ts";
import type { Source } from "../../src/media/source.ts";
import type { ByteReader } from "../../src/runs/ports.ts";
import { hugeMp4 } from "../fixtures/huge.ts";
import { createPlan } from "../plan/strict-plan.ts";

// The server is a real HTTP server that fails as a Worker may; the Worker itself is tested in test/worker/encoder.
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function lightAt(listener: RequestListener, limits: Partial<LightLimits> = {}) {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return createLightEncoder({
    fetch: (target, init) => fetch(url + new URL(target).pathname.slice(1), init),
    limits,
  });
}

const answering =
  (...messages: LightMessage[]): RequestListener =>
  (request, response) => {
    request.resume().on("end", () => {
      response.writeHead(200, { "Content-Type": FRAME_MIME });
      for (const message of messages) response.write(frameHead(message));
      response.end();
    });
  };

const bytes = Buffer.from("some bytes");
const reader: ByteReader = { size: bytes.length, read: async ({ start, end }) => bytes.subarray(start, end) };
const signal = () => AbortSignal.timeout(20_000);

const DEATHS: { name: string; listener: RequestListener }[] = [
  { name: "breaks the connection", listener: (request) => void request.socket.destroy() },
  {
    name: "answers with an error page",
    listener: (request, response) =>
      void request.resume().on("end", () => response.writeHead(500).end("Error 1102")),
  },
  { name: "ends in the middle", listener: answering({ state: "running" }) },
  {
    name: "goes silent",
    listener: (request, response) => {
      request.resume();
      response.writeHead(200, { "Content-Type": FRAME_MIME }).write(frameHead({ state: "running" }));
    },
  },
  {
    name: "announces a file that it does not send",
    listener: answering({
      state: "done",
      report: null,
      files: [{ name: "a", mime: "b", size: 9 }],
      tally: {},
      stats: { heap: 0, seconds: 0 },
    }),
  },
];

test.for(DEATHS)("an encoder that $name fails with a retryable worker_lost", async ({ listener }) => {
  const light = await lightAt(listener, { silenceSeconds: 0.5 });
  await expect(light.probe(reader, signal())).rejects.toMatchObject({ kind: "worker_lost", retryable: true });
});

test("an unreachable encoder fails with worker_lost", async () => {
  const light = createLightEncoder({ fetch: (_, init) => fetch("http://127.0.0.1:9/", init) });
  await expect(light.probe(reader, signal())).rejects.toMatchObject({ kind: "worker_lost" });
});

test("awaits a lost encoder until it answers, and then fails, so that another attempt finds it", async () => {
  let requests = 0;
  const light = await lightAt(
    (request, response) => {
      if (request.method === "POST" || ++requests < 3) return void request.socket.destroy();
      response.writeHead(200).end('{"status":"ok","fast":false}');
    },
    { awaySeconds: 600 },
  );
  let waits = 0;
  const probed = light.probe(reader, signal(), () => waits++);
  await expect(probed).rejects.toMatchObject({ kind: "worker_lost", retryable: true });
  expect({ requests, waits }).toEqual({ requests: 3, waits: 2 });
});

test("awaits an encoder that stays away no longer than its limit", async () => {
  const light = await lightAt((request) => void request.socket.destroy(), { awaySeconds: 1 });
  const begun = performance.now();
  await expect(light.probe(reader, signal())).rejects.toMatchObject({ kind: "worker_lost" });
  expect(performance.now() - begun).toBeGreaterThan(990);
});

test("asks again for the core of an encoder that did not answer, and once only when it did", async () => {
  let requests = 0;
  const light = await lightAt((request, response) => {
    if (++requests === 1) return void request.socket.destroy();
    response.writeHead(200).end('{"status":"ok","fast":true}');
  });
  const source: Source = {
    ...{
      object: "source",
      url: "file:clip",
      kind: "video",
      format: "mp4",
      duration: 300,
      fps: 25,
      filesize: 60e6,
    },
    ...{ width: 854, height: 480, coded_width: 854, coded_height: 480, pixel_format: "yuv420p" },
    codecs: { video: "h264", audio: null },
  };
  const plan = createPlan(source, "video", { height: 478 });
  const spans: number[] = [];
  for (let time = 0; time < 3; time++) {
    await light.prepare();
    spans.push(light.chunkSeconds(plan, source));
  }
  const [stock = 0, fast = 0, repeat] = spans;
  expect(fast).toBeGreaterThan(stock);
  expect({ requests, repeat }).toEqual({ requests: 2, repeat: fast });
});

test("an abort ends the wait for a lost encoder at once", async () => {
  const light = await lightAt((request) => void request.socket.destroy(), { awaySeconds: 600 });
  const leaving = new AbortController();
  const probed = light.probe(reader, leaving.signal, () => leaving.abort(new Error("gone")));
  await expect(probed).rejects.toThrow("gone");
});

test("rejects with the encoder's own error", async () => {
  const error = { state: "error", kind: "out_of_memory", message: "Too much.", retryable: false } as const;
  const light = await lightAt(answering({ state: "running" }, error));
  await expect(light.probe(reader, signal())).rejects.toEqual(new MediaError("out_of_memory", "Too much."));
});

test("retries a busy encoder and reports each wait", async () => {
  let requests = 0;
  const busy = { state: "error", kind: "service_unavailable", message: "Busy.", retryable: true } as const;
  const report = { format: { format_name: "wav" }, streams: [{ codec_name: "pcm_s16le" }] };
  const done: LightMessage = { state: "done", report, files: [], tally: {}, stats: { heap: 1, seconds: 1 } };
  const light = await lightAt((request, response) => {
    answering(++requests < 3 ? busy : done)(request, response);
  });
  let waits = 0;
  expect(await light.probe(reader, signal(), () => waits++)).toEqual(report);
  expect({ requests, waits }).toEqual({ requests: 3, waits: 2 });
});

test("an abort ends the wait for a busy encoder at once", async () => {
  const busy = { state: "error", kind: "service_unavailable", message: "Busy.", retryable: true } as const;
  const light = await lightAt(answering(busy));
  const leaving = new AbortController();
  const probed = light.probe(reader, leaving.signal, () => leaving.abort(new Error("gone")));
  await expect(probed).rejects.toThrow("gone");
});

test("gives up on an encoder that keeps requesting the input", async () => {
  let requests = 0;
  const light = await lightAt((request, response) => {
    requests++;
    answering({ state: "need", range: { start: 0, end: 1 } })(request, response);
  });
  await expect(light.probe(reader, signal())).rejects.toMatchObject({ kind: "probe_failed" });
  expect(requests).toBe(24);
});

test("reports a fault of the input as such, not as one of the encoder", async () => {
  const light = await lightAt(answering({ state: "running" }));
  const fault = new MediaError("input_forbidden", "The server of the input says 403.");
  const broken = { size: 10, read: () => Promise.reject(fault) };
  await expect(light.probe(broken, signal())).rejects.toBe(fault);
  const short = { size: 10, read: async () => new Uint8Array(3) };
  await expect(light.probe(short, signal())).rejects.toMatchObject({ kind: "input_unreachable" });
});

test.for([
  { name: "at its end", whole: true },
  { name: "that are cut off", whole: false },
] as const)("the first request for a film holds its tables $name, where there are any", async ({ whole }) => {
  const film = await hugeMp4(100_000_000);
  const size = whole ? film.size : film.size - 1;
  const input: ByteReader = {
    size,
    read: async ({ start, end }) => Buffer.concat([...film.read(start, Math.min(end, size))]),
  };
  const source: Source = {
    ...{ object: "source", kind: "video", url: "file:film", format: "mp4", filesize: size },
    ...{ width: 160, height: 90, fps: 25, duration: 2000, codecs: { video: "h264", audio: "aac" } },
  };
  const requests: LightRequest[] = [];
  const error = { state: "error", kind: "out_of_memory", message: "No.", retryable: false } as const;
  const light = await lightAt((request, response) => {
    const frames = readFrames(Readable.toWeb(request) as ReadableStream<Uint8Array>);
    void readLightRequest(frames, 1e9).then(async (read) => {
      requests.push(read);
      await frames.drain();
      response.writeHead(200, { "Content-Type": FRAME_MIME }).end(frameHead(error));
    });
  });
  const plan = createPlan(source, "image", { start: 1000 });
  const [chunk] = plan.chunks;
  if (!chunk) throw new Error("A plan has chunks.");
  const encoded = light.encode({ plan, chunk, source, input, signal: signal() });
  await expect(encoded).rejects.toMatchObject({ kind: "out_of_memory" });
  const [first, ...tables] = requests[0]?.ranges ?? [];
  expect([requests.length, first?.start]).toEqual([1, 0]);
  const starts = tables.map(({ start, end }) => [
    Buffer.concat([...film.read(start + 4, start + 8)]).toString("latin1"),
    end,
  ]);
  expect(starts).toEqual(whole ? [["moov", size]] : []);
});
