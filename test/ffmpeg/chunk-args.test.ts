import { expect, test } from "vitest";
import type { EncodeKind } from "../../src/core/formats.ts";
import type { Source } from "../../src/core/source.ts";
import { chunkArgs } from "../../src/ffmpeg/chunk-args.ts";
import { fpsText } from "../../src/ffmpeg/filters.ts";
import { jpegScale } from "../../src/ffmpeg/image-args.ts";
import { outputFile } from "../../src/ffmpeg/output.ts";
import { NATIVE_TOOLS, type Toolset, WASM_TOOLS } from "../../src/ffmpeg/toolset.ts";
import { type ChunkHints, createPlan } from "../../src/plan/index.ts";
import { audioSource, imageSource, videoSource } from "../plan/source.ts";

interface Asked extends ChunkHints {
  toolset?: Toolset;
  chunk?: number;
}

function argsOf(source: Source, kind: EncodeKind, options: object, asked: Asked = {}): string {
  const { toolset = NATIVE_TOOLS, chunk = 0, ...hints } = asked;
  const plan = createPlan(source, kind, options, hints);
  const part = plan.chunks[chunk];
  if (!part) throw new Error(`No chunk ${chunk}.`);
  return chunkArgs(plan, part, source, { input: "IN", output: "OUT" }, toolset).join(" ");
}

const CLEAN = "-map_metadata -1 -map_chapters -1";
const MP4 = `${CLEAN} -movflags +faststart -f mp4 OUT`;
const SCALES = "-video_track_timescale 120000 -movie_timescale 120000";
const TIMES = "-fps_mode vfr -enc_time_base 1:120000";
const ticks = (rate: number) => `${TIMES} -bsf:v h264_metadata=tick_rate=${rate}:fixed_frame_rate_flag=0`;
const X264 = "-c:v libx264 -preset fast";
const graph = (filters: string) => `-filter_complex [0:V:0]${filters}[video] -map [video]`;
const tags = (name: string) =>
  `-color_primaries ${name} -color_trc ${name} -colorspace ${name} -color_range tv`;
const COPIED_SOUND = "-map 0:a:0 -c:a copy";
const STILL = "flags=bicubic+accurate_rnd+full_chroma_int";
const TONE_MAP =
  "format=yuv444p10le,zscale=pin=bt2020:tin=smpte2084:min=bt2020nc:rin=limited:t=linear:npl=100,format=gbrpf32le," +
  "zscale=p=bt709,tonemap=hable:desat=0,zscale=t=bt709:m=bt709:r=limited,format=yuv444p";

const SILENT = { codecs: { video: "h264", audio: null } };
const BT709 = { color: { hdr: false, primaries: "bt709", transfer: "bt709", space: "bt709" } };
const HDR: Partial<Source> = {
  color: { hdr: true, primaries: "bt2020", transfer: "smpte2084", space: "bt2020nc", range: "limited" },
};
const WEBCODECS_HDR: Partial<Source> = {
  color: { hdr: true, primaries: "bt2020", transfer: "pq", space: "bt2020-ncl", range: "limited" },
};
const CLEAR = { has_alpha: true, pixel_format: "rgba" };
const GIF: Partial<Source> = {
  ...{ format: "gif", animated: true, duration: 2, fps: 10, has_alpha: true, pixel_format: "bgra" },
  codecs: { video: "gif", audio: null },
};
const LONG = videoSource({ duration: 200 });

