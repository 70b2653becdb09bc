import { roundTime } from "../../media/clock.ts";
import { spriteName } from "../../media/ffmpeg/output-files.ts";
import { FORMATS } from "../../media/formats.ts";
import type { EncodeRequest } from "../../media/options.ts";
import { blobOf, storageReader } from "../../storage/readers.ts";
import type { FilmstripPicture } from "../preview.ts";
import * as errors from "./errors.ts";
import type { PreviewTools } from "./preview.ts";
import { openSample, SAMPLE_FOLDER } from "./sample.ts";

/** The input of a filmstrip, and the request for a series of JPEG stills. */
export interface FilmstripRequest {
  url: string;
  request: EncodeRequest;
}

// Above this interval, seeking to each picture is faster than decoding the whole video.
const SEEK_SECONDS = 5;

/**
 * Draws evenly spaced pictures of a video and yields them in order. The host's own decoder draws as many as it can, and an encoder the
 * rest. Rejects with the errors of {@link openSample} and its encodes.
 */
export async function* drawFilmstrip(
  tools: PreviewTools,
  { url, request }: FilmstripRequest,
  signal: AbortSignal,
): AsyncGenerator<FilmstripPicture, void> {
  const stepTools = tools.createTools();
  const sample = await openSample(
    stepTools,
    { url, request, drawable: tools.pictures !== undefined },
    signal,
  );
  const { plan, source, reader, decision } = sample;
  const { image } = plan;
  if (!image?.sheet) throw errors.notSeries();
  const { tiles, interval } = image.sheet;
  const { width, height } = image.geometry;
  const times = Array.from({ length: tiles }, (_, index) => roundTime(plan.start + index * interval));
  const still = { plan, image, source, encoder: decision.encoder };
  const rest = [...times];
  for await (const blob of tools.pictures?.drawEach(still, times, reader, signal) ?? []) {
    const at = rest.shift() ?? 0;
    yield { at, blob, width, height };
  }
  if (rest.length === 0) return;
  if (interval <= SEEK_SECONDS) await sample.encode();
  for (const at of rest) {
    const file =
      interval <= SEEK_SECONDS
        ? await storageReader(stepTools.storage, SAMPLE_FOLDER + spriteName(plan, times.indexOf(at)))
        : (await sample.encode(stillAt(request, at))).reader;
    const blob = new Blob([await blobOf(file, signal)], { type: FORMATS.image.jpeg.mime });
    yield { at, blob, width, height };
  }
}

function stillAt({ kind, options }: EncodeRequest, start: number): EncodeRequest {
  const { count: _, ...one } = Object(options);
  return { kind, options: { ...one, ...(start > 0 && { start }) } } as EncodeRequest;
}
