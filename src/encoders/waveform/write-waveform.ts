import { zlibSync } from "fflate";
import type { WaveformPicture, WaveformPlan } from "../../media/features/waveform.ts";
import type { WaveformFormat } from "../../media/formats.ts";
import type { WaveformFacts } from "../../media/source.ts";
import { concatBytes } from "../../util/bytes.ts";
import * as errors from "../errors.ts";
import { PNG_SIGNATURE, pngChunk, u32 } from "../images/png.ts";
import { PEAKS_HEADER, type PeaksHeader, readPeaksHeader } from "./peak-meter.ts";

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