const VIDEO: [string, string, string][] = [
  ["a copy", argsOf(videoSource(), "video", {}), `-i IN -map 0:V:0 -c:v copy ${COPIED_SOUND} ${MP4}`],
  [
    "a copy of h265",
    argsOf(videoSource({ codecs: { video: "h265", audio: "aac" } }), "video", { codec: "h265" }),
    `-i IN -map 0:V:0 -c:v copy -tag:v hvc1 ${COPIED_SOUND} ${MP4}`,
  ],
  [
    "another size",
    argsOf(videoSource(BT709), "video", { width: 640 }),
    `-i IN ${graph("scale=640:360:flags=bicubic:out_range=tv,format=yuv420p,setsar=1")} ${X264} -crf:v 23 -g 125 ${ticks(50)} ${tags("bt709")} ${SCALES} ${COPIED_SOUND} ${MP4}`,
  ],
  [
    "a bitrate, by the wasm core",
    argsOf(videoSource(SILENT), "video", { bitrate: 1_000_000 }, { toolset: WASM_TOOLS }),
    `-threads 1 -i IN ${graph("format=yuv420p,setsar=1")} -c:v libx264 -preset veryfast -x264-params threads=1:rc-lookahead=8:ref=1:bframes=2 -b:v 1000000 -maxrate:v 1500000 -bufsize:v 2000000 -g 125 ${ticks(50)} -color_range tv ${SCALES} ${CLEAN} -threads 1 -movflags +faststart -f mp4 OUT`,
  ],
  [
    "webm, cut, at a constant rate",
    argsOf(videoSource(), "video", { format: "webm", fps: 29.97, start: 2, end: 4.5, quality: "low" }),
    `-noaccurate_seek -ss 2 -i IN ${graph("trim=end=2.4995,fps=30000/1001:start_time=0,tpad=stop=-1:stop_mode=clone,trim=end_frame=75,format=yuv420p,setsar=1")} -c:v libvpx-vp9 -deadline good -cpu-used 4 -row-mt 1 -crf:v 37 -b:v 0 -g 150 -fps_mode vfr -r 30000/1001 -color_range tv -map 0:a:0 -filter:a atrim=start=0:end=2.5 -c:a libopus -b:a 64000 -ac 2 -ar 48000 ${CLEAN} -cues_to_front 1 -f webm OUT`,
  ],
  [
    "webm at a bitrate, by the wasm core",
    argsOf(videoSource(SILENT), "video", { format: "webm", bitrate: 500_000 }, { toolset: WASM_TOOLS }),
    `-threads 1 -i IN ${graph("format=yuv420p,setsar=1")} -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -lag-in-frames 0 -row-mt 0 -b:v 500000 -minrate:v 500000 -maxrate:v 500000 -bufsize:v 500000 -g 125 ${TIMES} -color_range tv ${CLEAN} -threads 1 -cues_to_front 1 -f webm OUT`,
  ],
  [
    "a start, every frame at its own time",
    argsOf(videoSource(SILENT), "video", { start: 0.5 }),
    `-noaccurate_seek -ss 0.5 -i IN ${graph("trim=start=-0.0005,format=yuv420p,setsar=1")} ${X264} -crf:v 23 -g 125 ${ticks(50)} -color_range tv ${SCALES} ${MP4}`,
  ],
  [
    "frames at uneven times have no rate",
    argsOf(videoSource({ ...SILENT, fps: 24.7123 }), "video", { quality: "medium" }),
    `-i IN ${graph("format=yuv420p,setsar=1")} ${X264} -crf:v 23 -g 124 ${TIMES} -color_range tv ${SCALES} ${MP4}`,
  ],
  [
    "HDR kept by h265",
    argsOf(videoSource({ ...SILENT, ...HDR }), "video", { codec: "h265", quality: "high" }),
    `-i IN ${graph("format=yuv420p10le,setsar=1")} -c:v libx265 -preset fast -x265-params open-gop=0:log-level=error -tag:v hvc1 -crf:v 24 -g 125 ${TIMES} -color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc -color_range tv ${SCALES} ${MP4}`,
  ],
  ...([HDR, WEBCODECS_HDR] as const).map((hdr): [string, string, string] => [
    `HDR tone-mapped after scaling, from ${hdr.color?.transfer}`,
    argsOf(videoSource({ ...SILENT, ...hdr }), "video", { width: 640 }),
    `-i IN ${graph(`scale=640:360:flags=bicubic,${TONE_MAP},scale=flags=bicubic:out_range=tv,format=yuv420p,setsar=1`)} ${X264} -crf:v 23 -g 125 ${ticks(50)} ${tags("bt709")} ${SCALES} ${MP4}`,
  ]),
  [
    "colored bars, drawn in RGB",
    argsOf(videoSource({ ...SILENT, ...BT709 }), "video", { width: 640, height: 640, background: "#1e90ff" }),
    `-i IN ${graph("scale=640:360:flags=bicubic,format=gbrp,pad=640:640:0:140:0x1e90ff,scale=flags=bicubic:out_range=tv:out_color_matrix=bt709,format=yuv420p,setsar=1")} ${X264} -crf:v 23 -g 125 ${ticks(50)} ${tags("bt709")} ${SCALES} ${MP4}`,
  ],
  [
    "black bars",
    argsOf(videoSource(SILENT), "video", { width: 640, height: 640, fit: "contain" }),
    `-i IN ${graph("scale=640:360:flags=bicubic:out_range=tv,format=yuv420p,pad=640:640:0:140:0x000000,setsar=1")} ${X264} -crf:v 23 -g 125 ${ticks(50)} -color_range tv ${SCALES} ${MP4}`,
  ],
  [
    "cut to cover",
    argsOf(videoSource(SILENT), "video", { width: 640, height: 640, fit: "cover", position: "right" }),
    `-i IN ${graph("crop=1080:1080:840:0:exact=1,scale=640:640:flags=bicubic:out_range=tv,format=yuv420p,setsar=1")} ${X264} -crf:v 23 -g 125 ${ticks(50)} -color_range tv ${SCALES} ${MP4}`,
  ],
  [
    "full range is made limited",
    argsOf(
      videoSource({ ...SILENT, pixel_format: "yuvj420p", color: { hdr: false, range: "full" } }),
      "video",
      { quality: "low" },
    ),
    `-i IN ${graph("scale=flags=bicubic:out_range=tv,format=yuv420p,setsar=1")} ${X264} -crf:v 27 -g 125 ${ticks(50)} -color_range tv ${SCALES} ${MP4}`,
  ],
  [
    "interlaced and turned: ffmpeg turns it",
    argsOf(videoSource({ ...SILENT, interlaced: true, rotation: 90, width: 1080, height: 1920 }), "video", {
      format: "mov",
    }),
    `-i IN ${graph("yadif,format=yuv420p,setsar=1")} ${X264} -crf:v 23 -g 125 ${ticks(50)} -color_range tv ${SCALES} ${CLEAN} -movflags +faststart -f mov OUT`,
  ],
  [
    "a transparent webm on black",
    argsOf(
      videoSource({ has_alpha: true, format: "webm", codecs: { video: "vp9", audio: null } }),
      "video",
      {},
    ),
    `-c:v libvpx-vp9 -i IN ${graph("format=rgba,split[over][under];[under]lutrgb=r=0:g=0:b=0:a=255[base];[base][over]overlay=format=rgb,scale=flags=bicubic:out_range=tv:out_color_matrix=bt601,format=yuv420p,setsar=1")} ${X264} -crf:v 23 -g 125 ${ticks(50)} -color_range tv ${SCALES} ${MP4}`,
  ],
  [
    "an animation, SD colors",
    argsOf(imageSource(GIF), "video", {}),
    `-i IN ${graph("format=rgba,split[over][under];[under]lutrgb=r=0:g=0:b=0:a=255[base];[base][over]overlay=format=rgb,scale=flags=bicubic:out_range=tv:out_color_matrix=smpte170m,format=yuv420p,setsar=1")} ${X264} -crf:v 23 -g 50 ${ticks(20)} ${tags("smpte170m")} ${SCALES} ${MP4}`,
  ],
  [
    "a stretch in the middle",
    argsOf(LONG, "video", { width: 640 }, { chunk: 1 }),
    `-noaccurate_seek -ss 66.666667 -i IN ${graph("trim=start=-0.0005:end=66.666166,scale=640:360:flags=bicubic:out_range=tv,format=yuv420p,setsar=1")} ${X264} -crf:v 23 -g 125 ${ticks(50)} -color_range tv ${SCALES} ${MP4}`,
  ],
  ["the sound apart", argsOf(LONG, "video", { width: 640 }, { chunk: 3 }), `-i IN ${COPIED_SOUND} ${MP4}`],
];

