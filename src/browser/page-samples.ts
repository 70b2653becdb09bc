import type {
  FilmstripOptions,
  FilmstripPicture,
  NewPreview,
  NewSample,
  OutputEstimate,
  Preview,
  PreviewOptions,
  ReadOptions,
} from "../client/client.ts";
import * as clientErrors from "../client/errors.ts";
import { readInput } from "../client/media-input.ts";
import { isMoment, isView } from "../client/methods.ts";
import { untilAborted } from "../util/async.ts";
import type { MediaApi } from "./media-api.ts";

/** Creates the methods that request samples from the media worker; `checkOpen` throws once the client is closed. */
export function createPageSamples(api: MediaApi, checkOpen: () => void) {
  async function prepareSample({ input, kind, options }: NewSample, signal: AbortSignal | undefined) {
    signal?.throwIfAborted();
    checkOpen();
    return readInput("task", { input, kind, ...(options && { options }) });
  }

  async function* estimate(
    sample: NewSample,
    { signal }: ReadOptions = {},
  ): AsyncGenerator<OutputEstimate, void> {
    const { request, file, extra } = await prepareSample(sample, signal);
    yield* eachResult((id) => api.estimate(id, request, file, extra), api.refine, signal);
  }

  /** Starts a sample in the worker, yields its results until there are no more, and ends it. */
  async function* eachResult<T>(
    start: (id: string) => Promise<void>,
    read: (id: string) => Promise<T | null>,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<T, void> {
    const id = crypto.randomUUID();
    try {
      await untilAborted(start(id), signal);
      for (;;) {
        const result = await untilAborted(read(id), signal);
        if (result === null) return;
        yield result;
      }
    } finally {
      api.endSample(id).catch(() => {});
    }
  }

  let previewing: AbortController | null = null;

  async function preview(
    { at, view, ...sample }: NewPreview,
    { signal, onPart }: PreviewOptions = {},
  ): Promise<Preview> {
    const own = new AbortController();
    previewing?.abort(clientErrors.previewReplaced());
    previewing = own;
    const either = signal ? AbortSignal.any([signal, own.signal]) : own.signal;
    const id = crypto.randomUUID();
    try {
      const { request, file, extra } = await prepareSample(sample, either);
      if (at !== undefined && !isMoment(at)) throw clientErrors.momentInvalid();
      if (view && !isView(view)) throw clientErrors.viewInvalid();
      const moment = { ...(at !== undefined && { at }), ...(view && onPart && { view }) };
      await untilAborted(api.preview(id, request, moment, file, extra), either);
      for (;;) {
        const update = await untilAborted(api.show(id), either);
        if ("whole" in update) return update.whole;
        onPart?.(update.part);
      }
    } finally {
      api.endSample(id).catch(() => {});
      if (previewing === own) previewing = null;
    }
  }

  async function* filmstrip(
    input: NewSample["input"],
    { signal, ...options }: FilmstripOptions = {},
  ): AsyncGenerator<FilmstripPicture, void> {
    const { filmstripRequest } = await import("../client/filmstrip.ts");
    const { request, file } = await prepareSample(filmstripRequest(input, options), signal);
    yield* eachResult((id) => api.filmstrip(id, request, file), api.nextPicture, signal);
  }

  return { estimate, preview, filmstrip };
}
