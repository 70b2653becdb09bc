import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import WaveformData from "waveform-data";
import type { Source } from "../../src/media/source.ts";
import { openBrowser } from "../browser/chromium.ts";
import { runFfmpeg } from "../fixtures/make-clip.ts";
import { runNative } from "../judge/native.ts";
import { measurePeaks } from "../judge/peaks.ts";
import { openRig, type Rig } from "../judge/rig.ts";
import { servePage } from "./serve-page.ts";

let rig: Rig;
let home: string;
let stereo: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "framewright-waveform-"));
  rig = await openRig();
  // Two seconds and a bit, so that the last point is short; the channels differ.
  stereo = await make("stereo.flac", [
    ...["-f", "lavfi", "-i", "anoisesrc=d=2.01:c=pink:r=44100:a=0.7:seed=7"],
    ...["-f", "lavfi", "-i", "sine=f=3:d=2.01:r=44100", "-filter_complex", "[0][1]amerge", "-c:a", "flac"],
  ]);
});
afterAll(async () => {
  await rig?.close();
  await rm(home, { recursive: true, force: true });
});

const LIMIT = { timeout: 120_000 };

async function make(name: string, args: readonly string[]): Promise<string> {
  const path = join(home, name);
  await runFfmpeg([...args, path]);
  return path;
}

interface Made {
  path: string;
  mime: string;
  output: Source;
}

async function makeWaveform(clip: string, options: Record<string, unknown> = {}): Promise<Made> {
  const { task, path, mime } = await rig.door.encode({ input: rig.serve(clip), kind: "waveform", options });
  const output = task.steps.at(-1)?.output as Source | null;
  if (!output) throw new Error(`It has no output: ${JSON.stringify(task)}`);
  expect(output.filesize).toBe((await readFile(path)).length);
  return { path, mime, output };
}

test("JSON has the least and the greatest sample of each point", LIMIT, async () => {
  const { path, mime, output } = await makeWaveform(stereo);
  const { samples, data } = await measurePeaks(stereo, { channels: 2, samples_per_pixel: 256 });
  const facts = { version: 2, channels: 1, sample_rate: 44_100, samples_per_pixel: 256, bits: 16 };
  const length = Math.ceil(samples / 256);
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual({ ...facts, length, data });
  expect([mime, output.kind, output.format, output.encoder]).toEqual([
    "application/json",
    "data",
    "json",
    "light",
  ]);
  expect(output.waveform).toEqual({ ...facts, length });
  expect(output.counts?.sound?.output).toBeCloseTo(samples / 44_100, 5);
});

test("a .dat has the same in binary, of each channel and of a part", LIMIT, async () => {
  const options = {
    format: "dat",
    bits: 8,
    split_channels: true,
    pixels_per_second: 100,
    start: 0.5,
    end: 1.5,
  };
  const { path, mime, output } = await makeWaveform(stereo, options);
  const part = ["-af", "atrim=start=0.5:end=1.5"];
  const wish = { channels: 2, samples_per_pixel: 441, split: true, after: part };
  const { samples, data } = await measurePeaks(stereo, wish);
  expect(samples).toBe(44_100);
  const bytes = await readFile(path);
  expect([mime, output.kind, output.duration]).toEqual(["application/octet-stream", "data", 1]);
  // Version, flags (1 for 8 bits), sample rate, samples per pixel, length, channels.
  expect([...new Int32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + 24))]).toEqual([
    ...[2, 1, 44_100, 441, 100, 2],
  ]);
  expect([...new Int8Array(bytes.subarray(24))]).toEqual(data.map((value) => Math.trunc(value / 256) || 0));
  // The library of audiowaveform's authors reads the data.
  const read = WaveformData.create(new Uint8Array(bytes).buffer);
  expect([read.channels, read.length, read.scale, read.bits, read.duration]).toEqual([2, 100, 441, 8, 1]);
  expect(read.channel(1).max_array()).toEqual(
    data.filter((_, at) => at % 4 === 3).map((value) => Math.trunc(value / 256) || 0),
  );
});