test.for(VIDEO)("video: %s", ([, got, wanted]) => {
  expect(got).toBe(wanted);
});

const SOUND = "-noaccurate_seek -ss 1 -i IN -map 0:a:0 -filter:a atrim=start=0";
test.for([
  ["mp3", `-c:a libmp3lame -b:a 128000 -ac 2 -ar 44100 ${CLEAN} -f mp3`],
  ["aac", `-c:a aac -b:a 128000 -ac 2 -ar 44100 ${CLEAN} -f adts`],
  ["ogg", `-c:a libvorbis -b:a 96000 -maxrate:a 96000 -ac 2 -ar 44100 ${CLEAN} -f ogg`],
  ["opus", `-c:a libopus -b:a 96000 -ac 2 -ar 48000 ${CLEAN} -f opus`],
  ["wav", `-c:a pcm_s16le -ac 2 -ar 44100 ${CLEAN} -f wav`],
  ["flac", `-c:a flac -compression_level 5 -ac 2 -ar 44100 ${CLEAN} -f flac`],
] as const)("audio: %s", ([format, wanted]) => {
  expect(argsOf(audioSource(), "audio", { format, start: 1 })).toBe(`${SOUND} ${wanted} OUT`);
});

test("audio: a copy, and flac of a lossy source", () => {
  expect(argsOf(videoSource(), "audio", { format: "aac" })).toBe(
    `-i IN ${COPIED_SOUND} ${CLEAN} -f adts OUT`,
  );
  expect(argsOf(videoSource(), "audio", { format: "flac" })).toContain(
    "-compression_level 5 -sample_fmt s16 -ac 2",
  );
});

