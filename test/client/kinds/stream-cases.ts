import type { Output } from "../../../src/client/client.ts";
import type { OptionsOf } from "../../../src/media/option-types.ts";
import { deepEqual, equal, match, ok } from "../../browser/assert.ts";
import type { KindCase } from "./kind-case.ts";
import { TO_BLUE } from "./picture-cases.ts";
import { checkBluePicture } from "./pixel.ts";
import { H264 } from "./video-cases.ts";

const KEY = "5ca1ab1e0ddba11c0ffee00000c0de42";
const IV = "000102030405060708090a0b0c0d0e0f";

/** Adaptive videos. */
export const STREAM_CASES: readonly KindCase[] = [
  {
    makes: "HLS with I-frames and the sound of each language",
    kind: "adaptive_video",
    options: { format: "hls", i_frames: true },
    source: {
      ...({ kind: "adaptive_video", format: "hls", width: 160, height: 90, duration: 2 } as const),
      ...{ mime: "application/vnd.apple.mpegurl", codecs: H264 },
      counts: { pictures: { source: 50, output: 50 }, sound: { source: 4, output: 4.091 } },
    },
    async check({ source, blob, output }) {
      deepEqual(
        source.renditions?.map(({ width, height }) => [width, height]),
        [[160, 90]],
      );
      const text = await blob.text();
      match(text, /^#EXTM3U\n/);
      deepEqual(languagesOf(text), ["en", "de"]);
      match(text, /#EXT-X-STREAM-INF:.*RESOLUTION=160x90,FRAME-RATE=25\.000,AUDIO="audio"\n/);
      match(text, /#EXT-X-I-FRAME-STREAM-INF:.*RESOLUTION=160x90,URI=/);
      match((await openStream(output)).playlist, /#EXTINF:2\.0+,\n.*\n#EXT-X-ENDLIST/);
    },
  },
  {
    makes: "encrypted HLS of a span",
    kind: "adaptive_video",
    options: {
      ...{ format: "hls", end: 1, mute: true },
      encryption: { method: "aes-128", key: KEY, key_url: "https://keys.example/1", iv: IV },
    },
    source: { kind: "adaptive_video", format: "hls", duration: 1, codecs: { video: "h264", audio: null } },
    async check({ task, output }) {
      const { encryption } = task.options as OptionsOf<"adaptive_video">;
      equal(encryption?.key_url, "https://keys.example/1");
      ok(!JSON.stringify(task).includes(KEY), "a record shows the key");
      const { playlist, segment } = await openStream(output);
      match(playlist, /#EXT-X-KEY:METHOD=AES-128,URI="https:\/\/keys\.example\/1"/);
      const key = await crypto.subtle.importKey("raw", bytesOf(KEY), "AES-CBC", false, ["decrypt"]);
      const plain = await crypto.subtle.decrypt({ name: "AES-CBC", iv: bytesOf(IV) }, key, segment);
      match(new TextDecoder("latin1").decode(plain.slice(4, 8)), /^(styp|sidx|moof)$/);
    },
  },
  {
    makes: "DASH of measured renditions without sound, turned, then mirrored, then cropped",
    kind: "adaptive_video",
    options: { format: "dash", ladder: "auto", ...TO_BLUE, mute: true },
    source: {
      ...({ kind: "adaptive_video", format: "dash", width: 44, height: 80, duration: 2 } as const),
      ...{ mime: "application/dash+xml", codecs: { video: "h264", audio: null } },
      counts: { pictures: { source: 50, output: 50 } },
    },
    async check({ source, blob }) {
      const scores = source.renditions?.map(({ score = 0 }) => score) ?? [];
      ok(scores.length === 1 && scores.every((score) => score > 0.8 && score < 1), `scores: ${scores}`);
      const text = await blob.text();
      match(text, /<MPD [^>]*type="static" mediaPresentationDuration="PT2S"/);
      equal(text.split("<AdaptationSet ").length - 1, 1);
      match(text, /<Representation [^>]*width="44" height="80" frameRate="25"/);
    },
  },
  {
    makes: "HLS and DASH of one language and a span, from the same segments",
    kind: "adaptive_video",
    options: { format: "hls_dash", ...TO_BLUE, track: "de", channels: 2, sample_rate: 48_000, end: 1 },
    source: {
      ...({ kind: "adaptive_video", format: "hls_dash", width: 44, height: 80, duration: 1 } as const),
      ...{ mime: "application/vnd.apple.mpegurl", codecs: H264 },
    },
    async check({ blob, output }, client) {
      const text = await blob.text();
      deepEqual(languagesOf(text), ["de"]);
      match(text, /TYPE=AUDIO,.*CHANNELS="2"/);
      const { start, segment } = await openStream(output);
      await checkBluePicture(new Blob([start, segment]), client);
    },
  },
];

function languagesOf(playlist: string): (string | undefined)[] {
  return Array.from(playlist.matchAll(/TYPE=AUDIO,.*LANGUAGE="(\w+)"/g), ([, language]) => language);
}

// The playlist of the only rendition of HLS, the start of its files, and the first segment.
async function openStream(output: Output) {
  const master = await output.url();
  const lines = (await read(master)).split("\n");
  const at = lines.findIndex((line) => line.startsWith("#EXT-X-STREAM-INF:"));
  const address = new URL(lines[at + 1] ?? "", master);
  const playlist = await read(address);
  const [, start = ""] = /#EXT-X-MAP:URI="([^"]+)"/.exec(playlist) ?? [];
  const first = playlist.split("\n").find((line) => line !== "" && !line.startsWith("#")) ?? "";
  const bytes = async (uri: string) => (await fetch(new URL(uri, address))).arrayBuffer();
  return { playlist, start: await bytes(start), segment: await bytes(first) };
}

async function read(url: string | URL): Promise<string> {
  return (await fetch(url)).text();
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
