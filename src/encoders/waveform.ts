import { zlibSync } from "fflate";
import type { WaveformPicture, WaveformPlan } from "../media/features/waveform.ts";
import { MAX_POINTS, samplesPerPixel } from "../media/features/waveform-zoom.ts";
import type { WaveformFormat } from "../media/formats.ts";
import type { WaveformFacts } from "../media/source.ts";
import { concatBytes, viewOf } from "../util/bytes.ts";
import * as errors from "./errors.ts";
import { PNG_SIGNATURE, pngChunk, u32 } from "./images/png.ts";

/** Measures the peaks of a WAV while it is written. */
export interface PeakMeter {
  /** Takes the next bytes of the file. */
  add(bytes: Uint8Array): void;
  /** Returns a file of peaks, with a {@link PeaksHeader}; null when there was no sound. */
  end(): Uint8Array<ArrayBuffer> | null;
}

/** The header of a file of peaks; its numbers are in this order. */
interface PeaksHeader {
  channels: number;
  /** Hertz. */
  sample_rate: number;
  samples_per_pixel: number;
  /** Samples per channel that were measured. */
  samples: number;
  /** Points per channel. */
  length: number;
}

const FIELDS = ["channels", "sample_rate", "samples_per_pixel", "samples", "length"] as const;

/** Bytes before the peaks: a minimum and a maximum of 16 bits for each channel of each point. */
export const PEAKS_HEADER = FIELDS.length * Float64Array.BYTES_PER_ELEMENT;

const MAX_HEADER_BYTES = 65_536;
const FIRST_VALUES = 65_536;

/** Reads the header of a file of peaks. */
export function readPeaksHeader(bytes: Uint8Array): PeaksHeader {
  const [channels = 0, sample_rate = 0, samples_per_pixel = 0, samples = 0, length = 0] = new Float64Array(
    bytes.slice(0, PEAKS_HEADER).buffer,
  );
  return { channels, sample_rate, samples_per_pixel, samples, length };
}

function writeHeader(header: PeaksHeader): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new Float64Array(FIELDS.map((name) => header[name])).buffer);
}

/** Joins the files of peaks of consecutive parts of a sound, which have the same channels and rate. */
export function joinPeaks(files: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const [first, ...others] = files.map(readPeaksHeader);
  if (!first) throw errors.noPeaks();
  const header = { ...first };
  for (const { samples, length } of others) {
    header.samples += samples;
    header.length += length;
  }
  return concatBytes([writeHeader(header), ...files.map((file) => file.subarray(PEAKS_HEADER))]);
}

/** Creates a meter for one file, or for the rest of a sound after `points_before` points; it stores only the peaks. */
export function createPeakMeter(plan: WaveformPlan, points_before = 0): PeakMeter {
  let rest: Uint8Array<ArrayBufferLike> = new Uint8Array();
  let format: WaveFormat | null = null;
  let scanner: ReturnType<typeof createScanner> | null = null;

  return {
    add(bytes) {
      let data = rest.length > 0 ? concatBytes([rest, bytes]) : bytes;
      rest = new Uint8Array();
      if (!format || !scanner) {
        format = readWaveHeader(data);
        if (!format && data.length > MAX_HEADER_BYTES) throw errors.waveformSoundMissing();
        if (!format) {
          rest = data.slice();
          return;
        }
        if (format.channels < 1 || format.sample_rate < 1) throw errors.waveformSoundMissing();
        scanner = createScanner(plan, format, points_before);
        data = data.subarray(format.start);
      }
      const whole = data.length - (data.length % (2 * format.channels));
      scanner.take(samplesOf(data.subarray(0, whole)));
      rest = data.slice(whole);
    },
    end: () => scanner?.end() ?? null,
  };
}

function samplesOf(bytes: Uint8Array): Int16Array {
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % 2 === 0 ? bytes : bytes.slice();
  return new Int16Array(buffer, byteOffset, byteLength / 2);
}

