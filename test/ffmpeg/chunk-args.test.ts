import { expect, test } from "vitest";
import { batchArgs, chunkArgs } from "../../src/media/ffmpeg/chunk-args.ts";
import { outputFile } from "../../src/media/ffmpeg/output-files.ts";
import { NATIVE_TOOLS, WASM_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import type { Chunk } from "../../src/media/index.ts";
import type { VideoOptions } from "../../src/media/options.ts";
import { audioSource, videoSource } from "../plan/source.ts";
import { createPlan } from "../plan/strict-plan.ts";
import { argsOf, BT709, CLEAN, COPIED_SOUND, PIN, SILENT, tags, ticks } from "./args-of.ts";

const SOUND = "-noaccurate_seek -ss 1 -i IN -map 0:a:0 -filter:a atrim=start=0";
test.for([
  { format: "mp3", expected: `-c:a libmp3lame -b:a 128000 -ac 2 -ar 44100 ${CLEAN} -f mp3` },
  { format: "aac", expected: `-c:a aac -b:a 128000 -ac 2 -ar 44100 ${CLEAN} -f adts` },
  { format: "ogg", expected: `-c:a libvorbis -b:a 96000 -maxrate:a 96000 -ac 2 -ar 44100 ${CLEAN} -f ogg` },
  { format: "opus", expected: `-c:a libopus -vbr constrained -b:a 96000 -ac 2 -ar 48000 ${CLEAN} -f opus` },
  { format: "wav", expected: `-c:a pcm_s16le -ac 2 -ar 44100 ${CLEAN} -f wav` },
  { format: "flac", expected: `-c:a flac -compression_level 5 -ac 2 -ar 44100 ${CLEAN} -f flac` },
] as const)("audio: $format", ({ format, expected }) => {
  expect(argsOf(audioSource(), "audio", { format, start: 1 })).toBe(`${SOUND} ${expected} OUT`);
});

test.for([
  { codec: "pcm_s16le", options: { start: 1 }, hours: 6.7, large: false },
  { codec: "pcm_s16le", options: { start: 1 }, hours: 6.8, large: true },
  { codec: "pcm_s24le", options: { start: 1 }, hours: 4.4, large: false },
  { codec: "pcm_s24le", options: { start: 1 }, hours: 4.5, large: true },
  { codec: "pcm_f64le", options: { start: 1 }, hours: 1.6, large: false },
  { codec: "pcm_f64le", options: { start: 1 }, hours: 1.7, large: true },
  { codec: "pcm_s16le", options: {}, hours: 0.38, large: false },
  { codec: "pcm_s16le", options: {}, hours: 0.39, large: true },
  { codec: "pcm_f64le", options: {}, hours: 0.09, large: false },
  { codec: "pcm_f64le", options: {}, hours: 0.1, large: true },
] as const)(
  "audio: a WAV that may exceed 4 GB has room for sizes of 64 bits ($codec, $options, $hours h)",
  ({ codec, options, hours, large }) => {
    const source = audioSource({ codecs: { video: null, audio: codec }, duration: hours * 3600 });
    const args = argsOf(source, "audio", { format: "wav", ...options });
    expect(args.endsWith(` -f wav${large ? " -rf64 auto" : ""} OUT`)).toBe(true);
  },
);

test.for([
  { format: "mpegts", expected: "-dts_delta_threshold 3600 -i IN " },
  { format: "mpeg", expected: "-dts_delta_threshold 3600 -i IN " },
  { format: "ogg", expected: "-dts_delta_threshold 3600 -i IN " },
  { format: "mp4", expected: "-i IN " },
] as const)("gaps of $format stay as they are", ({ format, expected }) => {
  expect(argsOf(audioSource({ format }), "audio", { format: "mp3" }).startsWith(expected)).toBe(true);
});

test("audio: a copy, and FLAC from a lossy source", () => {
  expect(argsOf(videoSource(), "audio", { format: "aac" })).toBe(
    `-i IN ${COPIED_SOUND} ${CLEAN} -f adts OUT`,
  );
  expect(argsOf(videoSource(), "audio", { format: "flac" })).toContain(
    "-compression_level 5 -sample_fmt s16 -ac 2",
  );
});

const hls = (init: string, master: string, streams: string) =>
  `${CLEAN} -avoid_negative_ts disabled -f hls -hls_time 6 -hls_playlist_type vod -hls_segment_type fmp4 -hls_flags independent_segments ` +
  `-hls_fmp4_init_filename ${init} -hls_segment_filename OUT/%v/seg_%05d.m4s -master_pl_name ${master} -var_stream_map ${streams} OUT/%v/playlist.m3u8`;
const STEADY = "aresample=async=1:min_hard_comp=0.02:first_pts=0";
const ladder = (before = "") =>
  "format=yuv420p,setsar=1,split=2[v0][s1];[s1]scale=426:240:flags=bicubic,setsar=1[v1] -map [v0] -map [v1] " +
  `-c:v libx264 -preset faster -crf:v:0 23 -maxrate:v:0 900000 -bufsize:v:0 1800000 -crf:v:1 23 -maxrate:v:1 400000 -bufsize:v:1 800000 ` +
  `-force_key_frames expr:gte(t-st(0,if(n,ld(0),t))+0.000004,n_forced*2)${before} -sc_threshold 0 -g 600 -b-pyramid none ${ticks(50)} ${tags("bt709")}`;
const JOIN = "-hls_segment_options movflags=+frag_discont";
const wide = videoSource({ ...BT709, width: 640, height: 360, coded_width: 640, coded_height: 360 });

test("adaptive video is encoded in one pass", () => {
  expect(argsOf(wide, "adaptive_video", { start: 1, end: 3 })).toBe(
    `${PIN} -noaccurate_seek -ss 1 -i IN -filter_complex [0:V:0]scale,settb=1/120000,trim=start=-0.0005:end=1.9995,${ladder("*lt(t-ld(0),max(0.000004,1.5))")} ` +
      `${JOIN} ${hls("../%v/init_0.mp4", "master.m3u8", "v:0,name:360p v:1,name:240p")} ` +
      `-map 0:a:0 -filter:a atrim=start=0:end=2,${STEADY} -c:a aac -b:a 128000 -ac 2 -ar 48000 ${hls("init_0.mp4", "audio.m3u8", "a:0,name:audio")}`,
  );
});

test("scales and pads each rendition of adaptive video with bars separately", () => {
  const args = argsOf(wide, "adaptive_video", { width: 300, height: 300, fit: "contain" });
  const bars = (side: number, inner: string, y: number) =>
    `scale=${inner}:flags=bicubic:out_range=tv,format=yuv420p,pad=${side}:${side}:0:${y}:0x000000,setsar=1`;
  expect(args).toContain(
    `-filter_complex [0:V:0]scale,split=2[s0][s1];[s0]${bars(300, "300:168", 66)}[v0];[s1]${bars(240, "240:134", 52)}[v1] -map`,
  );
});

test("numbers and times a chunk of adaptive video within the whole stream, with the audio in its own chunk", () => {
  const plan = createPlan(wide, "adaptive_video", { start: 0.5 });
  const args = (chunk: Chunk) =>
    chunkArgs(plan, chunk, wide, { input: "IN", output: "OUT" }, NATIVE_TOOLS).join(" ");
  expect(args({ index: 2, track: "video", start: 12.5, end: 18.5 })).toBe(
    `${PIN} -noaccurate_seek -ss 12.5 -i IN -filter_complex [0:V:0]scale,settb=1/120000,trim=start=-0.0005:end=5.9995,${ladder()} ` +
      `-output_ts_offset 12 -start_number 2 ${JOIN} ${hls("../%v/init_2.mp4", "master.m3u8", "v:0,name:360p v:1,name:240p")}`,
  );
  expect(args({ index: 4, track: "audio", start: 0.5, end: null })).toBe(
    `-noaccurate_seek -ss 0.5 -i IN -map 0:a:0 -filter:a atrim=start=0,${STEADY} -c:a aac -b:a 128000 -ac 2 -ar 48000 ` +
      hls("init_4.mp4", "audio.m3u8", "a:0,name:audio"),
  );
  // Silence follows sound that ends well before the pictures.
  const ending = (seconds?: number) => {
    const pictures = { index: 0, kind: "video" as const, codec: "h264", duration: 9 };
    const sound = { index: 1, kind: "audio" as const, codec: "aac", ...(seconds && { end: seconds }) };
    return argsOf({ ...wide, streams: [pictures, sound] }, "adaptive_video", { start: 0.5 });
  };
  expect(ending(8.7)).toContain(`${STEADY},apad=whole_dur=8.5 -c:a`);
  expect(ending(8.9)).toContain(`${STEADY} -c:a`);
  expect(ending()).toContain(`${STEADY},apad=whole_dur=8.3 -c:a`);
});

test.for([
  { sound_from: 0, end: 9, filters: "atrim=start=0,aresample=async=1:min_hard_comp=0.02" },
  { sound_from: 0.02, end: undefined, filters: "atrim=start=0,aresample=async=1:min_hard_comp=0.02" },
  {
    sound_from: 0.4,
    end: 8.7,
    filters:
      "volume='if(eq(n,0)*lte(startt,0.42),0,1)':eval=frame,asetpts='if(eq(N,0)*lte(STARTT,0.42),0,PTS)'," +
      "aresample=async=1:min_hard_comp=0.02,apad,atrim=end=9",
  },
] as const)(
  "sound that changes midway, from $sound_from s on, is filled without a graph's help",
  ({ sound_from, end, filters }) => {
    const pictures = { index: 0, kind: "video" as const, codec: "h264", duration: 9 };
    const sound = { index: 1, kind: "audio" as const, codec: "ac3", ...(end && { end }) };
    const source = { ...wide, streams: [pictures, sound] };
    const plan = createPlan(source, "adaptive_video", {});
    const chunk = { index: 1, track: "audio", start: 0, end: null, sound_from } as const;
    const args = chunkArgs(plan, chunk, source, { input: "IN", output: "OUT" }, NATIVE_TOOLS).join(" ");
    expect(args).toContain(`-map 0:a:0 -filter:a ${filters} -c:a aac`);
  },
);

test("encodes a variable frame rate without B-frames and with each frame's own duration", () => {
  const uneven = { ...wide, fps: 23.4 };
  const expected =
    "-g 600 -bf 0 -fps_mode vfr -enc_time_base:v 1:120000 -bsf:v setts=pts=PTS:dts=DTS:duration='if(gt(NEXT_DTS,DTS),NEXT_DTS-DTS,DURATION)' -color_primaries";
  expect(argsOf(uneven, "adaptive_video", {})).toContain(expected);
  const light = argsOf(uneven, "adaptive_video", {}, { toolset: WASM_TOOLS });
  expect(light).toContain(expected);
  expect(light).toContain("ref=1:bframes=0");
});

test("adaptive video without video or without audio", () => {
  expect(argsOf(audioSource(), "adaptive_video", {})).toBe(
    `-i IN -map 0:a:0 -filter:a ${STEADY} -c:a aac -b:a 128000 -ac 2 -ar 44100 ${hls("init_0.mp4", "master.m3u8", "a:0,name:audio")}`,
  );
  const small = videoSource({ ...SILENT, width: 160, height: 90, coded_width: 160, coded_height: 90 });
  expect(argsOf(small, "adaptive_video", {})).toMatch(
    / -hls_fmp4_init_filename init_0\.mp4 .* -var_stream_map v:0,name:90p OUT\/%v\/playlist\.m3u8$/,
  );
});

test("starts a chunk with the picture shown at its start, and allows for the audio's priming", () => {
  const source = videoSource({ ...SILENT, format: "webm", priming: 0.007 });
  const plan = createPlan(source, "video", { start: 5.2, end: 10.1 });
  const args = (facts: Partial<Chunk>) =>
    chunkArgs(
      plan,
      { index: 0, track: "all", start: 5.2, end: 10.1, ...facts },
      source,
      { input: "IN", output: "OUT" },
      NATIVE_TOOLS,
    ).join(" ");
  expect(args({ decode_from: 3, shown_from: 4.5 })).toContain(
    `${PIN} -noaccurate_seek -ss 3.007 -i IN -filter_complex ` +
      "[0:V:0]scale,settb=1/120000,trim=start=1.4995:end=7.0995,setpts='max(0,PTS-264000)',",
  );
  expect(args({ decode_from: 3 })).toContain("trim=start=2.1995:end=7.0995,setpts=PTS-264000,");
  expect(args({ decode_from: 0 })).toContain("-itsoffset -0.007 -i IN");
});

test("throws for an encoder that the toolset lacks", () => {
  const h265 = () => argsOf(videoSource(), "video", { codec: "h265" }, { toolset: WASM_TOOLS });
  expect(h265).toThrow(new RangeError("the wasm core has no h265 encoder."));
});

test.for([
  { kind: "video", options: {}, track: "all", name: "output.mp4", mime: "video/mp4" },
  { kind: "video", options: { format: "mov" }, track: "all", name: "output.mov", mime: "video/quicktime" },
  { kind: "video", options: { format: "webm" }, track: "video", name: "video.webm", mime: "video/webm" },
  { kind: "video", options: { format: "webm" }, track: "audio", name: "audio.webm", mime: "video/webm" },
  {
    kind: "audio",
    options: { format: "opus" },
    track: "all",
    name: "output.opus",
    mime: "audio/ogg; codecs=opus",
  },
  { kind: "image", options: {}, track: "all", name: "output.jpg", mime: "image/jpeg" },
  {
    kind: "adaptive_video",
    options: {},
    track: "all",
    name: "master.m3u8",
    mime: "application/vnd.apple.mpegurl",
  },
] as const)(
  "a chunk of $kind with $options, track $track, is named $name",
  ({ kind, options, track, name, mime }) => {
    const plan = createPlan(videoSource(), kind, options);
    expect(outputFile(plan, { index: 0, track, start: 0, end: null })).toEqual({ name, mime });
  },
);

test("outputs of one run have their own graphs, and keep their tags", () => {
  const title = "A trip [video]";
  const source = videoSource({ tags: { title } });
  const plan = createPlan(source, "video", { codec: "h265" }, {});
  const chunk = plan.chunks[0] as Chunk;
  const outputs = ["a", "b"].map((output) => ({ plan, chunk, source, output, lists: `${output}/` }));
  const args = batchArgs(outputs, "IN", NATIVE_TOOLS);
  expect(args.filter((arg) => arg === "-i")).toHaveLength(1);
  expect(args.filter((arg) => /^\[video\d\]$/.test(arg))).toEqual(["[video0]", "[video1]"]);
  expect(args.filter((arg) => arg.startsWith("title="))).toEqual([1, 2].map(() => `title=${title}`));
});

test("an input may have any URL, but a file that a filter reads only a plain path", () => {
  const film = videoSource();
  const argsWith = (options: VideoOptions, path: string) => {
    const plan = createPlan(film, "video", options, { extra: [film] });
    const extra = (plan.further ?? []).map(() => ({ path, input: ["-i", path] }));
    return () =>
      chunkArgs(plan, plan.chunks[0] as Chunk, film, { input: "IN", output: "OUT", extra }, NATIVE_TOOLS);
  };
  const url = "http://127.0.0.1:1/a.mp4?b=c";
  expect(argsWith({ concat: [{ url }], width: 80 }, url)()).toContain(url);
  expect(argsWith({ overlay: { url } }, url)()).toContain(url);
  const burnt = { subtitles: [{ url, burn: true }] };
  expect(argsWith(burnt, url)).toThrow(RangeError);
  expect(argsWith(burnt, "/tmp/a.ass")().join()).toContain("/tmp/a.ass");
});