test("a PNG shows a line from the least to the greatest in each column", LIMIT, async () => {
  const size = { width: 300, height: 101 };
  const colors = { waveform_color: "#f80", background_color: "#00000080" };
  const { path, mime, output } = await makeWaveform(stereo, {
    ...{ format: "png", split_channels: true, ...size, ...colors },
  });
  expect([mime, output.kind, output.width, output.height]).toEqual(["image/png", "image", 300, 101]);
  const samples = Math.round(2.01 * 44_100);
  const samples_per_pixel = Math.ceil(samples / 300);
  const { data } = await measurePeaks(stereo, { channels: 2, samples_per_pixel, split: true });
  const { output: pixels } = await runNative(["-i", path, "-f", "rawvideo", "-pix_fmt", "rgba", "-"]);
  expect(pixels.length).toBe(300 * 101 * 4);
  const wrong: string[] = [];
  for (let x = 0; x < 300; x++) {
    for (let y = 0; y < 101; y++) {
      const [row, top, room] = y < 50 ? [0, 0, 50] : [1, 50, 51];
      const [least = 0, most = -1] = data.slice(4 * x + 2 * row, 4 * x + 2 * row + 2);
      const lineOf = (sample: number) => top + room - 1 - Math.floor(((sample + 32_768) * room) / 65_536);
      const isSet = y >= lineOf(most) && y <= lineOf(least) && 4 * x < data.length;
      const pixel = pixels.subarray(4 * (y * 300 + x), 4 * (y * 300 + x) + 4).toString("hex");
      if (pixel !== (isSet ? "ff8800ff" : "00000080")) wrong.push(`${x},${y}: ${pixel}`);
    }
  }
  expect(wrong).toEqual([]);
});

test("a native encoder measures what is too large for the light one", LIMIT, async () => {
  // The input takes at most 40 MiB.
  const values = new Int16Array(22_000_000);
  for (let at = 0, seed = 1; at < values.length; at++) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) | 0;
    values[at] = seed >> 16;
  }
  const raw = join(home, "raw.pcm");
  await writeFile(raw, values);
  const large = await make("large.wav", ["-f", "s16le", "-ac", "2", "-ar", "44000", "-i", raw, "-c", "copy"]);
  const { path, output } = await makeWaveform(large, { points: 1000 });
  expect(output.encoder).toBe("native");
  const { data, samples } = await measurePeaks(large, { channels: 2, samples_per_pixel: 11_000 });
  expect(samples).toBe(11_000_000);
  expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ length: 1000, data });
});

test("the sound of a video, another track of it, and none at all", LIMIT, async () => {
  const video = await make("video.mp4", [
    ...["-f", "lavfi", "-i", "testsrc2=s=64x64:r=10:d=1", "-f", "lavfi", "-i", "sine=f=440:d=1:r=48000"],
    ...["-f", "lavfi", "-i", "anoisesrc=d=1:r=32000:a=0.5:seed=2", "-map", "0", "-map", "1", "-map", "2"],
    ...["-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac"],
  ]);
  for (const track of [0, 1]) {
    const { path, output } = await makeWaveform(video, { track, samples_per_pixel: 500 });
    const wish = { channels: 1, samples_per_pixel: 500, after: ["-map", `0:a:${track}`] };
    const { data } = await measurePeaks(video, wish);
    expect(output.waveform).toMatchObject({ sample_rate: track === 0 ? 48_000 : 32_000 });
    const peaks: number[] = JSON.parse(await readFile(path, "utf8")).data;
    expect(peaks.length).toBe(data.length);
    // Decoders of lossy sound compute in floating point, in another order on another processor.
    expect(Math.max(...peaks.map((value, at) => Math.abs(value - (data[at] ?? 0))))).toBeLessThanOrEqual(1);
  }
  const silent = await make("silent.mp4", [
    ...["-f", "lavfi", "-i", "testsrc2=s=64x64:r=10:d=1", "-c:v", "libx264", "-preset", "ultrafast"],
  ]);
  const failed = await rig.door.runTask({ input: rig.serve(silent), kind: "waveform", options: {} });
  expect(failed.error).toMatchObject({ kind: "input_no_audio" });
  const close = { pixels_per_second: 24_000 };
  const task = await rig.door.runTask({ input: rig.serve(stereo), kind: "waveform", options: close });
  expect(task.error).toMatchObject({
    kind: "invalid_options",
    message:
      "options.pixels_per_second must be at most 22050 for this source, which has 44100 samples a second.",
  });
});