function createScanner(plan: WaveformPlan, { channels, sample_rate }: WaveFormat, points_before: number) {
  const { zoom, picture } = plan;
  const samples_per_pixel = samplesPerPixel(zoom, sample_rate);
  const rows = plan.split ? channels : 1;
  const hasPointCount = "points" in zoom;
  // A duration may be a little short, so the last point takes the samples beyond it; a zoomed picture ends at its edge.
  const maxPoints =
    (hasPointCount ? zoom.points : (picture?.width ?? Number.POSITIVE_INFINITY)) - points_before;
  let values = new Int16Array(FIRST_VALUES);
  let samples = 0;
  let length = 0;
  let count = 0;
  let room = 0;
  open();

  function open(): void {
    const at = length * rows * 2;
    if (at + rows * 2 > values.length) {
      const grown = new Int16Array(Math.max(values.length * 2, at + rows * 2));
      grown.set(values);
      values = grown;
    }
    for (let row = 0; row < rows; row++) {
      values[at + 2 * row] = 32_767;
      values[at + 2 * row + 1] = -32_768;
    }
    count = 0;
    room = hasPointCount && length === maxPoints - 1 ? Number.POSITIVE_INFINITY : samples_per_pixel;
  }

  function close(): void {
    length++;
    if (points_before + length > MAX_POINTS / rows) throw errors.tooManyPoints({ max: MAX_POINTS });
  }

  const lanes = rows === channels ? createLanes(channels) : null;
  const scan = rows === channels ? scanEach : scanMean;
  return {
    take(data: Int16Array): void {
      lanes?.load(data);
      const frames = data.length / channels;
      samples += frames;
      for (let at = 0; at < frames && length < maxPoints; ) {
        const step = Math.min(room - count, frames - at);
        const [from, to, point] = [at * channels, (at + step) * channels, length * rows * 2];
        scan(data, lanes?.scan(from, to, values, point) ?? from, to, channels, values, point);
        at += step;
        count += step;
        if (count < room) continue;
        close();
        open();
      }
    },
    end(): Uint8Array<ArrayBuffer> | null {
      if (count > 0 && length < maxPoints) close();
      if (samples === 0) return null;
      const used = values.subarray(0, length * rows * 2);
      return concatBytes([
        writeHeader({ channels: rows, sample_rate, samples_per_pixel, samples, length }),
        new Uint8Array(used.buffer, used.byteOffset, used.byteLength),
      ]);
    },
  };
}

// audiowaveform also rounds the mean toward zero. Sums order like means, so only the extremes are divided.
function scanMean(
  data: Int16Array,
  from: number,
  to: number,
  channels: number,
  values: Int16Array,
  point: number,
): void {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (let at = from; at < to; ) {
    let sum = 0;
    for (const end = at + channels; at < end; at++) sum += data[at] as number;
    if (sum < min) min = sum;
    if (sum > max) max = sum;
  }
  values[point] = Math.min(values[point] as number, Math.trunc(min / channels));
  values[point + 1] = Math.max(values[point + 1] as number, Math.trunc(max / channels));
}

// Branches on sound are unpredictable: the sign of a difference selects it or 0, a third faster.
function scanEach(
  data: Int16Array,
  from: number,
  to: number,
  channels: number,
  values: Int16Array,
  point: number,
): void {
  for (let row = 0; row < channels; row++) {
    let min = values[point + 2 * row] as number;
    let max = values[point + 2 * row + 1] as number;
    for (let at = from + row; at < to; at += channels) {
      const value = data[at] as number;
      const below = value - min;
      min += below & (below >> 31);
      const above = max - value;
      max -= above & (above >> 31);
    }
    values[point + 2 * row] = min;
    values[point + 2 * row + 1] = max;
  }
}

/** The format of a WAV, and the position of its samples. */
interface WaveFormat {
  channels: number;
  /** Hertz. */
  sample_rate: number;
  /** Offset of the first sample. */
  start: number;
}

const RIFF_HEADER = 12;
const CHUNK_HEADER = 8;
const FMT = 0x666d7420;
const DATA = 0x64617461;

/**
 * Reads a WAV or RF64 up to its first sample; null until there are enough bytes. Ignores the size of the data, which is unknown while the
 * file is written.
 */
function readWaveHeader(bytes: Uint8Array): WaveFormat | null {
  const view = viewOf(bytes);
  let format: Omit<WaveFormat, "start"> | null = null;
  for (let at = RIFF_HEADER; at + CHUNK_HEADER <= bytes.length; ) {
    const name = view.getUint32(at);
    const body = at + CHUNK_HEADER;
    if (name === DATA) return format && { ...format, start: body };
    const size = view.getUint32(at + 4, true);
    if (body + size > bytes.length) return null;
    if (name === FMT) {
      format = { channels: view.getUint16(body + 2, true), sample_rate: view.getUint32(body + 4, true) };
    }
    at = body + size + (size % 2);
  }
  return null;
}

