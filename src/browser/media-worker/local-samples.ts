import { nameOf, openFile } from "../../client/media-input.ts";
import { importContentKey } from "../../encoders/run/encrypt-segments.ts";
import { keyIn, parseBlock } from "../../media/features/encryption.ts";
import type { EncodeRequest } from "../../media/options.ts";
import type { FilmstripPicture, OutputEstimate, Preview, PreviewPart } from "../../runs/samples.ts";
import { estimateOutput } from "../../runs/steps/estimate.ts";
import { extraInputKey } from "../../runs/steps/media-keys.ts";
import { drawFilmstrip, previewOutput } from "../../runs/steps/preview.ts";
import { openSample, SAMPLE } from "../../runs/steps/sample.ts";
import * as errors from "../errors.ts";
import type { LocalFile, MediaApi, PreviewMoment } from "../media-api.ts";
import { fileUrl, findLocalInput, numberExtraFiles } from "./local-files.ts";
import { createLocalPictures } from "./local-pictures.ts";
import { type LocalRules, parseLocalTask } from "./local-requests.ts";
import { createSampleTools, type SampleWorkTools } from "./run-work.ts";

interface OpenSampling {
  stop: AbortController;
  estimates?: AsyncGenerator<OutputEstimate, void>;
  previews?: AsyncGenerator<PreviewPart, Preview>;
  pictures?: AsyncGenerator<FilmstripPicture, void>;
}

/** The methods of the media worker that encode parts of an input without a record. */
export type LocalSamples = Pick<
  MediaApi,
  "estimate" | "refine" | "preview" | "show" | "filmstrip" | "nextPicture" | "endSample"
>;

/** Creates the {@link LocalSamples}; nothing that they encode is stored. */
export function createLocalSamples(tools: SampleWorkTools, rules: LocalRules): LocalSamples {
  const open = new Map<string, OpenSampling>();
  let fetched: { url: string; blob: Blob } | null = null;

  /** Parses a request; returns it with a function that creates the tools for each sample. */
  async function readRequest(body: unknown, file: LocalFile | null, extra: ReadonlyMap<string, LocalFile>) {
    const { request: numbered, files: extraFiles } = numberExtraFiles(body, extra);
    const local = await findLocalInput(numbered, file, tools.urls);
    const url = local && (local.url ?? fileUrl(file ? nameOf(file) : ""));
    const { input, kind, options } = parseLocalTask(numbered, url, rules);
    const content_key = await readKey(numbered);
    const files = new Map<string, Blob>();
    for (const [at, each] of extraFiles) files.set(extraInputKey(SAMPLE, at), await openFile(each));
    const own = local?.file ? await openFile(local.file) : null;
    const blob = own ?? (fetched?.url === input ? fetched.blob : null);
    const onFetch = (bytes: Blob) => {
      fetched = { url: input, blob: bytes };
    };
    return {
      url: input,
      request: { kind, options } as EncodeRequest,
      createTools: () => createSampleTools(tools, { input, blob, extra: files, content_key, onFetch }),
    };
  }

  // Reading starts with the first estimate: before that, nobody would handle its failure.
  async function* estimates(read: () => ReturnType<typeof readRequest>, signal: AbortSignal) {
    const { createTools, ...request } = await read();
    yield* estimateOutput(await openSample(createTools(), request, signal));
  }

  async function* previews(
    reading: ReturnType<typeof readRequest>,
    moment: PreviewMoment,
    signal: AbortSignal,
  ): AsyncGenerator<PreviewPart, Preview> {
    const { createTools, ...request } = await reading;
    const { close, ...pictures } = createLocalPictures();
    signal.addEventListener("abort", close, { once: true });
    return yield* previewOutput({ createTools, pictures }, { ...request, ...moment }, signal);
  }

  async function* filmstrip(read: () => ReturnType<typeof readRequest>, signal: AbortSignal) {
    const { createTools, ...request } = await read();
    yield* drawFilmstrip({ createTools, pictures: createLocalPictures() }, request, signal);
  }

  return {
    async estimate(id, body, file, extra) {
      const stop = new AbortController();
      open.set(id, { stop, estimates: estimates(() => readRequest(body, file, extra), stop.signal) });
    },
    async refine(id) {
      const sampling = open.get(id);
      if (!sampling?.estimates) return null;
      const { value } = await unlessEnded(sampling, sampling.estimates.next());
      return value ?? null;
    },
    async preview(id, body, moment, file, extra) {
      const stop = new AbortController();
      open.set(id, { stop, previews: previews(readRequest(body, file, extra), moment, stop.signal) });
    },
    async show(id) {
      const sampling = open.get(id);
      if (!sampling?.previews) throw errors.sampleEnded();
      const next = await unlessEnded(sampling, sampling.previews.next());
      if (!next.value) throw errors.sampleEnded();
      return next.done ? { whole: next.value } : { part: next.value };
    },
    async filmstrip(id, body, file) {
      const stop = new AbortController();
      open.set(id, { stop, pictures: filmstrip(() => readRequest(body, file, new Map()), stop.signal) });
    },
    async nextPicture(id) {
      const sampling = open.get(id);
      if (!sampling?.pictures) throw errors.sampleEnded();
      return (await unlessEnded(sampling, sampling.pictures.next())).value ?? null;
    },
    async endSample(id) {
      const { stop, pictures } = open.get(id) ?? {};
      open.delete(id);
      stop?.abort(errors.sampleEnded());
      // A filmstrip that waits for the next call still holds decoded pictures.
      await pictures?.return().catch(() => {});
    },
  };
}

/** Resolves like `next`; once the sample has ended, it rejects with that reason, not with the error of a read that the end broke off. */
async function unlessEnded<T>({ stop }: OpenSampling, next: Promise<T>): Promise<T> {
  try {
    return await next;
  } catch (thrown) {
    stop.signal.throwIfAborted();
    throw thrown;
  }
}

async function readKey(request: unknown): Promise<CryptoKey | null> {
  const key = keyIn(request);
  return key === null ? null : importContentKey(parseBlock(key));
}
