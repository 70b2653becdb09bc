import { readPlaceholder } from "../../encoders/images/placeholder.ts";
import { MediaError } from "../../media/errors.ts";
import { extraInputs } from "../../media/extra-inputs.ts";
import { listDropped } from "../../media/index.ts";
import type { EncodeRequest, ProbeOptions } from "../../media/options.ts";
import { constantFps, type Plan } from "../../media/plan.ts";
import type { Counts, Source } from "../../media/source.ts";
import { measureWhole } from "../../probe/probe.ts";
import { throttle } from "../../util/async.ts";
import type { ByteReader, StepContext, StepWork } from "../ports.ts";
import { describeSprites, describeStream, describeWaveform, placeholderRequest } from "./describe.ts";
import { createDecide, encodeInput } from "./encode.ts";
import { createFurtherIngest, longest } from "./extra-inputs.ts";
import { alone, type OpenInput, runIngest } from "./inputs.ts";
import { runFolder, sourceKey } from "./media-keys.ts";
import { checkParts } from "./parts.ts";
import type { StepTools } from "./step-tools.ts";
import { uploadOutput } from "./upload.ts";

/**
 * Creates the work of a run's steps, the same on every host. `request` is what its task asks for; null for a standalone
 * step, whose input comes from outside and is not trusted.
 */