/** Finds the extremes of samples, eight at a time. */
export interface Lanes {
  /** Loads the samples for the next scans. */
  load(samples: Int16Array): void;
  /**
   * Widens the extremes at `at` in `values`, a minimum and a maximum per channel, by the samples from `from` to `to`. Returns the index
   * where it stopped, up to seven samples before `to`.
   */
  scan(from: number, to: number, values: Int16Array, at: number): number;
}

// https://webassembly.github.io/spec/core/binary/instructions.html
const I32 = 0x7f;
const V128 = 0x7b;
const NONE = 0x40;
const OP = {
  loop: 0x03,
  if: 0x04,
  end: 0x0b,
  branch: 0x0c,
  get: 0x20,
  set: 0x21,
  tee: 0x22,
  constant: 0x41,
  less: 0x48,
  add: 0x6a,
} as const;
const LOAD = [0xfd, 0x00, 1, 0];
const storeAt = (offset: number) => [0xfd, 0x0b, 1, offset];
const MIN = [0xfd, 0x96, 0x01];
const MAX = [0xfd, 0x98, 0x01];
const [AT, END, LOW, HIGH] = [0, 1, 2, 3] as const;

const LANES = 8;
const BLOCK = 2 * LANES;
const PAGE = 65_536;
const BASE = 2 * BLOCK;

const widen = (into: number, by: readonly number[]) => [
  ...[OP.get, into, OP.get, AT, ...LOAD, ...by, OP.set, into],
];
// do { low = min(low, *at); high = max(high, *at); } while ((at += 16) < end)
const BODY = [
  ...[OP.get, AT, ...LOAD, OP.tee, LOW, OP.set, HIGH],
  ...[OP.loop, NONE, ...widen(LOW, MIN), ...widen(HIGH, MAX)],
  ...[OP.get, AT, OP.constant, BLOCK, OP.add, OP.tee, AT, OP.get, END, OP.less],
  ...[OP.if, NONE, OP.branch, 1, OP.end, OP.end],
  ...[OP.constant, 0, OP.get, LOW, ...storeAt(0), OP.constant, 0, OP.get, HIGH, ...storeAt(BLOCK), OP.end],
];
const CODE = [1, 2, V128, ...BODY];
const section = (id: number, ...bytes: number[]) => [id, bytes.length, ...bytes];
const nameOf = (letter: string) => [1, letter.charCodeAt(0)];
const MODULE = Uint8Array.of(
  ...[0, ...[..."asm"].map((letter) => letter.charCodeAt(0)), 1, 0, 0, 0],
  ...section(1, 1, 0x60, 2, I32, I32, 0),
  ...section(3, 1, 0),
  ...section(5, 1, 0, 2),
  ...section(7, 2, ...nameOf("m"), 2, 0, ...nameOf("s"), 0, 0),
  ...section(10, 1, CODE.length, ...CODE),
);

interface Exports {
  m: WebAssembly.Memory;
  /** Scans the bytes from `from` to `to`, at least a block. */
  s(from: number, to: number): void;
}

function compile(): Exports | null {
  // Cloudflare's types declare it abstract, because it throws in a Worker.
  const Module = WebAssembly.Module as unknown as new (bytes: Uint8Array) => WebAssembly.Module;
  try {
    return new WebAssembly.Instance(new Module(MODULE)).exports as unknown as Exports;
  } catch {
    return null;
  }
}

