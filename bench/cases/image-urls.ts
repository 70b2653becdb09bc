import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { makeClip } from "../../test/fixtures/make-clip.ts";
import { type Origin, startOrigin } from "../../test/fixtures/origin.ts";
import type { Benchmark, Contest, Measurement } from "../benchmark.ts";
import { openLab } from "../lab.ts";
import { runLoad } from "../load.ts";
import { medianOf } from "../measure.ts";
import { peakMb, workerds } from "../memory.ts";
import { short } from "../report.ts";

const PHOTOS = 12;
const HITS = 1000;
const CONNECTIONS = 8;
const WIDTH = 640;
// Sides of squares; ffmpeg reads none with some more pixels.
const SIDES = [4000, 8000, 12_000, 16_200];

/** Pictures by URL, against ipx with sharp on the same machine: those that have to be made, and those that were made before. */
export const imageUrlBenchmarks: readonly Benchmark[] = [
  { name: "image-url-vs-ipx", unit: "ms", open: openMisses },
  { name: "image-url-vs-ipx-hits", unit: "requests/s", open: openHits },
  { name: "image-url-megapixels", unit: "Mpx", open: openMegapixels },
];

async function openMisses(ends: AsyncDisposableStack): Promise<Contest> {
  const { ours, ipx, photo } = await openBoth(ends);
  let round = 0;
  const run = async (url: (source: string) => string): Promise<Measurement> => {
    let bytes = 0;
    const started = performance.now();
    for (let index = 0; index < PHOTOS; index++) bytes += await size(url(`${photo}?of=${round}-${index}`));
    round++;
    return { value: (performance.now() - started) / PHOTOS, bytes: bytes / PHOTOS };
  };
  return {
    peer: () => run(ipx),
    ours: () => run(ours),
    notes: (mine, peer) =>
      `a photograph of 4032x3024 to WebP ${WIDTH} wide, each fetched anew, one after another; ${short(medianOf(mine, "bytes"))} bytes against ${short(medianOf(peer, "bytes"))}; ours also stores each and remembers it; ipx may use every core, the light encoder one`,
  };
}

async function openHits(ends: AsyncDisposableStack): Promise<Contest> {
  const { ours, ipx, photo } = await openBoth(ends);
  const run = async (url: string): Promise<Measurement> => {
    const { rate, p50, p99 } = await runLoad({ method: "GET", url, key: "", status: 200 }, HITS, CONNECTIONS);
    return { value: rate, p50, p99 };
  };
  const few = async (url: string): Promise<Measurement> => {
    const { rate, p50, p99 } = await runLoad({ method: "GET", url, key: "", status: 200 }, 40, CONNECTIONS);
    return { value: rate, p50, p99 };
  };
  return {
    peer: () => few(ipx(photo)),
    ours: () => run(ours(photo)),
    notes: (mine, peer) =>
      `p50 ${short(medianOf(mine, "p50"))} ms against ${short(medianOf(peer, "p50"))}; ipx stores nothing and makes the picture again`,
  };
}

async function openMegapixels(ends: AsyncDisposableStack): Promise<Contest> {
  const origin = await startServing(ends);
  const lab = await openLab(ends, 0, { IMAGE_ORIGINS: origin.url });
  let round = 0;
  return {
    peer: null,
    async ours() {
      let largest = 0;
      for (const side of SIDES) {
        const file = await makeClip("jpg", picture(`color=c=0x336699:s=${side}x${side}`, ["-q:v", "4"]));
        const source = `${origin.serve(`/${side}.jpg`, { file, mime: "image/jpeg" })}?of=${round}`;
        const response = await fetch(imageUrl(lab.service.url, source));
        await response.arrayBuffer();
        if (response.status !== 200) break;
        largest = side * side;
      }
      round++;
      const peak = peakMb(workerds(lab.service.pids()));
      return { value: largest / 1e6, peak };
    },
    notes: (mine) =>
      `the largest JPEG of which a WebP ${WIDTH} wide is made in the light encoder's 96 MiB; peak of all workerd processes ${short(medianOf(mine, "peak"))} MB`,
  };
}

async function openBoth(ends: AsyncDisposableStack) {
  const origin = await startServing(ends);
  const scene = "mandelbrot=s=4032x3024:maxiter=150:start_scale=0.1,noise=alls=6:allf=t";
  const file = await makeClip("jpg", picture(scene, ["-q:v", "3"]));
  const photo = origin.serve("/photo.jpg", { file, mime: "image/jpeg" });
  const lab = await openLab(ends, 0, { IMAGE_ORIGINS: origin.url });
  const server = fork(join(import.meta.dirname, "../ipx-server.ts"));
  ends.defer(() => void server.kill());
  const [port] = await once(server, "message");
  return {
    photo,
    ours: (source: string) => imageUrl(lab.service.url, source),
    ipx: (source: string) => `http://127.0.0.1:${port}/w_${WIDTH},f_webp,q_78/${encodeURIComponent(source)}`,
  };
}

const picture = (scene: string, more: readonly string[]) => [
  ...["-f", "lavfi", "-i", scene, "-frames:v", "1", "-pix_fmt", "yuvj420p", ...more],
];
const imageUrl = (base: string, source: string) =>
  `${base}/image/w=${WIDTH},f=webp,q=78/${encodeURIComponent(source)}`;

async function startServing(ends: AsyncDisposableStack): Promise<Origin> {
  const origin = await startOrigin();
  ends.defer(() => origin.close());
  return origin;
}

async function size(url: string): Promise<number> {
  const response = await fetch(url);
  const { byteLength } = await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}.`);
  return byteLength;
}
