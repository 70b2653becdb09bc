import { MediaError } from "../../core/errors.ts";
import type { WaveformPlan } from "../../media/features/waveform.ts";
import { MAX_POINTS, samplesPerPixel } from "../../media/features/waveform-zoom.ts";
import { concatBytes } from "../../util/bytes.ts";
import { createLanes } from "./scan-lanes.ts";
import { readWaveHeader, type WaveFormat } from "./wave-header.ts";

/** Measures the peaks of a WAV as it is written. */
export interface PeakMeter {
  /** Takes the next bytes of the file. */
  add(bytes: Uint8Array): void;
  /** Returns the peaks as {@link readPeaks} reads them; null where there was no sound. */
  end(): Uint8Array<ArrayBuffer> | null;
}

/** The header of a file of peaks, whose numbers come in this order. */
export interface PeaksHeader {
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

// In a file by ffmpeg, the samples start after about a hundred bytes.
const MOST_HEADER = 65_536;
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

/** Joins the files of peaks of one sound's stretches, which are in order and of the same channels and rate. */
export function joinPeaks(files: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const [first, ...others] = files.map(readPeaksHeader);
  if (!first) throw new RangeError("There are no peaks to join.");
  const header = { ...first };
  for (const { samples, length } of others) {
    header.samples += samples;
    header.length += length;
  }
  return concatBytes([writeHeader(header), ...files.map((file) => file.subarray(PEAKS_HEADER))]);
}

/** Creates a meter for one file, or for the rest of a sound after so many points; it holds no more than the peaks. */
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
        if (!format && data.length > MOST_HEADER) throw notWave();
        if (!format) {
          rest = data.slice();
          return;
        }
        if (format.channels < 1 || format.sample_rate < 1) throw notWave();
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

// A view needs an even offset.
function samplesOf(bytes: Uint8Array): Int16Array {
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % 2 === 0 ? bytes : bytes.slice();
  return new Int16Array(buffer, byteOffset, byteLength / 2);
}

function createScanner(plan: WaveformPlan, { channels, sample_rate }: WaveFormat, points_before: number) {
  const { zoom, picture } = plan;
  const samples_per_pixel = samplesPerPixel(zoom, sample_rate);
  const rows = plan.split ? channels : 1;
  const fits = "points" in zoom;
  // A duration may be a little off, so the last point takes the samples beyond it. A zoomed picture ends at its edge.
  const most = (fits ? zoom.points : (picture?.width ?? Number.POSITIVE_INFINITY)) - points_before;
  // The last point in it is open: an hour has so many that each is measured where it is kept.
  let values = new Int16Array(FIRST_VALUES);
  let samples = 0;
  let length = 0;
  // Samples in the open point, and how many it takes.
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
    room = fits && length === most - 1 ? Number.POSITIVE_INFINITY : samples_per_pixel;
  }

  function close(): void {
    length++;
    if (points_before + length > MAX_POINTS / rows) throw tooMany();
  }

  const lanes = rows === channels ? createLanes(channels) : null;
  const scan = rows === channels ? scanEach : scanMean;
  return {
    take(data: Int16Array): void {
      lanes?.load(data);
      const frames = data.length / channels;
      samples += frames;
      for (let at = 0; at < frames && length < most; ) {
        const taken = Math.min(room - count, frames - at);
        const [from, to, point] = [at * channels, (at + taken) * channels, length * rows * 2];
        scan(data, lanes?.scan(from, to, values, point) ?? from, to, channels, values, point);
        at += taken;
        count += taken;
        if (count < room) continue;
        close();
        open();
      }
    },
    end(): Uint8Array<ArrayBuffer> | null {
      if (count > 0 && length < most) close();
      if (samples === 0) return null;
      const used = values.subarray(0, length * rows * 2);
      return concatBytes([
        writeHeader({ channels: rows, sample_rate, samples_per_pixel, samples, length }),
        new Uint8Array(used.buffer, used.byteOffset, used.byteLength),
      ]);
    },
  };
}

// The mean, toward zero, as audiowaveform computes it. The sums in between have the same order.
function scanMean(
  data: Int16Array,
  from: number,
  to: number,
  channels: number,
  values: Int16Array,
  point: number,
): void {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (let at = from; at < to; ) {
    let sum = 0;
    for (const end = at + channels; at < end; at++) sum += data[at] as number;
    if (sum < least) least = sum;
    if (sum > most) most = sum;
  }
  values[point] = Math.min(values[point] as number, Math.trunc(least / channels));
  values[point + 1] = Math.max(values[point + 1] as number, Math.trunc(most / channels));
}

// Without branches, which a processor cannot predict for sound: the sign of a difference selects it or nothing. Takes two thirds of the time.
function scanEach(
  data: Int16Array,
  from: number,
  to: number,
  channels: number,
  values: Int16Array,
  point: number,
): void {
  for (let row = 0; row < channels; row++) {
    let least = values[point + 2 * row] as number;
    let most = values[point + 2 * row + 1] as number;
    for (let at = from + row; at < to; at += channels) {
      const value = data[at] as number;
      const below = value - least;
      least += below & (below >> 31);
      const above = most - value;
      most -= above & (above >> 31);
    }
    values[point + 2 * row] = least;
    values[point + 2 * row + 1] = most;
  }
}

function notWave(): MediaError {
  return new MediaError("encode_failed", "The encoder returned no sound that a waveform can be taken of.");
}

function tooMany(): MediaError {
  const message = `The waveform would have more than ${MAX_POINTS} points; use more samples per pixel.`;
  return new MediaError("encode_failed", message);
}