/** Creates the lanes for a number of channels; null if it does not divide eight, or if wasm cannot be compiled, as in a Worker. */
export function createLanes(channels: number): Lanes | null {
  if (LANES % channels !== 0) return null;
  const exports = compile();
  if (!exports) return null;
  const { m: memory, s: scan } = exports;
  let lanes = new Int16Array(memory.buffer);
  return {
    load(samples) {
      const missing = BASE + samples.byteLength - memory.buffer.byteLength;
      if (missing > 0) {
        memory.grow(Math.ceil(missing / PAGE));
        lanes = new Int16Array(memory.buffer);
      }
      lanes.set(samples, BASE / 2);
    },
    scan(from, to, values, at) {
      const end = to - ((to - from) % LANES);
      if (end <= from) return from;
      scan(BASE + 2 * from, BASE + 2 * end);
      for (let lane = 0; lane < LANES; lane++) {
        const row = at + 2 * (lane % channels);
        const [min, max] = [lanes[lane] as number, lanes[LANES + lane] as number];
        if (min < (values[row] as number)) values[row] = min;
        if (max > (values[row + 1] as number)) values[row + 1] = max;
      }
      return end;
    },
  };
}

/** Converts a file of peaks to the output, as a stream. */
export interface WaveformEnd {
  stream: TransformStream<Uint8Array, Uint8Array>;
  /** The facts of the output, once the stream has ended. */
  facts(): WaveformFacts;
  /** Seconds of sound measured. */
  seconds(): number;
}

/** Creates the writer of a format of the kind `waveform`. */
export function writeWaveform(format: WaveformFormat, plan: WaveformPlan): WaveformEnd {
  const writer = WRITERS[format](plan);
  let header: PeaksHeader | null = null;
  let rest: Uint8Array<ArrayBufferLike> = new Uint8Array();
  let values = 0;
  const requireHeader = (): PeaksHeader => {
    if (header) return header;
    throw errors.peaksDamaged();
  };
  return {
    stream: new TransformStream({
      transform(piece, controller) {
        let bytes = concatBytes([rest, piece]);
        if (!header) {
          rest = bytes;
          if (bytes.length < PEAKS_HEADER) return;
          header = readPeaksHeader(bytes);
          bytes = bytes.slice(PEAKS_HEADER);
          send(controller, writer.head(factsOf(header, plan)));
        }
        const whole = bytes.length - (bytes.length % 2);
        rest = bytes.slice(whole);
        const peaks = new Int16Array(bytes.buffer, 0, whole / 2);
        values += peaks.length;
        send(controller, writer.body(peaks));
      },
      flush(controller) {
        const { length, channels } = requireHeader();
        if (values !== length * channels * 2) throw errors.peaksDamaged();
        send(controller, writer.tail());
      },
    }),
    facts: () => factsOf(requireHeader(), plan),
    seconds: () => requireHeader().samples / requireHeader().sample_rate,
  };
}

function send(controller: TransformStreamDefaultController<Uint8Array>, bytes: Uint8Array | null): void {
  if (bytes && bytes.length > 0) controller.enqueue(bytes);
}

function factsOf(
  { channels, sample_rate, samples_per_pixel, length }: PeaksHeader,
  { bits }: WaveformPlan,
): WaveformFacts {
  return { version: 2, channels, sample_rate, samples_per_pixel, bits, length };
}

interface Writer {
  head(facts: WaveformFacts): Uint8Array | null;
  body(peaks: Int16Array<ArrayBuffer>): Uint8Array | null;
  tail(): Uint8Array | null;
}

// https://github.com/bbc/audiowaveform/blob/master/doc/DataFormat.md
const WRITERS: Readonly<Record<WaveformFormat, (plan: WaveformPlan) => Writer>> = {
  json({ bits }) {
    const encoder = new TextEncoder();
    let isFirst = true;
    return {
      head: (facts) => encoder.encode(`${JSON.stringify(facts).slice(0, -1)},"data":[`),
      body(peaks) {
        if (peaks.length === 0) return null;
        const text = writeNumbers(bits === 8 ? toInt8(peaks) : peaks);
        const list = isFirst ? text.subarray(1) : text;
        isFirst = false;
        return list;
      },
      tail: () => encoder.encode("]}\n"),
    };
  },
  dat: ({ bits }) => ({
    head({ version, sample_rate, samples_per_pixel, length, channels }) {
      const flags = bits === 8 ? 1 : 0;
      return bytesOf(new Int32Array([version, flags, sample_rate, samples_per_pixel, length, channels]));
    },
    body: (peaks) => bytesOf(bits === 8 ? toInt8(peaks) : peaks),
    tail: () => null,
  }),
  png({ picture }) {
    const parts: Uint8Array[] = [];
    let channels = 1;
    return {
      head(facts) {
        channels = facts.channels;
        return null;
      },
      body(peaks) {
        parts.push(bytesOf(peaks));
        return null;
      },
      tail: () => picture && drawWaveform(new Int16Array(concatBytes(parts).buffer), channels, picture),
    };
  },
};