const require = createRequire(import.meta.url);
const LIBRARIES: Readonly<Record<string, string>> = {
  "/peaks.js": join(dirname(require.resolve("peaks.js")), "peaks.js"),
  "/wavesurfer.js": join(dirname(require.resolve("wavesurfer.js")), "wavesurfer.min.js"),
};
const PAGE = `<!doctype html><link rel="icon" href="data:,">
<script src="/peaks.js"></script><script src="/wavesurfer.js"></script>
<audio src="/stereo.flac" preload="auto"></audio>
<div id="zoom" style="width:600px;height:100px"></div><div id="overview" style="width:600px;height:100px"></div>
<div id="wave" style="width:600px"></div>`;
const TYPES: Readonly<Record<string, string>> = { ".js": "text/javascript", ".json": "application/json" };

test("peaks.js and wavesurfer.js show them", LIMIT, async () => {
  // peaks.js reads no others.
  const bits = 8;
  const dat = await makeWaveform(stereo, { format: "dat", bits });
  const json = await makeWaveform(stereo, { bits });
  const { data } = await measurePeaks(stereo, { channels: 2, samples_per_pixel: 256 });
  const eight = data.map((value) => Math.trunc(value / 256) || 0);
  const files: Readonly<Record<string, string>> = {
    ...{ ...LIBRARIES, "/wave.dat": dat.path, "/wave.json": json.path, "/stereo.flac": stereo },
  };
  const typeOf = (path: string) => TYPES[extname(path)] ?? "application/octet-stream";
  const site = await servePage(PAGE, (path) => files[path], typeOf);
  const browser = await openBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(site.url);
    for (const [name, kind] of [
      ["/wave.dat", "arraybuffer"],
      ["/wave.json", "json"],
    ] as const) {
      const shown = await page.evaluate(showInPeaks, { name, kind });
      expect([shown.length, shown.sample_rate, shown.scale], name).toEqual([347, 44_100, 256]);
      expect(shown.data, name).toEqual(eight);
      expect(shown.painted, name).toBeGreaterThan(1000);
    }
    const drawn = await page.evaluate(showInWavesurfer, "/wave.json");
    expect(drawn.peaks).toEqual(eight);
    expect(drawn.painted).toBeGreaterThan(1000);
  } finally {
    await browser.close();
    site.close();
  }
});

// They run in the page, which has nothing of this file.
function showInPeaks({ name, kind }: { name: string; kind: string }) {
  const { peaks } = globalThis as unknown as { peaks: { init: (...args: unknown[]) => void } };
  interface Peaks {
    getWaveformData(): WaveformData;
    destroy(): void;
  }
  return new Promise<{ length: number; sample_rate: number; scale: number; data: number[]; painted: number }>(
    (resolve, reject) => {
      const options = {
        zoomview: { container: document.getElementById("zoom") },
        overview: { container: document.getElementById("overview") },
        mediaElement: document.querySelector("audio"),
        dataUri: { [kind]: name },
        zoomLevels: [256, 512],
      };
      peaks.init(options, (fault: Error | null, shown: Peaks) => {
        if (fault) return reject(fault);
        const wave = shown.getWaveformData();
        const channel = wave.channel(0);
        const data = Array.from({ length: wave.length }, (_, at) => [
          channel.min_sample(at),
          channel.max_sample(at),
        ]).flat();
        requestAnimationFrame(() => {
          let painted = 0;
          for (const canvas of document.querySelectorAll<HTMLCanvasElement>("#overview canvas")) {
            const pixels =
              canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
            for (let at = 3; at < pixels.length; at += 4) if (pixels[at]) painted++;
          }
          shown.destroy();
          resolve({ length: wave.length, sample_rate: wave.sample_rate, scale: wave.scale, data, painted });
        });
      });
    },
  );
}

async function showInWavesurfer(name: string) {
  const { WaveSurfer } = globalThis as unknown as {
    WaveSurfer: {
      create(options: object): {
        once(event: "ready", done: () => void): void;
        getDecodedData(): AudioBuffer;
        getWrapper(): HTMLElement;
      };
    };
  };
  const { data, bits, length, samples_per_pixel, sample_rate } = await (await fetch(name)).json();
  const wave = WaveSurfer.create({
    container: "#wave",
    url: "/stereo.flac",
    peaks: [data.map((value: number) => value / 2 ** (bits - 1))],
    duration: (length * samples_per_pixel) / sample_rate,
  });
  await new Promise<void>((resolve) => wave.once("ready", resolve));
  const peaks = Array.from(wave.getDecodedData().getChannelData(0), (value) => value * 2 ** (bits - 1));
  let painted = 0;
  for (const canvas of wave.getWrapper().querySelectorAll("canvas")) {
    const pixels = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
    for (let at = 3; at < pixels.length; at += 4) if (pixels[at]) painted++;
  }
  return { peaks, painted };
}