const ONE = `-frames:v 1 ${CLEAN}`;
const FILE = "-f image2 -update 1 OUT";
const JPEG = `scale=${STILL}:out_range=pc:out_color_matrix=bt601,format=yuvj420p,setsar=1`;
const PNG = `scale=${STILL}:out_range=pc,format=rgb24,setsar=1`;
const PALETTE = "split[look][use];[look]palettegen=reserve_transparent=";
const IMAGE: [string, string, string][] = [
  [
    "jpeg",
    argsOf(imageSource(), "image", { format: "jpeg" }),
    `-noautorotate -i IN ${graph(JPEG)} -c:v mjpeg -q:v 7 ${ONE} ${FILE}`,
  ],
  [
    "a turned photo in full chroma",
    argsOf(imageSource({ format: "jpeg", rotation: 90, pixel_format: "yuvj420p" }), "image", {
      quality: "very_high",
    }),
    `-noautorotate -i IN ${graph(`transpose=clock,${JPEG.replace("420", "444")}`)} -c:v mjpeg -q:v 2 ${ONE} ${FILE}`,
  ],
  [
    "a frame of a video",
    argsOf(videoSource(), "image", { start: 3, format: "png", width: 320 }),
    `-ss 2.961 -noautorotate -i IN ${graph(PNG.replace("scale=", "scale=320:180:"))} -c:v png -pred mixed ${ONE} ${FILE}`,
  ],
  [
    "the first frame",
    argsOf(videoSource(), "image", {}),
    `-noautorotate -i IN ${graph(JPEG)} -c:v mjpeg -q:v 7 ${ONE} ${FILE}`,
  ],
  [
    "a transparent picture, scaled",
    argsOf(imageSource(CLEAR), "image", { width: 40 }),
    `-noautorotate -i IN ${graph(`format=gbrap,premultiply=inplace=1,scale=40:30:${STILL},unpremultiply=inplace=1,scale=${STILL}:out_range=pc,format=rgba,setsar=1`)} -c:v png -pred mixed ${ONE} ${FILE}`,
  ],
  [
    "a transparent picture, laid on its background",
    argsOf(imageSource(CLEAR), "image", { format: "jpeg", width: 40, height: 40, background: "#abc" }),
    `-noautorotate -i IN ${graph(`format=rgba,split[over][under];[under]lutrgb=r=170:g=187:b=204:a=255[base];[base][over]overlay=format=rgb,scale=40:30:${STILL},format=rgb24,pad=40:40:0:5:0xaabbcc,${JPEG}`)} -c:v mjpeg -q:v 7 ${ONE} ${FILE}`,
  ],
  [
    "clear bars around an opaque picture",
    argsOf(imageSource(), "image", { width: 40, height: 40, fit: "contain" }),
    `-noautorotate -i IN ${graph(`scale=40:30:${STILL}:out_range=pc,format=rgba,pad=40:40:0:5:0x00000000,setsar=1`)} -c:v png -pred mixed ${ONE} ${FILE}`,
  ],
  [
    "webp",
    argsOf(imageSource(), "image", { format: "webp", quality: "low" }),
    `-noautorotate -i IN ${graph(`scale=${STILL}:out_range=tv:out_color_matrix=bt601,format=yuv420p,setsar=1`)} -c:v libwebp -quality 60 ${ONE} -loop 0 -f webp OUT`,
  ],
  [
    "transparent webp, by the wasm core",
    argsOf(imageSource(CLEAR), "image", { format: "webp" }, { toolset: WASM_TOOLS }),
    `-noautorotate -threads 1 -i IN ${graph(`scale=${STILL}:out_range=tv:out_color_matrix=bt601,format=yuva420p,setsar=1`)} -c:v libwebp -quality 78 ${ONE} -threads 1 -loop 0 -f webp OUT`,
  ],
  [
    "gif",
    argsOf(imageSource(), "image", { format: "gif" }),
    `-noautorotate -i IN ${graph(`${PNG},${PALETTE}0:stats_mode=single[palette];[use][palette]paletteuse=new=1`)} -c:v gif ${ONE} -loop 0 -f gif OUT`,
  ],
  [
    "animated gif",
    argsOf(imageSource(GIF), "image", {}),
    `-noautorotate -i IN ${graph(`${PNG.replace("rgb24", "rgba")},${PALETTE}1:stats_mode=single[palette];[use][palette]paletteuse=new=1:dither=bayer:bayer_scale=4`)} -c:v gif -fps_mode vfr -enc_time_base 1:1000 ${CLEAN} -loop 0 -f gif OUT`,
  ],
  [
    "animated webp",
    argsOf(imageSource(GIF), "image", { format: "webp" }),
    `-noautorotate -i IN ${graph(`scale=${STILL}:out_range=tv:out_color_matrix=bt601,format=yuva420p,setsar=1`)} -c:v libwebp_anim -quality 78 -fps_mode vfr -enc_time_base 1:1000 ${CLEAN} -loop 0 -f webp OUT`,
  ],
  [
    "avif",
    argsOf(imageSource(), "image", { format: "avif" }),
    `-noautorotate -i IN ${graph(`scale=${STILL}:out_range=tv:out_color_matrix=bt601,format=yuv420p,setsar=1`)} -c:v libaom-av1 -still-picture 1 -cpu-used 6 -crf 30 -b:v 0 ${ONE} -f avif OUT`,
  ],
  [
    "HDR",
    argsOf(videoSource(HDR), "image", { format: "png" }),
    `-noautorotate -i IN ${graph(`${TONE_MAP},${PNG}`)} -c:v png -pred mixed ${ONE} ${FILE}`,
  ],
];

