import { MediaError } from "../../media/errors.ts";
import { type ExtraInput, extraInputs, type InputRole } from "../../media/extra-inputs.ts";
import { dataFileOf, refuseFile } from "../../media/option-groups.ts";
import type { EncodeRequest } from "../../media/options.ts";
import { fileTooLarge, wrongFile } from "../../media/plan-errors.ts";
import type { Source } from "../../media/source.ts";
import { checkTextSize, readTextFile } from "../../subtitles/track.ts";
import type { ByteReader, WorkContext } from "../ports.ts";
import * as errors from "./errors.ts";
import { reportWaiting, runIngest } from "./inputs.ts";
import { extraInputKey } from "./media-keys.ts";
import type { ProbeInput, StepTools } from "./step-tools.ts";

type ProbeTools = Pick<StepTools, "max_seconds" | "probe">;
type IngestTools = ProbeTools & Pick<StepTools, "storage" | "inputs" | "open" | "url">;

/** Copies the extra inputs of a request into the run's folder, and returns each as probed. */
export type IngestExtra = (request: EncodeRequest, context: WorkContext) => Promise<readonly Source[]>;

/**
 * Creates the function that ingests extra inputs under the rules of the main input: each in a durable piece, once per run. It
 * rejects as the main input's ingest does, and names the option in the message.
 */
export function createExtraIngest(tools: IngestTools): IngestExtra {
  const { storage, inputs } = tools;
  let pending: Promise<readonly Source[]> | null = null;

  async function ingest({ role, url }: ExtraInput, at: number, context: WorkContext, signal: AbortSignal) {
    const key = extraInputKey(context.run_id, at);
    const onWait = reportWaiting(context);
    const stored = await storage.head(key);
    const data = dataReaderOf(role);
    const checkSize = data?.checkSize ?? (() => {});
    const info =
      stored ??
      (await runIngest({
        async open() {
          const { file } = await inputs.open(url, signal);
          try {
            checkSize(file.size ?? 0);
          } catch (thrown) {
            await file.close();
            throw thrown;
          }
          return file;
        },
        storage,
        key,
        signal,
        async progress(received) {
          checkSize(received);
          await onWait();
        },
      }));
    checkSize(info.size);
    const reader = await tools.open(key);
    if (data) {
      const format = await data.readFormat(reader, signal);
      return {
        object: "source",
        url: await tools.url(key),
        kind: "data",
        format,
        filesize: info.size,
      } as const;
    }
    const file = { url, ...(info.mime && { mime: info.mime }) };
    const source = await probeExtraInput(tools, { role, reader, file, signal, onWait });
    return { ...source, url: await tools.url(key), filesize: info.size };
  }

  async function ingestAll(request: EncodeRequest, context: WorkContext): Promise<Source[]> {
    const sources: Source[] = [];
    for (const [at, input] of extraInputs(request).entries()) {
      sources.push(
        await context.durably(`further ${at}`, async (signal) => {
          try {
            return await ingest(input, at, context, signal);
          } catch (thrown) {
            signal.throwIfAborted();
            throw withParam(input.param, thrown);
          }
        }),
      );
    }
    return sources;
  }

  return (request, context) => {
    pending ??= ingestAll(request, context);
    return pending;
  };
}

/** Checks a file that is not media. */
interface DataReader {
  checkSize(bytes: number): void;
  readFormat(reader: ByteReader, signal: AbortSignal): Promise<string>;
}

const SUBTITLES: DataReader = {
  checkSize: checkTextSize,
  readFormat: async (reader, signal) => (await readTextFile(reader, signal)).format,
};

function dataReaderOf(role: InputRole): DataReader | null {
  if (role === "subtitles") return SUBTITLES;
  const file = dataFileOf(role);
  if (!file) return null;
  return {
    checkSize(bytes) {
      if (bytes > file.maxBytes) throw fileTooLarge(file);
    },
    async readFormat(reader, signal) {
      const head = await reader.read(
        { start: 0, end: Math.min(file.head ?? reader.size, reader.size) },
        signal,
      );
      const format = file.formatOf(head);
      if (format === null) throw wrongFile(file);
      return format;
    },
  };
}

/** Probes an extra input; rejects when it is too long or unsuitable for its role. */
export async function probeExtraInput(
  tools: ProbeTools,
  input: { role: InputRole; reader: ByteReader; file: ProbeInput; signal: AbortSignal; onWait: () => void },
): Promise<Source> {
  const { role, reader, file, signal, onWait } = input;
  const source = await tools.probe(reader, file, signal, onWait);
  const seconds = mediaSeconds(source);
  const { max_seconds: maxSeconds } = tools;
  if (seconds > maxSeconds) throw errors.extraInputTooLong({ seconds, maxSeconds });
  const error = refuseFile(role, source);
  if (error) throw error;
  return source;
}

const MAX_OVERRUN = 60;

/**
 * Returns the duration of a source in seconds, 0 when unknown: the stated one, or the end of its last stream if that is much later,
 * because the output is padded up to there.
 */
export function mediaSeconds({ duration = 0, streams = [] }: Source): number {
  return Math.max(duration, ...streams.map(({ end = 0 }) => (end > duration + MAX_OVERRUN ? end : 0)));
}

/** Prefixes the error of an extra input with its option; returns any other thrown value unchanged. */
export function withParam(param: string, thrown: unknown): unknown {
  return thrown instanceof MediaError ? errors.ofOption({ param, error: thrown }) : thrown;
}