export function createStepWork(tools: StepTools, request: EncodeRequest | null): StepWork {
  const { storage, inputs } = tools;
  const standalone = request === null;
  const ingestFurther = createFurtherIngest(tools);
  const decide = createDecide(tools);
  const shared = tools.shared ?? null;
  const inputKey = (run_id: string) => sourceKey(shared?.id ?? run_id);

  async function copyInput(input: OpenInput, key: string, context: StepContext, signal: AbortSignal) {
    const progress = throttle((received: number, size: number | null) =>
      context.progress(size ? (received / size) * 100 : null),
    );
    try {
      await tools.ensureRoom?.(input.file.size ?? 0);
    } catch (thrown) {
      await input.file.close();
      throw thrown;
    }
    return runIngest({ open: async () => input.file, storage, key, signal, progress });
  }

  // A standalone step reads its input once, and copies what it ingests.
  async function pinInput({ pin }: OpenInput): Promise<boolean> {
    if (standalone || !pin) return false;
    return (await tools.pin?.(pin)) ?? false;
  }

  function probe(
    reader: ByteReader,
    url: string,
    mime: string | null,
    context: StepContext,
    signal: AbortSignal,
  ) {
    // A run that has ended learns that from its signal.
    const onWait = throttle(() => context.progress(null).catch(() => undefined));
    return tools.probe(reader, { url, ...(mime ? { mime } : {}) }, signal, onWait);
  }

  async function probeInput(url: string, context: StepContext, signal: AbortSignal): Promise<Source> {
    const input = await inputs.open(url, signal);
    const key = inputKey(context.run_id);
    try {
      // Of a pinned input, the encode uses what the probe has read.
      const pinned = await pinInput(input);
      const reader = pinned ? await tools.open(key) : input.reader;
      if (reader) {
        const seen = await probe(reader, url, input.mime, context, signal);
        const etag = bareEtag(input);
        return { ...seen, ...(etag && { etag }) };
      }
      // A server without ranges can only be read sequentially, so read it once, into storage.
      await copyInput(input, key, context, signal);
      return await probeStored(key, url, context, signal);
    } finally {
      await input.file.close();
    }
  }

  async function probeStored(
    key: string,
    url: string,
    context: StepContext,
    signal: AbortSignal,
  ): Promise<Source> {
    const info = await storage.head(key);
    return probe(await tools.open(key), url, info?.mime ?? null, context, signal);
  }

  // Its frames are read as those of a task's input are; the picture lasts as long as the run.
  async function lookAt(source: Source, wanted: EncodeRequest, asked: ProbeOptions, context: StepContext) {
    const key = await context.durably("open", async (signal) => {
      checkDuration(source, tools.max_seconds);
      const own = await tools.key(source.url);
      if (own !== null) return own;
      const key = inputKey(context.run_id);
      if (await storage.head(key)) return key;
      const input = await inputs.open(source.url, signal);
      try {
        if (bareEtag(input) !== source.etag || (input.file.size ?? source.filesize) !== source.filesize)
          throw new MediaError("input_changed", CHANGED);
        if (!(input.pin && (await tools.pin?.(input.pin)))) await copyInput(input, key, context, signal);
      } finally {
        await input.file.close();
      }
      return key;
    });
    const out = `${runFolder("work", context.run_id)}placeholder/`;
    const id = `${context.run_id}-look`;
    const encode = { key, source, request: wanted, extra: [], decide, id, out, name: "small" };
    const { encoded } = await encodeInput(tools, encode, context);
    return context.durably("look", async (signal) => {
      const reader = await tools.open(encoded.key);
      return readPlaceholder(await reader.read({ start: 0, end: reader.size }, signal), asked);
    });
  }

  return {
    async probe(url, context) {
      const source = await alone(shared, "probe", context, async (signal, known) => {
        if (known) return known;
        const source = await probeInput(url, context, signal);
        await shared?.keep(source);
        return source;
      });
      const { step } = context;
      const asked: ProbeOptions = step.kind === "probe" ? step.options : {};
      const small = asked.thumbhash || asked.dominant_color ? placeholderRequest(source) : null;
      return small ? { ...source, ...(await lookAt(source, small, asked, context)) } : source;
    },

    async ingest(source, context) {
      checkDuration(source, tools.max_seconds);
      // Fail on impossible requests before copying anything.
      if (request) {
        const seen = await checkParts(tools, { source, key: inputKey(context.run_id), request }, context);
        if (seen) checkSeconds(totalSeconds(source, request, seen), tools.max_seconds);
        const extra = await ingestFurther(request, context);
        checkSeconds(totalSeconds(source, request, extra), tools.max_seconds);
        // Whether videos can be joined by copying is known once all of them are at hand.
        if (!("concat" in request.options && request.options.concat))
          await decide(source, request, { extra }, context);
      }
      return alone(shared, "ingest", context, async (signal, known) => {
        const key = standalone
          ? `${runFolder("out", context.run_id)}${tools.stem}`
          : inputKey(context.run_id);
        // The probe, or another run of the job, may have pinned or copied it already.
        const there = await storage.head(key);
        const info = there ?? (await copyInput(await inputs.open(source.url, signal), key, context, signal));
        // A source that is read again may be another one than that of the probe, whatever its size and ETag say.
        const found = there && !standalone ? (known ?? source) : null;
        const seen = found ?? (await probeStored(key, source.url, context, signal));
        if (!there) await shared?.keep(seen);
        checkDuration(seen, tools.max_seconds);
        // Large raw sound is measured here, where its bytes are at hand.
        const exact = seen.duration_estimated
          ? await measureWhole(seen, await tools.open(key), signal)
          : seen;
        return { ...exact, url: await tools.url(key), filesize: info.size, etag: info.etag };
      });
    },

    async encode(given, wanted, context) {
      const { key, source } = await context.durably("open", async (signal) => {
        const own = await tools.key(given.url);
        const key = own ?? inputKey(context.run_id);
        // It may exist already: from before a restart, or because the host put it there.
        if (own === null && !(await storage.head(key)))
          await copyInput(await inputs.open(given.url, signal), key, context, signal);
        const source = standalone ? await probeStored(key, given.url, context, signal) : given;
        checkDuration(source, tools.max_seconds);
        return { key, source };
      });
      const extra = await ingestFurther(wanted, context);
      checkSeconds(totalSeconds(source, wanted, extra), tools.max_seconds);
      const { plan, choice, encoded } = await encodeInput(
        tools,
        {
          key,
          source,
          request: wanted,
          extra,
          decide,
          id: `${context.run_id}-${standalone ? "encode" : context.step.id}`,
          out: runFolder("out", context.run_id),
          name: tools.stem,
        },
        context,
      );
      return context.durably("inspect", async (signal) => {
        const url = await tools.url(encoded.key);
        const described =
          plan.kind === "adaptive_video"
            ? await describeStream(encoded.key, encoded.size, plan, storage, tools.url)
            : plan.image?.sheet
              ? await describeSprites(encoded.key, encoded.size, plan, storage, tools.url)
              : encoded.waveform
                ? await describeWaveform(encoded.key, encoded.waveform, plan, storage, tools.url)
                : await probeStored(encoded.key, url, context, signal);
        const { options } = wanted;
        const dropped = listDropped(plan, source, "metadata" in options ? options.metadata : undefined);
        const covered = described.streams?.some(({ kind }) => kind === "cover") ?? false;
        // The cover may have been written where it cannot be read back.
        if (plan.cover !== undefined && !covered)
          dropped.push({ kind: "cover", index: plan.cover, reason: "not_supported" });
        for (const index of encoded.lost_subtitles ?? []) {
          const language = plan.subtitles?.find(({ stream }) => stream === index)?.language;
          dropped.push({ kind: "subtitle", index, ...(language && { language }), reason: "not_supported" });
        }
        const { counts } = encoded;
        // Of sound alone, formats state its length after priming, or estimate it.
        const duration = plan.video ? described.duration : (counts.sound?.output ?? described.duration);
        checkSeconds(encodedSeconds(described, plan, counts, source.fps), tools.max_seconds * SLACK + 1);
        const asCopy = "mode" in options && options.mode === "copy" && duration !== undefined && !plan.concat;
        const cut = asCopy && { start: plan.start, end: Number((plan.start + duration).toFixed(6)) };
        const counted = counts.pictures || counts.sound ? { counts } : {};
        return {
          ...described,
          url,
          ...choice,
          ...counted,
          ...(cut && { cut }),
          ...(dropped.length > 0 && { dropped }),
        };
      });
    },

    upload: (source, context) =>
      context.durably("upload", async (signal) => {
        const { destination } = tools;
        let key = await tools.key(source.url);
        if (destination) {
          if (key === null) {
            key = sourceKey(context.run_id);
            await copyInput(await inputs.open(source.url, signal), key, context, signal);
          }
          return uploadOutput(source, key, destination, tools, context, signal);
        }
        const info = key === null ? null : await storage.head(key);
        // The encode has already written complete files to managed storage, so there is nothing to copy.
        if (key === null || !info)
          throw new MediaError("upload_failed", "The encoded file is no longer in storage.");
        return {
          ...source,
          url: await tools.url(key),
          mime: info.mime,
          filesize: source.filesize ?? info.size,
          etag: info.etag,
        };
      }),
  };
}