test.for(IMAGE)("image: %s", ([, got, wanted]) => {
  expect(got).toBe(wanted);
});

const HLS =
  "-f hls -hls_time 6 -hls_playlist_type vod -hls_segment_type fmp4 -hls_flags independent_segments -hls_fmp4_init_filename init.mp4 -hls_segment_filename OUT/%v/seg_%05d.m4s -master_pl_name master.m3u8 -var_stream_map";

test("adaptive video in one pass", () => {
  const source = videoSource({ ...BT709, width: 640, height: 360, coded_width: 640, coded_height: 360 });
  expect(argsOf(source, "adaptive_video", { start: 1, end: 3 })).toBe(
    "-noaccurate_seek -ss 1 -i IN -filter_complex [0:V:0]trim=start=-0.0005:end=1.9995,split=2[s0][s1];[s0]format=yuv420p,setsar=1[v0];[s1]scale=426:240:flags=bicubic:out_range=tv,format=yuv420p,setsar=1[v1] -map [v0] -map [v1] " +
      `${X264} -crf:v:0 23 -maxrate:v:0 900000 -bufsize:v:0 1800000 -crf:v:1 23 -maxrate:v:1 400000 -bufsize:v:1 800000 -force_key_frames expr:gte(t,n_forced*2) -sc_threshold 0 -g 600 ${ticks(50)} ${tags("bt709")} ` +
      `-map 0:a:0 -filter:a atrim=start=0:end=2 -c:a aac -b:a 128000 -ac 2 -ar 48000 ${CLEAN} ${HLS} v:0,agroup:audio,name:360p v:1,agroup:audio,name:240p a:0,agroup:audio,default:yes,name:audio OUT/%v/playlist.m3u8`,
  );
});

