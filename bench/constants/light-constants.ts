/**
 * Measures what work costs a wasm core: `node bench/constants/light-constants.ts [stock | fast]`. Prints each row beside its estimate, and
 * then the figures of `STOCK_COSTS` or `FAST_COSTS` and of the features by their names, beside those that explain the rows best.
 */
import { readFile, stat } from "node:fs/promises";
import { findBuilt } from "../../core/cache.ts";
import { chooseLevel, coreOf, LIGHT_LIMITS, lightTools } from "../../src/encoders/light/light-estimate.ts";
import { runChunk } from "../../src/encoders/light/light-job.ts";
import { createPagedFile } from "../../src/encoders/wasm/core-files.ts";
import { createFastCore } from "../../src/encoders/wasm/fast-core.ts";
import { createWasmCore } from "../../src/encoders/wasm/stock-core.ts";
import {
  heapOf,
  secondsOf,
  WASM_COSTS,
  type WasmCosts,
  type X264Level,
} from "../../src/encoders/wasm/wasm-costs.ts";
import { parseFfprobe } from "../../src/media/ffmpeg/ffprobe.ts";
import { FAST_TOOLS, WASM_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import type { EncodeKind } from "../../src/media/formats.ts";
import { createPlan } from "../../src/media/index.ts";
import { type Plan, plannedOf } from "../../src/media/plan.ts";
import type { Source } from "../../src/media/source.ts";
import { estimateWork } from "../../src/media/work-estimate.ts";
import { MIB } from "../../src/util/bytes.ts";
import { stockCore } from "../../test/encoders/stock-core.ts";
import { makeClip, runFfprobe } from "../../test/fixtures/make-clip.ts";
import { createFit, featureDifference, featureFigures } from "./figures.ts";

const MPX = 1_000_000;
// The heap starts at 32 MiB; with this much of it taken, every job has to grow it, and its size shows the need.
const BALLAST = 64 * MIB;

const noisy = (size: string, seconds: number) =>
  `-f lavfi -i mandelbrot=s=${size}:rate=25:maxiter=300:end_scale=0.1 -t ${seconds} -vf noise=alls=4:allf=t`.split(
    " ",
  );
const clip = (size: string, seconds: number) =>
  `-f lavfi -i testsrc2=s=${size}:r=25:d=${seconds} -f lavfi -i sine=d=${seconds}`.split(" ");
const h264 = "-c:v libx264 -preset fast -crf 21 -pix_fmt yuv420p -c:a aac".split(" ");
const photo = (size: string) =>
  `-f lavfi -i mandelbrot=s=${size}:maxiter=300:end_scale=0.1 -frames:v 1`.split(" ");
const rgba = "-vf format=rgba,colorchannelmixer=aa=0.5".split(" ");
const hdr =
  "-c:v libx265 -preset ultrafast -pix_fmt yuv420p10le -x265-params log-level=none -color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc -tag:v hvc1".split(
    " ",
  );

type Costs = WasmCosts & { features: ReturnType<typeof featureFigures> };
interface Row {
  file: Promise<string>;
  kind: EncodeKind;
  options: Record<string, unknown>;
}

function rows(): Row[] {
  const list: Row[] = [];
  for (const size of ["640x360", "1280x720", "1920x1080"]) {
    for (const source of [
      makeClip("mp4", [...noisy(size, 2), ...h264]),
      makeClip("mp4", [...clip(size, 2), ...h264]),
    ]) {
      for (const height of [180, 360, 720, 1080]) {
        if (height > Number(size.split("x")[1])) continue;
        list.push({ file: source, kind: "video", options: { height, fps: 25 } });
        if (height < 1080) list.push({ file: source, kind: "video", options: { height, format: "webm" } });
      }
      list.push(
        { file: source, kind: "image", options: { start: 1 } },
        { file: source, kind: "adaptive_video", options: { height: 360 } },
      );
    }
  }
  for (const size of ["1000x750", "2000x1500"]) {
    const jpeg = makeClip("jpg", [...photo(size), "-q:v", "3"]);
    const png = makeClip("png", [...photo(size), ...rgba]);
    const opaque = makeClip("png", photo(size));
    for (const source of [jpeg, png, opaque]) {
      for (const format of ["jpeg", "png", "webp", "gif"]) {
        list.push(
          { file: source, kind: "image", options: { format } },
          { file: source, kind: "image", options: { format, width: 500 } },
        );
      }
    }
    list.push({
      file: jpeg,
      kind: "image",
      options: { format: "jpeg", width: 1000, height: 1000, fit: "contain" },
    });
  }
  const gif = makeClip("gif", [...clip("320x180", 4).slice(0, 4), "-r", "10"]);
  list.push(
    { file: gif, kind: "image", options: {} },
    { file: gif, kind: "image", options: { format: "webp" } },
  );
  const deep = makeClip("mp4", [...clip("1280x720", 1).slice(0, 4), ...hdr]);
  list.push(
    { file: deep, kind: "video", options: { height: 360 } },
    { file: deep, kind: "image", options: { width: 640 } },
    { file: deep, kind: "image", options: { width: 160 } },
  );
  const noise = "-f lavfi -i anoisesrc=d=60:a=0.3:c=pink:r=44100 -ac 2 -c:a pcm_s16le".split(" ");
  for (const format of ["mp3", "aac", "ogg", "opus", "flac"]) {
    list.push({ file: makeClip("wav", noise), kind: "audio", options: { format } });
  }
  // A WAV from a WAV would be a copy.
  list.push({
    file: makeClip("flac", [...noise.slice(0, -1), "flac"]),
    kind: "audio",
    options: { format: "wav" },
  });
  return list;
}

const which = process.argv[2] === "fast" ? "fast" : "stock";
const fastModule =
  which === "fast" ? await WebAssembly.compile(await readFile(findBuilt("core") ?? "")) : null;

const COSTS: Costs = { ...WASM_COSTS[which], features: featureFigures(which) };
const fit = createFit<Costs>(COSTS, {
  "seconds.encode.avif": "the cores do not encode AVIF",
  "memory.encode.avif": "the cores do not encode AVIF",
  "memory.palette_frames": "four bytes a pixel",
  "features.denoise.seconds": "three times that of native ffmpeg",
  "features.denoise.memory": "that of native ffmpeg",
  "features.denoise_still.seconds": "three times that of native ffmpeg",
  "features.denoise_still.memory": "that of native ffmpeg",
  "output.png": "photographs compress to about half of three bytes",
  "output.growth": "the growth of a file in memory",
});

function createStock() {
  return createWasmCore({
    createCore: async (options) => {
      const module = await stockCore.createCore(options);
      module._malloc(BALLAST);
      return module;
    },
    instantiate: stockCore.instantiate,
    memory: 1024 * MIB,
  });
}

for (const { file: clip, kind, options } of rows()) {
  const file = await clip;
  const bytes = await readFile(file);
  const probed = await runFfprobe(file, ["-show_frames", "-read_intervals", "%+#1"]);
  const source = parseFfprobe(probed, { url: "file:clip", filesize: (await stat(file)).size });
  const plan = createPlan(source, kind, options);
  const [chunk] = plan.chunks;
  if (!chunk || coreOf(plan, source, fastModule !== null) !== which) continue;
  const core = fastModule ? createFastCore({ module: fastModule, memory: 1024 * MIB }) : await createStock();
  core.mount("/in/input", createPagedFile(bytes.length, [{ start: 0, bytes }]));
  const before = process.threadCpuUsage();
  runChunk(core, {
    plan,
    chunk,
    source,
    tools: lightTools(plan, source, LIGHT_LIMITS.memory, fastModule ? FAST_TOOLS : WASM_TOOLS),
  });
  const used = process.threadCpuUsage(before);
  const level = chooseLevel(plan, source, LIGHT_LIMITS.memory);
  const estimate = (costs: Costs) => estimateOf(plan, source, level, costs);
  const seconds = (used.user + used.system) / 1e6;
  const memory = (core.heap - (fastModule ? 0 : BALLAST)) / MIB;
  const name = `${kind} ${source.format} ${source.width ?? ""}x${source.height ?? ""} ${JSON.stringify(options)}`;
  const heap = `${memory.toFixed(1)} of ${estimate(COSTS).memory.toFixed(1)} MiB`;
  const time = `${seconds.toFixed(2)} of ${estimate(COSTS).seconds.toFixed(2)} s`;
  console.log(name.padEnd(64), heap.padEnd(22), time.padEnd(18), level.args.at(-1));
  fit.add("seconds", seconds, (costs) => estimate(costs).seconds);
  fit.add("memory", memory, (costs) => estimate(costs).memory);
}
fit.print();

// The estimate with a table's figures, those of the features included. In MiB.
function estimateOf(plan: Plan, source: Source, level: X264Level, costs: Costs) {
  const time = secondsOf(plan, source, level, which, costs);
  const { pixels_encoded, frame_encoded } = estimateWork(plan, source);
  const extra = featureDifference(plannedOf(plan), which, costs.features);
  return {
    seconds:
      costs.seconds.start +
      (time ? time.pictures + time.sound : 0) +
      ((pixels_encoded ?? 0) / MPX) * extra.seconds,
    memory: heapOf(plan, source, level, costs) + (frame_encoded / MPX) * extra.memory,
  };
}
