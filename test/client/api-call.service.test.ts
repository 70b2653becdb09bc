import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createRemoteClient } from "../../src/client/index.ts";
import { ENCODE_KINDS, type EncodeKind, parseTaskRequest } from "../../src/index.ts";
import { optionControl, unplacedNames } from "../../src/media/option-groups.ts";
import { OPTIONS } from "../../src/media/options.ts";
import { offeredNames, withKind, withOptions } from "../../web/options/choices.ts";
import { defaultSettings } from "../../web/options/default-settings.ts";
import type { Settings } from "../../web/queue/item.ts";
import { type ApiCall, type ApiOutput, asCurl, asTypeScript } from "../../web/result/api-call.ts";

const CALL = { url: "https://example.com/it's.mov", name: "it's.mov" } as const;
const RECTANGLE = { x: 10, y: "5%", width: "50%", height: 80 };
const FRAME = { rotate: 90, flip: "both", width: 320, height: "50%", position: "top-left" };
const BOXED = { ...FRAME, fit: "contain", background: "#102030" };
const SOUND = { track: 1, channels: 2, sample_rate: 44_100, fade_in: 0.5, fade_out: 1 };
const LEVELED = { normalize: true, target_lufs: -23 };
const PARTS = [{ start: 61, end: 75.5 }, { end: 14 }, { start: 300 }];
const SPAN = { start: 1.5, end: 3 };
const LOGO = { url: "https://example.com/it's a logo.png", position: "top", width: "20%", opacity: 0.5 };
const TEXT = [{ text: 'It\'s "Lisbon"', position: "bottom-left", size: 40, start: 1, end: 2 }];
const FONTS = { fonts: [{ url: "https://example.com/it's thai.ttf" }] };
const CROSS_FADE = { transition: { kind: "fade", seconds: 0.5 } };
const SUBTITLES = [
  { url: "https://example.com/en.srt", language: "en", label: 'It\'s "English"', default: true },
];

// Options that the form places itself.
const PLACED: Readonly<Record<EncodeKind, readonly object[]>> = {
  video: [
    {
      ...{ format: "mp4", codec: "h264", mode: "auto", quality: "high", ...BOXED, crop: "16:9", fps: 24 },
      ...{ bitrate: 2_000_000, audio_codec: "mp3", audio_bitrate: 96_000, ...SOUND, ...LEVELED, ...SPAN },
      ...{ overlay: { ...LOGO, start: 1, end: 2 }, subtitles: SUBTITLES, metadata: "strip" },
    },
    { target_size: 4_000_000, volume: 0.5, concat: [{ url: "https://example.com/next.mp4" }], ...CROSS_FADE },
    { mute: true, crop: RECTANGLE, subtitles: [{ url: "https://example.com/en.srt", burn: true }] },
    { parts: PARTS, text: TEXT, ...FONTS },
  ],
  audio: [
    { format: "mp3", mode: "auto", quality: "low", bitrate: 96_000, ...SOUND, ...LEVELED, ...SPAN },
    { volume: 2, metadata: "keep" },
    { parts: PARTS },
  ],
  image: [
    {
      format: "webp",
      quality: "high",
      ...BOXED,
      crop: RECTANGLE,
      start: 2,
      max_bytes: 90_000,
      overlay: LOGO,
    },
    { interval: 5 },
    { count: 7, text: [{ text: "Lisbon", size: "8%", color: "#ffd400" }], ...FONTS },
  ],
  animation: [
    { format: "gif", quality: "low", ...BOXED, crop: "1:1", fps: 10, loop: 2, ...SPAN },
    { parts: PARTS, text: TEXT, ...FONTS },
  ],
  storyboard: [{ format: "webp", quality: "low", width: 120, interval: 5, columns: 4, rows: 3, ...SPAN }],
  waveform: [
    { format: "json", samples_per_pixel: 512, bits: 8, split_channels: true, track: "en", ...SPAN },
    { format: "dat", pixels_per_second: 50 },
    { points: 800 },
    { format: "png", width: 640, height: 120, waveform_color: "#123456", background_color: "#0000" },
  ],
  adaptive_video: [
    {
      ...{ format: "hls", i_frames: true, quality: "low", ...BOXED, crop: "9:16" },
      ...{ ...SOUND, ...LEVELED, ...SPAN, subtitles: SUBTITLES, ...FONTS },
    },
    { format: "dash", volume: 0.5, codecs: ["h264", "h265"] },
    { mute: true, parts: PARTS },
  ],
};

