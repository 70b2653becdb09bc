import type { InputVideoTrack } from "mediabunny";
import type { Source, SourceColor } from "../core/source.ts";
import { displayedSize } from "../plan/size.ts";
import { bytesOf } from "../util/bytes.ts";
import { colorName } from "./names.ts";
import { type Pixels, readPixels } from "./pixel-format.ts";

/** The fields of a Source about its pictures, and whether they suffice for planning. */
export interface PictureFacts {
  facts: Partial<Source>;
  complete: boolean;
}

/** Returns what a video track's headers say about its pictures; `fps` is their average rate, where known. */
export async function pictureFacts(video: InputVideoTrack, fps: number | undefined): Promise<PictureFacts> {
  const [coded_width, coded_height] = [await video.getCodedWidth(), await video.getCodedHeight()];
  const { num, den } = await video.getPixelAspectRatio();
  const rotation = await video.getRotation();
  const stored = { width: coded_width, height: coded_height, pixel_aspect: num / den, rotate: rotation };
  const color = await video.getColorSpace();
  const config = await video.getDecoderConfig();
  const pixels = readPixels({
    codec: await video.getCodec(),
    parameters: await video.getCodecParameterString(),
    description: config?.description ? bytesOf(config.description) : null,
    full_range: color.fullRange === true,
  });
  const facts: Partial<Source> = {
    ...displayedSize(stored),
    coded_width,
    coded_height,
    sample_aspect_ratio: `${num}:${den}`,
    rotation,
    ...(fps ? { fps: Math.round(fps * 1e4) / 1e4 } : {}),
    has_alpha: await video.canBeTransparent(),
    color: colorFacts(color, await video.hasHighDynamicRange(), pixels),
    ...(pixels ? { pixel_format: pixels.pixel_format } : {}),
    ...(pixels?.interlaced == null ? {} : { interlaced: pixels.interlaced }),
  };
  return { facts, complete: pixels !== null && pixels.interlaced !== null };
}

function colorFacts(color: VideoColorSpaceInit, hdr: boolean, pixels: Pixels | null): SourceColor {
  const { primaries, transfer, matrix, fullRange } = color;
  return {
    ...(primaries ? { primaries: colorName(primaries) } : {}),
    ...(transfer ? { transfer: colorName(transfer) } : {}),
    ...(matrix ? { space: colorName(matrix) } : {}),
    ...(fullRange == null ? {} : { range: fullRange ? "full" : "limited" }),
    ...(pixels ? { bit_depth: pixels.bit_depth } : {}),
    hdr,
  };
}
