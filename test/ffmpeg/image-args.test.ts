import { expect, test } from "vitest";
import { jpegScale } from "../../src/media/ffmpeg/image-graph.ts";
import { WASM_TOOLS } from "../../src/media/ffmpeg/toolset.ts";
import { imageSource, videoSource } from "../plan/source.ts";
import { argsOf, CLEAN, GIF, graph, HDR, PIN, pinned, TONE_MAP } from "./args-of.ts";

const STILL = "flags=bicubic+accurate_rnd+full_chroma_int";
const CLEAR = { has_alpha: true, pixel_format: "rgba" };
const ONE = `-frames:v 1 ${CLEAN}`;
const FILE = "-f image2 -update 1 OUT";
const JPEG = `scale=${STILL}:out_range=pc:out_color_matrix=bt601,format=yuvj420p,setsar=1`;
const PNG = `scale=${STILL}:out_range=pc,format=rgb24,setsar=1`;
const UNTAGGED = "setparams=color_primaries=unknown:color_trc=unknown";
const PALETTE = "split[look][use];[look]palettegen=reserve_transparent=";
const CLIP = `split[look][use];[look]palettegen=max_colors=256:reserve_transparent=0[palette];[use][palette]paletteuse=dither=bayer:bayer_scale=5:diff_mode=rectangle`;
const IMAGE: { name: string; actual: string; expected: string }[] = [
  {
    name: "an animation that plays once, with one palette",
    actual: argsOf(videoSource(), "animation", { start: 2, end: 4, loop: 1, width: 320 }),
    expected: `${PIN} -noaccurate_seek -ss 2 -noautorotate -i IN ${pinned(`settb=1/120000,trim=end=1.9995,fps=12:start_time=0:eof_action=pass,tpad=stop=-1:stop_mode=clone,trim=end_frame=24,scale=320:180:${STILL}:out_range=pc,format=bgra,setsar=1,${CLIP}`)} -c:v gif -fps_mode vfr -enc_time_base 1:1000 ${CLEAN} -loop -1 -f gif OUT`,
  },
  {
    name: "jpeg",
    actual: argsOf(imageSource(), "image", { format: "jpeg" }),
    expected: `-noautorotate -i IN ${graph(JPEG)} -c:v mjpeg -q:v 7 ${ONE} ${FILE}`,
  },
  {
    name: "jpeg of an odd width, whose chroma is subsampled in a step of its own",
    actual: argsOf(imageSource(), "image", { format: "jpeg", width: 101 }),
    expected: `-noautorotate -i IN ${graph(`scale=101:76:${STILL}:out_range=pc:out_color_matrix=bt601,format=yuvj444p,${JPEG}`)} -c:v mjpeg -q:v 7 ${ONE} ${FILE}`,
  },
  {
    name: "a rotated photo in full chroma",
    actual: argsOf(imageSource({ format: "jpeg", rotation: 90, pixel_format: "yuvj420p" }), "image", {
      quality: "very_high",
    }),
    expected: `-noautorotate -i IN ${graph(`transpose=clock,${JPEG.replace("420", "444")}`)} -c:v mjpeg -q:v 2 ${ONE} ${FILE}`,
  },
  {
    name: "a frame of a video",
    actual: argsOf(videoSource(), "image", { start: 3, format: "png", width: 320 }),
    expected: `-noaccurate_seek -ss 2.961 -noautorotate -i IN ${graph(`settb=1/120000,tpad=stop_mode=clone:stop_duration=2.961,trim=start=0,${PNG.replace("scale=", "scale=320:180:")},${UNTAGGED}`)} -c:v png -pred mixed ${ONE} ${FILE}`,
  },
  {
    name: "a frame of untagged HD video",
    actual: argsOf(videoSource({ color: { hdr: false } }), "image", { format: "png" }),
    expected: `-noautorotate -i IN ${graph(`setparams=colorspace=bt709,format=rgb24,setsar=1,${UNTAGGED}`)} -c:v png -pred mixed ${ONE} ${FILE}`,
  },
  {
    name: "the first frame",
    actual: argsOf(videoSource(), "image", {}),
    expected: `-noautorotate -i IN ${graph(JPEG)} -c:v mjpeg -q:v 7 ${ONE} ${FILE}`,
  },
  {
    name: "a WebP under a picture of half its opacity, sized in premultiplied RGB",
    actual: argsOf(imageSource(), "image", {
      ...{ format: "webp", width: 40 },
      overlay: { url: "https://example.com/a.png", width: "50%", opacity: 0.5, position: { x: 1, y: 2 } },
    }),
    expected: `-noautorotate -i IN ${graph(`scale=40:30:${STILL}:out_range=pc,format=rgb24,setsar=1[under];[1:v:0]trim=end_frame=1,format=gbrap,premultiply=inplace=1,scale=20:-1:${STILL},unpremultiply=inplace=1,colorchannelmixer=aa=0.5,format=rgba[over];[under][over]overlay=x=1:y=2:format=rgb,scale=${STILL}:out_range=tv:out_color_matrix=bt601,format=yuv420p`)} -c:v libwebp -quality 78 ${ONE} -loop 0 -f webp OUT`,
  },
  {
    name: "a transparent picture, scaled",
    actual: argsOf(imageSource(CLEAR), "image", { width: 40 }),
    expected: `-noautorotate -i IN ${graph(`format=gbrap,premultiply=inplace=1,scale=40:30:${STILL},unpremultiply=inplace=1,scale=${STILL}:out_range=pc,format=rgba,setsar=1,${UNTAGGED}`)} -c:v png -pred mixed ${ONE} ${FILE}`,
  },
  {
    name: "a transparent picture, flattened on its background",
    actual: argsOf(imageSource(CLEAR), "image", {
      format: "jpeg",
      width: 40,
      height: 40,
      background: "#abc",
    }),
    expected: `-noautorotate -i IN ${graph(`format=rgba,split[over][under];[under]lutrgb=r=170:g=187:b=204:a=255[base];[base][over]overlay=format=rgb,scale=40:30:${STILL},format=rgb24,pad=40:40:0:5:0xaabbcc,${JPEG}`)} -c:v mjpeg -q:v 7 ${ONE} ${FILE}`,
  },
  {
    name: "transparent bars around an opaque picture",
    actual: argsOf(imageSource(), "image", { width: 40, height: 40, fit: "contain" }),
    expected: `-noautorotate -i IN ${graph(`scale=40:30:${STILL}:out_range=pc,format=rgba,pad=40:40:0:5:0x00000000,setsar=1,${UNTAGGED}`)} -c:v png -pred mixed ${ONE} ${FILE}`,
  },
  {
    name: "webp",
    actual: argsOf(imageSource(), "image", { format: "webp", quality: "low" }),
    expected: `-noautorotate -i IN ${graph(`scale=${STILL}:out_range=tv:out_color_matrix=bt601,format=yuv420p,setsar=1`)} -c:v libwebp -quality 60 ${ONE} -loop 0 -f webp OUT`,
  },
  {
    name: "transparent webp, by the wasm core",
    actual: argsOf(imageSource(CLEAR), "image", { format: "webp" }, { toolset: WASM_TOOLS }),
    expected: `-noautorotate -threads 1 -i IN ${graph(`scale=${STILL}:out_range=tv:out_color_matrix=bt601,format=yuva420p,setsar=1`)} -c:v libwebp -quality 78 ${ONE} -threads 1 -loop 0 -f webp OUT`,
  },
  {
    name: "gif",
    actual: argsOf(imageSource(), "image", { format: "gif" }),
    expected: `-noautorotate -i IN ${graph(`${PNG},${PALETTE}0:stats_mode=single[palette];[use][palette]paletteuse=new=1`)} -c:v gif ${ONE} -loop 0 -f gif OUT`,
  },
  {
    name: "animated gif",
    actual: argsOf(imageSource(GIF), "image", {}),
    expected: `-noautorotate -i IN ${graph(`${PNG.replace("rgb24", "rgba")},${PALETTE}1:stats_mode=single[palette];[use][palette]paletteuse=new=1:dither=bayer:bayer_scale=4`)} -c:v gif -gifflags -offsetting -fps_mode vfr -enc_time_base 1:1000 ${CLEAN} -loop 0 -f gif OUT`,
  },
  {
    name: "animated webp",
    actual: argsOf(imageSource(GIF), "image", { format: "webp" }),
    expected: `-noautorotate -i IN ${graph(`scale=${STILL}:out_range=tv:out_color_matrix=bt601,format=yuva420p,setsar=1`)} -c:v libwebp_anim -quality 78 -fps_mode vfr -enc_time_base 1:1000 ${CLEAN} -loop 0 -f webp OUT`,
  },
  {
    name: "avif",
    actual: argsOf(imageSource(), "image", { format: "avif" }),
    expected: `-noautorotate -i IN ${graph(`scale=${STILL}:out_range=tv:out_color_matrix=bt601,format=yuv420p,setsar=1,setparams=color_primaries=bt709:color_trc=iec61966-2-1:colorspace=smpte170m`)} -c:v libaom-av1 -still-picture 1 -cpu-used 6 -crf 30 -b:v 0 ${ONE} -f avif OUT`,
  },
  {
    name: "HDR",
    actual: argsOf(videoSource(HDR), "image", { format: "png" }),
    expected: `-noautorotate -i IN ${graph(`${TONE_MAP},${PNG},${UNTAGGED}`)} -c:v png -pred mixed ${ONE} ${FILE}`,
  },
];

test.for(IMAGE)("image: $name", ({ actual, expected }) => {
  expect(actual).toBe(expected);
});

test.for([
  { quality: 40, scale: 21 },
  { quality: 60, scale: 13 },
  { quality: 78, scale: 7 },
  { quality: 87, scale: 4 },
  { quality: 94, scale: 2 },
  { quality: 100, scale: 1 },
  { quality: 1, scale: 31 },
] as const)("maps a JPEG quality of $quality to ffmpeg's $scale", ({ quality, scale }) => {
  expect(jpegScale(quality)).toBe(scale);
});