/** Returns every option of a kind, in as many outputs as contradictions need. */
const outputsOf = (kind: EncodeKind): readonly object[] => [...PLACED[kind], choicesOf(kind)];

// The last choice of each of the other options.
function choicesOf(kind: EncodeKind): object {
  const values = unplacedNames(kind).map((name) => {
    const { choices } = optionControl(kind, name, undefined);
    // Other fields of the form take a number.
    return [name, choices ? choices.at(-1)?.value : 2];
  });
  return Object.fromEntries(values);
}

// The key would stay in presets and in copied code.
const LEFT_OUT = "encryption";
// The page asks for it beside the options.
const BESIDE = "target_size";

test.for(ENCODE_KINDS)("the page offers, and its calls show, every option of %s", (kind) => {
  const all = Object.keys(OPTIONS[kind].shape).filter((name) => name !== LEFT_OUT);
  const shown = new Set(outputsOf(kind).flatMap((options) => Object.keys(options)));
  expect([...shown].sort()).toEqual([...all].sort());
  expect(offeredNames(kind).sort()).toEqual(all.filter((name) => name !== BESIDE).sort());
});

const NEW = defaultSettings({ kind: "video" });
// They mean something else in each kind.
const OWN: readonly string[] = ["format", "codec", "mode", "bitrate", "width", "height"];

test.for(ENCODE_KINDS)(
  "what becomes %s in the page is a request that parses and keeps what it can",
  (kind) => {
    const parse = ({ options }: Settings) => parseTaskRequest({ input: CALL.url, kind, options }).options;
    for (const { target_size: _, ...options } of outputsOf(kind) as readonly { target_size?: number }[]) {
      expect(parse(withOptions(withKind(kind, NEW), options))).toEqual(options);
    }
    for (const from of ENCODE_KINDS.filter((other) => other !== kind)) {
      for (const { target_size: _, ...options } of outputsOf(from) as readonly { target_size?: number }[]) {
        const parsed = parse(withKind(kind, { ...NEW, kind: from, options } as Settings));
        const offered = offeredNames(kind);
        const both = Object.keys(options).filter((name) => offered.includes(name) && !OWN.includes(name));
        expect([from, Object.keys(parsed ?? {})]).toEqual([from, expect.arrayContaining(both)]);
      }
    }
  },
);

test("a service receives what both texts of a call ask for, with any options", async () => {
  const bodies: string[] = [];
  const service = createServer(async (request, response) => {
    bodies.push(Buffer.concat(await Array.fromAsync(request)).toString());
    response
      .writeHead(400, { "Content-Type": "application/json" })
      .end('{"kind":"request_invalid","message":"Kept."}');
  }).listen(0, "127.0.0.1");
  await once(service, "listening");
  const base_url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  try {
    const outputs = ENCODE_KINDS.flatMap((kind) =>
      outputsOf(kind).map((options) => ({ kind, options }) as ApiOutput),
    );
    const calls = outputs.map((output): ApiCall => ({ ...CALL, base_url, outputs: [output] }));
    await promisify(execFile)("bash", ["-ec", calls.map((call) => `${asCurl(call)} -sS`).join("\n")]);
    for (const call of calls) await expect(runCode(asTypeScript(call))).rejects.toThrow("Kept.");
    expect(bodies).toHaveLength(2 * outputs.length);
    for (const [index, body] of bodies.entries()) {
      const output = outputs[index % outputs.length];
      expect(parseTaskRequest(JSON.parse(body))).toMatchObject({ input: CALL.url, ...output });
    }
  } finally {
    service.close();
  }
});

/** Runs a copied text as the module that it is, on this repository's client. */
async function runCode(text: string): Promise<void> {
  const body = text.replace('import { createRemoteClient } from "framewright/client";', "");
  const run = new AsyncFunction("createRemoteClient", body);
  await run(createRemoteClient);
}

const AsyncFunction = (async () => {}).constructor as new (
  ...texts: string[]
) => (client: typeof createRemoteClient) => Promise<void>;
