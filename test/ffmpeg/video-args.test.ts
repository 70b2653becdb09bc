import { expect, test } from "vitest";
import { fpsText } from "../../src/media/ffmpeg/picture-graph.ts";
import { FAST_TOOLS, NATIVE_TOOLS, type Toolset, WASM_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import type { Source } from "../../src/media/source.ts";
import { imageSource, videoSource } from "../plan/source.ts";
import {
  argsOf,
  BT709,
  CLEAN,
  COPIED_SOUND,
  FAST_TONE_MAP,
  GIF,
  graph,
  HDR,
  PIN,
  pinned,
  SILENT,
  TONE_MAP,
  tags,
  ticks,
} from "./args-of.ts";

const MP4 = `${CLEAN} -movflags +faststart -f mp4 OUT`;
const SCALES = "-video_track_timescale 120000 -movie_timescale 120000";
const TIMES = "-fps_mode vfr -enc_time_base:v 1:120000";
const X264 = "-c:v libx264 -preset fast";
const WEBCODECS_HDR: Partial<Source> = {
  color: { hdr: true, primaries: "bt2020", transfer: "pq", space: "bt2020-ncl", range: "limited" },
};
const FEW_THREADS: Toolset = {
  ...NATIVE_TOOLS,
  video: { av1: { encoder: "libsvtav1", args: ["-preset", "8", "-svtav1-params", "lp=2"] } },
};
// The last picture, up to the end of two seconds.
const HELD =
  "setts=pts=PTS:dts='st(0,max(ld(0),PTS));if(gt(NEXT_DTS,DTS)+0+lte(240000,PTS),DTS,PTS)'" +
  ":duration='st(0,max(ld(0),PTS));if(gt(NEXT_DTS,DTS)+0+lte(240000,PTS),if(gt(240000,PTS)*lt(240000-PTS,12000.000-1),240000-PTS,DURATION),240000-PTS)'";
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
    `${PIN} -i IN ${pinned("scale=640:360:flags=bicubic:out_range=tv,format=yuv420p,setsar=1")} ${X264} -crf:v 23 -g 125 ${ticks(50)} ${tags("bt709")} ${SCALES} ${COPIED_SOUND} ${MP4}`,
  ],
  [
    "a bitrate, by the wasm core",
    argsOf(videoSource(SILENT), "video", { bitrate: 1_000_000 }, { toolset: WASM_TOOLS }),
    `${PIN} -threads 1 -i IN ${pinned("format=yuv420p,setsar=1")} -c:v libx264 -preset veryfast -x264-params threads=1:rc-lookahead=8:ref=1:bframes=2 -b:v 1000000 -maxrate:v 1500000 -bufsize:v 2000000 -g 125 ${ticks(50)} ${tags("bt709")} ${SCALES} ${CLEAN} -threads 1 -movflags +faststart -f mp4 OUT`,
  ],
  [
    "webm, cut, at a constant rate",
    argsOf(videoSource(), "video", { format: "webm", fps: 29.97, start: 2, end: 4.5, quality: "low" }),
    `${PIN} -noaccurate_seek -ss 2 -i IN ${pinned("settb=1/120000,trim=end=2.4995,fps=30000/1001:start_time=0:eof_action=pass,tpad=stop=-1:stop_mode=clone,trim=end_frame=75,format=yuv420p,setsar=1")} -c:v libvpx-vp9 -deadline good -cpu-used 4 -row-mt 1 -crf:v 37 -b:v 0 -g 150 -fps_mode vfr -r 30000/1001 ${tags("bt709")} -map 0:a:0 -filter:a atrim=start=0:end=2.5 -c:a libopus -vbr constrained -b:a 64000 -ac 2 -ar 48000 ${CLEAN} -cues_to_front 1 -f webm OUT`,
  ],
  [
    "webm at a bitrate, by the wasm core",
    argsOf(videoSource(SILENT), "video", { format: "webm", bitrate: 500_000 }, { toolset: WASM_TOOLS }),
    `${PIN} -threads 1 -i IN ${pinned("format=yuv420p,setsar=1")} -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -lag-in-frames 0 -row-mt 0 -b:v 500000 -minrate:v 500000 -maxrate:v 500000 -bufsize:v 500000 -g 125 ${TIMES} ${tags("bt709")} ${CLEAN} -threads 1 -cues_to_front 1 -f webm OUT`,
  ],
  [
    "a start, with every frame at its own time",
    argsOf(videoSource(SILENT), "video", { start: 0.5 }),
    `${PIN} -noaccurate_seek -ss 0.5 -i IN ${pinned("settb=1/120000,trim=start=-0.0005,format=yuv420p,setsar=1")} ${X264} -crf:v 23 -g 125 ${ticks(50)} ${tags("bt709")} ${SCALES} ${MP4}`,
  ],
  [
    "a variable frame rate sets no rate",
    argsOf(videoSource({ ...SILENT, fps: 24.7123 }), "video", { quality: "medium" }),
    `${PIN} -i IN ${pinned("format=yuv420p,setsar=1")} ${X264} -crf:v 23 -g 124 ${TIMES} ${tags("bt709")} ${SCALES} ${MP4}`,
  ],
  [
    "HDR kept in h265",
    argsOf(videoSource({ ...SILENT, ...HDR }), "video", { codec: "h265", quality: "high" }),
    `${PIN} -i IN ${pinned("format=yuv420p10le,setsar=1")} -c:v libx265 -preset fast -x265-params open-gop=0:log-level=error -tag:v hvc1 -crf:v 24 -g 125 ${TIMES} -color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc -color_range tv ${SCALES} ${MP4}`,
  ],
  [
    "a small size as h265",
    argsOf(videoSource(SILENT), "video", { codec: "h265", width: 64, height: 62 }),
    `${PIN} -i IN ${pinned("scale=64:62:flags=bicubic:out_range=tv,format=yuv420p,setsar=1")} -c:v libx265 -preset fast -x265-params open-gop=0:log-level=error:cutree=0 -tag:v hvc1 -crf:v 28 -g 125 ${TIMES} ${tags("bt709")} ${SCALES} ${MP4}`,
  ],
  [
    "a small size as av1, which SVT-AV1 rejects",
    argsOf(videoSource(SILENT), "video", { codec: "av1", width: 62, height: 64, bitrate: 300_000 }),
    `${PIN} -i IN ${pinned("scale=62:64:flags=bicubic:out_range=tv,format=yuv420p,setsar=1")} -c:v libaom-av1 -cpu-used 6 -b:v 300000 -g 125 ${TIMES} ${tags("bt709")} ${SCALES} ${MP4}`,
  ],
  [
    "an av1 bitrate added to the toolset's encoder parameters",
    argsOf(videoSource(SILENT), "video", { codec: "av1", bitrate: 300_000 }, { toolset: FEW_THREADS }),
    `${PIN} -i IN ${pinned("format=yuv420p,setsar=1")} -c:v libsvtav1 -preset 8 -svtav1-params lp=2:undershoot-pct=0:overshoot-pct=0 -b:v 300000 -g 125 ${TIMES} ${tags("bt709")} ${SCALES} ${MP4}`,
  ],
  [
    "an av1 bitrate for a few seconds",
    argsOf(videoSource({ ...SILENT, duration: 5.9 }), "video", { codec: "av1", bitrate: 300_000 }),
    `${PIN} -i IN ${pinned("format=yuv420p,setsar=1")} -c:v libsvtav1 -preset 8 -svtav1-params rc=2 -b:v 300000 -g 125 ${TIMES} ${tags("bt709")} ${SCALES} ${MP4}`,
  ],
  ...([HDR, WEBCODECS_HDR] as const).map((hdr): [string, string, string] => [
    `HDR tone-mapped after scaling, from ${hdr.color?.transfer}`,
    argsOf(videoSource({ ...SILENT, ...hdr }), "video", { width: 640 }),
    `${PIN} -i IN ${pinned(`scale=640:360:flags=bicubic,${TONE_MAP},scale=flags=bicubic:out_range=tv,format=yuv420p,setsar=1`)} ${X264} -crf:v 23 -g 125 ${ticks(50)} ${tags("bt709")} ${SCALES} ${MP4}`,
  ]),
  [
    "HDR tone-mapped by the fast core",
    argsOf(videoSource({ ...SILENT, ...HDR }), "video", { width: 640 }, { toolset: FAST_TOOLS }),
    `${PIN} -threads 1 -i IN ${pinned(`scale=640:360:flags=bicubic,${FAST_TONE_MAP},scale=flags=bicubic:out_range=tv,format=yuv420p,setsar=1`)} -c:v libx264 ${FAST_TOOLS.video.h264?.args.join(" ")} -crf:v 23 -g 125 ${ticks(50)} ${tags("bt709")} ${SCALES} ${CLEAN} -threads 1 -movflags +faststart -f mp4 OUT`,
  ],
  [
    "colored bars, drawn in RGB",
    argsOf(videoSource({ ...SILENT, ...BT709 }), "video", { width: 640, height: 640, background: "#1e90ff" }),
    `${PIN} -i IN ${pinned("scale=640:360:flags=bicubic,format=gbrp,pad=640:640:0:140:0x1e90ff,scale=flags=bicubic:out_range=tv:out_color_matrix=bt709,format=yuv420p,setsar=1")} ${X264} -crf:v 23 -g 125 ${ticks(50)} ${tags("bt709")} ${SCALES} ${MP4}`,
  ],
  [
    "black bars",
    argsOf(videoSource(SILENT), "video", { width: 640, height: 640, fit: "contain" }),
    `${PIN} -i IN ${pinned("scale=640:360:flags=bicubic:out_range=tv,format=yuv420p,pad=640:640:0:140:0x000000,setsar=1")} ${X264} -crf:v 23 -g 125 ${ticks(50)} ${tags("bt709")} ${SCALES} ${MP4}`,
  ],
  [
    "cropped to cover",
    argsOf(videoSource(SILENT), "video", { width: 640, height: 640, fit: "cover", position: "right" }),
    `${PIN} -i IN ${pinned("crop=1080:1080:840:0:exact=1,scale=640:640:flags=bicubic:out_range=tv,format=yuv420p,setsar=1")} ${X264} -crf:v 23 -g 125 ${ticks(50)} ${tags("bt709")} ${SCALES} ${MP4}`,
  ],
  [
    "full range converted to limited, and untagged HD to BT.709",
    argsOf(
      videoSource({ ...SILENT, pixel_format: "yuvj420p", color: { hdr: false, range: "full" } }),
      "video",
      { quality: "low" },
    ),
    `${PIN} -i IN ${pinned("setparams=colorspace=bt709,scale=flags=bicubic:out_range=tv,format=yuv420p,setsar=1")} ${X264} -crf:v 27 -g 125 ${ticks(50)} ${tags("bt709")} ${SCALES} ${MP4}`,
  ],
  [
    "interlaced and rotated, with ffmpeg's own rotation",
    argsOf(videoSource({ ...SILENT, interlaced: true, rotation: 90, width: 1080, height: 1920 }), "video", {
      format: "mov",
    }),
    `-i IN ${graph("yadif,format=yuv420p,setsar=1")} ${X264} -crf:v 23 -g 125 ${ticks(50)} ${tags("bt709")} ${SCALES} ${CLEAN} -movflags +faststart -f mov OUT`,
  ],
  [
    "a transparent WebM on black",
    argsOf(
      videoSource({ has_alpha: true, format: "webm", codecs: { video: "vp9", audio: null } }),
      "video",
      {},
    ),
    `${PIN} -c:v libvpx-vp9 -i IN ${pinned("format=rgba,split[over][under];[under]lutrgb=r=0:g=0:b=0:a=255[base];[base][over]overlay=format=rgb,scale=flags=bicubic:out_range=tv:out_color_matrix=bt709,format=yuv420p,setsar=1")} ${X264} -crf:v 23 -g 125 ${ticks(50)} ${tags("bt709")} ${SCALES} ${MP4}`,
  ],
  [
    "an animation, SD colors",
    argsOf(imageSource(GIF), "video", {}),
    `-i IN ${graph("format=rgba,split[over][under];[under]lutrgb=r=0:g=0:b=0:a=255[base];[base][over]overlay=format=rgb,scale=flags=bicubic:out_range=tv:out_color_matrix=smpte170m,format=yuv420p,setsar=1")} ${X264} -crf:v 23 -g 50 ${ticks(20).replace("h264_", `${HELD},h264_`)} ${tags("smpte170m")} ${SCALES} ${MP4}`,
  ],
  [
    "a chunk in the middle",
    argsOf(LONG, "video", { width: 640 }, { chunk: 1 }),
    `${PIN} -noaccurate_seek -ss 66.666667 -i IN ${pinned("settb=1/120000,trim=start=-0.0005:end=66.666166,scale=640:360:flags=bicubic:out_range=tv,format=yuv420p,setsar=1")} ${X264} -crf:v 23 -g 125 ${ticks(50)} ${tags("bt709")} ${SCALES} ${MP4}`,
  ],
  ["the audio chunk", argsOf(LONG, "video", { width: 640 }, { chunk: 3 }), `-i IN ${COPIED_SOUND} ${MP4}`],
];

test.for(VIDEO)("video: %s", ([, actual, expected]) => {
  expect(actual).toBe(expected);
});

test.for([
  { fps: 25, text: "25" },
  { fps: 12.5, text: "12.5" },
  { fps: 29.97, text: "30000/1001" },
  { fps: 30_000 / 1001, text: "30000/1001" },
  { fps: 23.976, text: "24000/1001" },
  { fps: 119.88, text: "120000/1001" },
] as const)("writes $fps fps as $text", ({ fps, text }) => {
  expect(fpsText(fps)).toBe(text);
});
