import { deepEqual, equal, ok } from "../../browser/assert.ts";
import type { KindCase } from "./kind-case.ts";

const DAWN = { start: 0, end: 0.5, title: "Dawn" };
const DUSK = { start: 0.5, end: 1, title: "Dusk" };

/** Sound and its waveform. */
export const SOUND_CASES: readonly KindCase[] = [
  {
    makes: "sound of the loudness, channels and sample rate asked for",
    kind: "audio",
    options: { format: "wav", normalize: true, target_lufs: -20, channels: 1, sample_rate: 22_050 },
    source: {
      ...({ kind: "audio", format: "wav", codecs: { video: null, audio: "pcm_s16le" } } as const),
      audio: { channels: 1, sample_rate: 22_050 },
    },
    seconds: 2,
    async check({ blob }) {
      // LUFS weighs the two tones by less than 1 dB.
      const level = levelOf(await samplesOf(blob), 0.25, 0.75);
      ok(Math.abs(level + 20) < 1, `it is ${level} dB loud`);
    },
  },
  {
    makes: "sound of one language, quieter, that fades in and out",
    kind: "audio",
    options: { format: "wav", track: "de", volume: 0.5, fade_in: 0.5, fade_out: 0.5 },
    source: { kind: "audio", format: "wav", audio: { channels: 1, sample_rate: 32_000 } },
    seconds: 2,
    async check({ blob }) {
      const samples = await samplesOf(blob);
      // The tone is an eighth of full scale, so 21 dB below; half of it is 6 dB less.
      const [first, middle, last] = [
        levelOf(samples, 0, 0.03),
        levelOf(samples, 0.4, 0.6),
        levelOf(samples, 0.97, 1),
      ];
      ok(Math.abs(middle + 27) < 1, `the middle is ${middle} dB loud`);
      ok(first < middle - 15 && last < middle - 15, `it begins at ${first} dB and ends at ${last} dB`);
    },
  },
  {
    makes: "two parts of a sound, the later one first",
    kind: "audio",
    options: { format: "wav", parts: [{ start: 1.5 }, { end: 0.25 }] },
    source: { kind: "audio", format: "wav", duration: 0.75 },
  },
  {
    makes: "sound of twice the speed, with its chapters",
    kind: "audio",
    options: { format: "mp3", speed: 2, channels: 1, sample_rate: 48_000, bitrate: 64_000 },
    source: {
      ...({ kind: "audio", format: "mp3", codecs: { video: null, audio: "mp3" } } as const),
      ...{ audio: { channels: 1, sample_rate: 48_000 }, chapters: [DAWN, DUSK] },
    },
    seconds: 1,
  },
  {
    makes: "a span of sound, with the chapters of the span",
    kind: "audio",
    options: { format: "opus", start: 0.5, end: 1.5, quality: "low" },
    source: {
      ...({ kind: "audio", format: "ogg", codecs: { video: null, audio: "opus" }, duration: 1 } as const),
      ...{ audio: { channels: 2, sample_rate: 48_000 }, chapters: [DAWN, DUSK] },
    },
  },
  {
    makes: "a copy of the sound of one language",
    kind: "audio",
    options: { format: "aac", mode: "copy", track: "deu" },
    source: {
      ...({ kind: "audio", format: "aac", codecs: { video: null, audio: "aac" } } as const),
      ...{ audio: { channels: 1, sample_rate: 32_000 }, cut: { start: 0, end: 2.048 } },
    },
    seconds: 2,
  },
  {
    makes: "the waveform of each channel as JSON",
    kind: "waveform",
    options: { format: "json", pixels_per_second: 100, split_channels: true, bits: 8 },
    source: {
      ...({ kind: "data", format: "json", mime: "application/json", duration: 2 } as const),
      waveform: {
        version: 2,
        channels: 2,
        sample_rate: 44_100,
        samples_per_pixel: 441,
        bits: 8,
        length: 203,
      },
    },
    async check({ source: { waveform }, blob }) {
      const { data, ...facts } = JSON.parse(await blob.text());
      deepEqual(facts, waveform);
      equal(data.length, 203 * 2 * 2);
      // Both tones swing by an eighth of full scale; the encoder's first frames are left out.
      for (const peak of data.slice(100, 700)) ok(Math.abs(Math.abs(peak) - 16) <= 2, `a peak is ${peak}`);
    },
  },
  {
    makes: "the waveform of one language's span as binary data",
    kind: "waveform",
    options: { format: "dat", points: 100, track: "de", start: 0.5 },
    source: {
      ...({ kind: "data", format: "dat", mime: "application/octet-stream", duration: 1.5 } as const),
      waveform: {
        version: 2,
        channels: 1,
        sample_rate: 32_000,
        samples_per_pixel: 480,
        bits: 16,
        length: 100,
      },
    },
    async check({ blob }) {
      const view = new DataView(await blob.arrayBuffer());
      const header = [0, 4, 8, 12, 16, 20].map((at) => view.getInt32(at, true));
      deepEqual(header, [2, 0, 32_000, 480, 100, 1]);
      equal(view.byteLength, 24 + 100 * 2 * 2);
      const [low, high] = [view.getInt16(24 + 200, true), view.getInt16(24 + 202, true)];
      ok(Math.abs(low + 4096) < 200 && Math.abs(high - 4096) < 200, `a point is from ${low} to ${high}`);
    },
  },
  {
    makes: "the picture of a waveform",
    kind: "waveform",
    options: { format: "png", width: 120, height: 40, waveform_color: "#ff0000", end: 1 },
    source: { kind: "image", format: "png", width: 120, height: 40, duration: 1 },
    check({ source: { waveform } }) {
      deepEqual([waveform?.channels, waveform?.sample_rate, waveform?.length], [1, 44_100, 120]);
    },
  },
];

async function samplesOf(wav: Blob): Promise<Int16Array> {
  const bytes = await wav.arrayBuffer();
  const at = new TextDecoder("latin1").decode(bytes.slice(0, 200)).indexOf("data") + 8;
  return new Int16Array(bytes.slice(at, at + 2 * Math.floor((bytes.byteLength - at) / 2)));
}

// Decibels of the mean square between two parts of the whole.
function levelOf(samples: Int16Array, from: number, to: number): number {
  const part = samples.subarray(Math.floor(from * samples.length), Math.ceil(to * samples.length));
  const square = part.reduce((sum, each) => sum + (each / 32_768) ** 2, 0) / part.length;
  return 10 * Math.log10(square);
}
