import { expect, test } from "vitest";
import { createLanes, createPeakMeter, PEAKS_HEADER, readPeaksHeader } from "../../src/encoders/waveform.ts";

const RATE = 8000;

/** Pseudorandom samples, the two extremes among them. */
function noise(count: number, seed: number): Int16Array {
  let state = seed;
  return Int16Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state % 50 === 0 ? (state & 1024 ? 32_767 : -32_768) : (state >>> 16) - 32_768;
  });
}

function wave(samples: Int16Array, channels: number): Uint8Array {
  const bytes = new Uint8Array(44 + samples.byteLength);
  const view = new DataView(bytes.buffer);
  const text = (at: number, letters: string) => new TextEncoder().encodeInto(letters, bytes.subarray(at));
  text(0, "RIFF");
  view.setUint32(4, 36 + samples.byteLength, true);
  text(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, RATE, true);
  view.setUint32(28, 2 * RATE * channels, true);
  view.setUint16(32, 2 * channels, true);
  view.setUint16(34, 16, true);
  text(36, "data");
  view.setUint32(40, samples.byteLength, true);
  bytes.set(new Uint8Array(samples.buffer), 44);
  return bytes;
}

/** The minimum and the maximum of each row and point, sample by sample. */
function peaksOf(samples: Int16Array, channels: number, size: number, split: boolean): number[] {
  const frames = samples.length / channels;
  return Array.from({ length: Math.ceil(frames / size) }, (_, point) =>
    Array.from({ length: split ? channels : 1 }, (_, row) => {
      const values: number[] = [];
      for (let frame = point * size; frame < Math.min(frames, (point + 1) * size); frame++) {
        const each = samples.subarray(frame * channels, (frame + 1) * channels);
        values.push(split ? (each[row] ?? 0) : (each.reduce((sum, one) => sum + one, 0) / channels) | 0);
      }
      return [Math.min(...values), Math.max(...values)];
    }),
  ).flat(2);
}

// In three channels and in five no lane of eight has one channel.
test.each([1, 2, 3, 4, 5, 8].flatMap((channels) => [true, false].map((split) => [channels, split] as const)))(
  "peaks of %i channels, split %s, are those of every sample, in whatever pieces they come",
  (channels, split) => {
    for (const [size, piece] of [
      [2, 7],
      [9, 100_000],
      [256, 4096],
      [300, 1001],
    ] as const) {
      const samples = noise(channels * 5003, channels + size);
      const meter = createPeakMeter({ zoom: { samples_per_pixel: size }, split, bits: 16, picture: null });
      const file = wave(samples, channels);
      for (let at = 0; at < file.length; at += piece) meter.add(file.subarray(at, at + piece));
      const peaks = meter.end() ?? new Uint8Array();
      const expected = peaksOf(samples, channels, size, split);
      const rows = split ? channels : 1;
      expect(readPeaksHeader(peaks)).toEqual({
        ...{ channels: rows, sample_rate: RATE, samples_per_pixel: size },
        ...{ samples: 5003, length: expected.length / rows / 2 },
      });
      expect([...new Int16Array(peaks.slice(PEAKS_HEADER).buffer)]).toEqual(expected);
    }
  },
);

test("lanes are there for channels that divide them", () => {
  expect([1, 2, 3, 4, 8, 16].filter((channels) => createLanes(channels))).toEqual([1, 2, 4, 8]);
});
