import { endAnimation, needsEnd } from "../../src/encoders/images/animation.ts";
import { withPalette } from "../../src/encoders/images/png.ts";
import type { LightEncoder } from "../../src/encoders/light/light.ts";
import { LIGHT_INPUT, refuseScans } from "../../src/encoders/light/light-estimate.ts";
import type { PictureEncoder } from "../../src/encoders/native/native-picture.ts";
import { MAX_PICTURE_BYTES } from "../../src/encoders/native/native-wire.ts";
import { pictureFormat } from "../../src/media/containers.ts";
import { findTruncatedFile } from "../../src/media/features/partial.ts";
import { shrinkPlan } from "../../src/media/ffmpeg/image-graph.ts";
import { FORMATS, type ImageFormat } from "../../src/media/formats.ts";
import type { ImageUrlOptions } from "../../src/media/image-url.ts";
import { createPlan, listDropped, type Plan } from "../../src/media/index.ts";
import type { ImageOptions } from "../../src/media/options.ts";
import { pictureSize } from "../../src/media/plan.ts";
import type { RefusalReason } from "../../src/media/refusal.ts";
import { choosePictureEncoder } from "../../src/media/route.ts";
import type { Dropped, Source } from "../../src/media/source.ts";
import { probeMedia } from "../../src/probe/probe.ts";
import * as errors from "../errors.ts";
import { createByteBudget } from "./byte-budget.ts";
import type { ImageJob } from "./image.ts";
import type { ImageInput } from "./image-source.ts";

/** An encoded picture. */
export interface EncodedImage {
  bytes: Uint8Array<ArrayBuffer>;
  mime: string;
  /** The parts of the source that the picture lacks. */
  dropped: Dropped[];
}

/** The encoders of pictures. */
export interface ImageEncoders {
  light: LightEncoder;
  /** The native encoders; null when none are configured. */
  native: PictureEncoder | null;
}

const memory = createByteBudget(MAX_PICTURE_BYTES, 10_000);
const PIXEL_BYTES = 4;

/**
 * Encodes a picture for a project on the light encoder, or on a native one if it is too large for that. Rejects with `input_unsupported`
 * unless the input is a picture, with the errors of `createPlan`, with `encoder_unavailable` if the picture is too large for both, and
 * with `service_unavailable` while all native encoders are busy or other pictures take all memory.
 */
export async function encodeImage(
  { reader: input, bytes }: ImageInput,
  { options, auto }: ImageJob,
  { light, native }: ImageEncoders,
  { project: lane, signal }: { project: string; signal: AbortSignal },
): Promise<EncodedImage> {
  const source = await probeMedia(
    input,
    { url: "https://image.invalid/" },
    (reader, until) => light.probe(reader, until),
    signal,
  );
  if (source.kind !== "image") throw errors.notAPicture();
  const cut = findTruncatedFile(source, {}, []);
  if (cut) throw errors.imageCutOff(cut);
  const { format: choice, quality, ...frame } = options;
  const preset = typeof quality === "string" ? { quality } : {};
  const format = choice === "auto" ? (auto ?? plainFormat(source)) : choice;
  const request: ImageOptions = { ...frame, ...preset, ...(format !== undefined && { format }) };
  const plan = withQuality(createPlan(source, "image", request), quality);
  const small = withLowEffort(shrinkPlan(plan, source));
  await light.prepare();
  const refusal = bytes ? (light.refuse(small, source) ?? refuseScans(bytes, source)) : tooLarge(input.size);
  if (refusal) await native?.prepare(plan);
  const encoder = choosePictureEncoder({
    plan,
    source,
    light: refusal,
    native: native ? native.refuse(plan, source) : { code: "not_configured" },
  });
  const [chunk] = plan.chunks;
  if (!chunk) throw errors.noPicturePlanned();
  const { mime } = FORMATS.image[plan.format as ImageFormat];
  const dropped = listDropped(plan, source);
  return memory.hold(pictureBytes(plan), signal, async () => {
    if (native && encoder === "native") {
      const encoded = await native.encode({ plan, chunk, source, input, lane, signal });
      return { bytes: await finish(encoded, plan, input.size), mime, dropped };
    }
    const [file] = await light.encode({ plan: small, chunk, source, input, signal });
    if (!file) throw errors.noPictureWritten();
    return { bytes: await finish(Uint8Array.from(file.bytes), plan, input.size), mime, dropped };
  });
}

async function finish(
  bytes: Uint8Array<ArrayBuffer>,
  plan: Plan,
  sourceBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  if (pictureFormat(plan.format).palette === "smaller" && bytes.length > sourceBytes)
    return (await withPalette(bytes)) ?? bytes;
  if (!needsEnd(plan)) return bytes;
  const { stream } = endAnimation(plan.format, plan.duration ?? 0, plan.image?.motion?.loop);
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

// At 2, files are 2 % larger than at libwebp's default of 4, but take half the time (bench image-url-vs-ipx).
const EFFORT = 2;

function withLowEffort(plan: Plan): Plan {
  return plan.image ? { ...plan, image: { ...plan.image, effort: EFFORT } } : plan;
}

function tooLarge(needed_bytes: number): RefusalReason {
  return { code: "memory", needed_bytes, available_bytes: LIGHT_INPUT.image };
}

function pictureBytes({ image, frames }: Plan): number {
  if (!image) return 0;
  const { width, height } = pictureSize(image);
  return width * height * PIXEL_BYTES * (frames ?? 1);
}

function plainFormat({ animated, has_alpha }: Source): ImageFormat {
  if (animated) return "gif";
  return has_alpha ? "png" : "jpeg";
}

function withQuality(plan: Plan, quality: ImageUrlOptions["quality"]): Plan {
  const { image } = plan;
  if (typeof quality !== "number" || !image || image.quality === null) return plan;
  const { worst_quality: worst } = pictureFormat(plan.format);
  const own = worst === undefined ? quality : Math.round((worst * (100 - quality)) / 100);
  return { ...plan, image: { ...image, quality: own } };
}