const ASCII = { comma: 44, minus: 45, zero: 48 } as const;
const WIDEST = 7;

// An hour of sound has over a million numbers, for which `join` takes ten times as long.
function writeNumbers(values: Int16Array | Int8Array): Uint8Array {
  const text = new Uint8Array(values.length * WIDEST);
  let end = 0;
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number;
    text[end++] = ASCII.comma;
    if (value < 0) text[end++] = ASCII.minus;
    let remaining = Math.abs(value);
    for (let unit = unitOf(remaining); unit >= 1; unit /= 10) {
      const digit = Math.trunc(remaining / unit);
      text[end++] = ASCII.zero + digit;
      remaining -= digit * unit;
    }
  }
  return text.subarray(0, end);
}

function unitOf(value: number): number {
  return value < 10 ? 1 : value < 100 ? 10 : value < 1000 ? 100 : value < 10_000 ? 1000 : 10_000;
}

// Int8Array truncates toward zero, as audiowaveform does; Int8Array.from takes twenty times as long.
function toInt8(peaks: Int16Array): Int8Array<ArrayBuffer> {
  const eight = new Int8Array(peaks.length);
  for (let at = 0; at < peaks.length; at++) eight[at] = (peaks[at] as number) / 256;
  return eight;
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView<ArrayBuffer>): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

const LEVELS = 65_536;

/**
 * Draws peaks as a PNG of two colors: each column is a line from the minimum to the maximum, with the channels below one another. `peaks`
 * has a minimum and a maximum for each channel of each point.
 */
function drawWaveform(
  peaks: Int16Array,
  channels: number,
  { width, height, color, background }: WaveformPicture,
): Uint8Array<ArrayBuffer> {
  const stride = 1 + Math.ceil(width / 8);
  const lines = new Uint8Array(stride * height);
  const columns = Math.min(width, peaks.length / (2 * channels));
  for (let channel = 0; channel < channels; channel++) {
    const top = Math.floor((channel * height) / channels);
    const room = Math.floor(((channel + 1) * height) / channels) - top;
    const lineOf = (sample: number) => top + room - 1 - Math.floor(((sample + LEVELS / 2) * room) / LEVELS);
    for (let column = 0; column < columns && room > 0; column++) {
      const at = 2 * (column * channels + channel);
      const last = lineOf(peaks[at] as number);
      const byte = 1 + (column >> 3);
      const bit = 0x80 >> (column & 7);
      for (let line = lineOf(peaks[at + 1] as number); line <= last; line++) {
        const index = line * stride + byte;
        lines[index] = (lines[index] as number) | bit;
      }
    }
  }
  return encodePng({ width, height, colors: [background, color], lines });
}

/** A picture of two colors, one bit a pixel. */
export interface TwoColors {
  width: number;
  height: number;
  /** Colors of a clear and of a set bit, `0xRRGGBB` or `0xRRGGBBAA`. */
  colors: readonly [string, string];
  /** Lines of pixels, each after its filter byte. */
  lines: Uint8Array;
}

const PALETTE = 3;

/** Encodes a picture as PNG (ISO/IEC 15948), always with the same bytes, which `CompressionStream` does not guarantee. */
function encodePng({ width, height, colors, lines }: TwoColors): Uint8Array<ArrayBuffer> {
  const parts = colors.map((color) => {
    const digits = color.slice(2).padEnd(8, "f");
    return [0, 2, 4, 6].map((at) => Number.parseInt(digits.slice(at, at + 2), 16));
  });
  return concatBytes([
    PNG_SIGNATURE,
    pngChunk("IHDR", u32(width), u32(height), Uint8Array.of(1, PALETTE, 0, 0, 0)),
    pngChunk("PLTE", Uint8Array.from(parts.flatMap((part) => part.slice(0, 3)))),
    pngChunk("tRNS", Uint8Array.from(parts.map(([, , , alpha = 255]) => alpha))),
    pngChunk("IDAT", zlibSync(lines, { level: 9 })),
    pngChunk("IEND"),
  ]);
}