test("adaptive video of sound alone, and of pictures alone", () => {
  expect(argsOf(audioSource(), "adaptive_video", {})).toBe(
    `-i IN -map 0:a:0 -c:a aac -b:a 128000 -ac 2 -ar 44100 ${CLEAN} ${HLS} a:0,name:audio OUT/%v/playlist.m3u8`,
  );
  const small = videoSource({ ...SILENT, width: 160, height: 90, coded_width: 160, coded_height: 90 });
  expect(argsOf(small, "adaptive_video", {})).toMatch(
    /-var_stream_map v:0,name:90p OUT\/%v\/playlist\.m3u8$/,
  );
});

test("an encoder that the toolset lacks is a mistake of the caller", () => {
  const h265 = () => argsOf(videoSource(), "video", { codec: "h265" }, { toolset: WASM_TOOLS });
  expect(h265).toThrow(new RangeError("the wasm core has no h265 encoder."));
});

test.for([
  ["video", {}, "all", "output.mp4", "video/mp4"],
  ["video", { format: "mov" }, "all", "output.mov", "video/quicktime"],
  ["video", { format: "webm" }, "video", "video.webm", "video/webm"],
  ["video", { format: "webm" }, "audio", "audio.webm", "video/webm"],
  ["audio", { format: "opus" }, "all", "output.opus", "audio/ogg; codecs=opus"],
  ["image", {}, "all", "output.jpg", "image/jpeg"],
  ["adaptive_video", {}, "all", "master.m3u8", "application/vnd.apple.mpegurl"],
] as const)("a chunk of %s with %o of %s is called %s", ([kind, options, track, name, mime]) => {
  const plan = createPlan(videoSource(), kind, options);
  expect(outputFile(plan, { index: 0, track, start: 0, end: null })).toEqual({ name, mime });
});

test.for([
  [40, 21],
  [60, 13],
  [78, 7],
  [87, 4],
  [94, 2],
  [100, 1],
  [1, 31],
] as const)("a JPEG quality of %s is ffmpeg's %s", ([quality, scale]) => {
  expect(jpegScale(quality)).toBe(scale);
});

test.for([
  [25, "25"],
  [12.5, "12.5"],
  [29.97, "30000/1001"],
  [30_000 / 1001, "30000/1001"],
  [23.976, "24000/1001"],
  [119.88, "120000/1001"],
] as const)("%s frames a second are written %s", ([fps, text]) => {
  expect(fpsText(fps)).toBe(text);
});