const CHANGED = "The source changed while it was probed; start again to process what it is now.";

function bareEtag({ file }: OpenInput): string | undefined {
  return file.etag?.replaceAll('"', "") || undefined;
}

// An overlay has a duration too when it is a GIF that moves.
function totalSeconds(source: Source, { options }: EncodeRequest, extra: readonly Source[]): number {
  const parts = extraInputs({ options }).flatMap(({ role }, at) =>
    role === "concat" ? (extra[at] ?? []) : [],
  );
  return parts.reduce((sum, part) => sum + longest(part), longest(source));
}

// An output that was padded at its ends is not too long.
const SLACK = 1.01;

// A header may state less than its file holds: what was encoded is counted.
function encodedSeconds(described: Source, plan: Plan, { sound, pictures }: Counts, rate?: number): number {
  const fps = constantFps(plan) ?? rate ?? null;
  const seconds = [
    described.duration ?? 0,
    sound?.output ?? 0,
    plan.kind === "adaptive_video" && pictures && fps !== null ? pictures.output / fps : 0,
  ];
  return Math.max(...seconds) * (plan.speed ?? 1);
}

function checkDuration(source: Source, most: number): void {
  checkSeconds(longest(source), most);
}

function checkSeconds(seconds: number, most: number): void {
  if (seconds <= most) return;
  const message = `The input lasts ${Math.round(seconds)} seconds; the limit is ${most}.`;
  throw new MediaError("input_too_large", message);
}
