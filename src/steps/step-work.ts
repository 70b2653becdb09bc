import type { Decision } from "../core/choice.ts";
import { MediaError } from "../core/errors.ts";
import type { EncodeRequest } from "../core/options.ts";
import type { ByteReader, StepContext, StepWork } from "../core/ports.ts";
import type { Source } from "../core/source.ts";
import { runEncode } from "../encoders/run/run-encode.ts";
import { createPlan, listDropped } from "../plan/index.ts";
import { measureWhole } from "../probe/probe.ts";
import { runIngest } from "../storage/ingest.ts";
import { describeDecision } from "../words/decision-words.ts";
import { decideEncode, encoderOf, placeCuts, placePlan } from "./decide-encode.ts";
import { describeSheets } from "./describe-sheets.ts";
import { describeStream } from "./describe-stream.ts";
import { describeWaveform } from "./describe-waveform.ts";
import { createBringFurther } from "./further.ts";
import type { OpenInput } from "./inputs.ts";
import { furtherKey, runFolder, sourceKey } from "./media-keys.ts";
import { alone, isCopied, type SharedKnown } from "./shared-input.ts";
import type { StepTools } from "./step-tools.ts";
import { throttle } from "./throttle.ts";
import { uploadOutput } from "./upload-output.ts";

/**
 * Creates the work of a run's steps, the same on every host. `request` is what its task asks for; null for a standalone
 * step, whose input comes from outside and is not trusted.
 */
export function createStepWork(tools: StepTools, request: EncodeRequest | null): StepWork {
  const { storage, inputs } = tools;
  const standalone = request === null;
  const bringFurther = createBringFurther(tools);
  const shared = tools.shared ?? null;
  const inputKey = (run_id: string) => sourceKey(shared?.id ?? run_id);

  async function copyInput(input: OpenInput, key: string, context: StepContext, signal: AbortSignal) {
    const progress = throttle((received: number, size: number | null) =>
      context.progress(size ? (received / size) * 100 : null),
    );
    return runIngest({ open: async () => input.file, storage, key, signal, progress });
  }

  // A standalone step reads its input once, and copies what it ingests.
  async function pinInput({ pin }: OpenInput, known: SharedKnown | null): Promise<boolean> {
    if (standalone || !pin || (known && isCopied(known, pin.size))) return false;
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

  async function probeInput(
    url: string,
    context: StepContext,
    signal: AbortSignal,
    known: SharedKnown | null,
  ): Promise<Source> {
    const input = await inputs.open(url, signal);
    const key = inputKey(context.run_id);
    try {
      // Of a pinned input, the encode uses what the probe has read.
      const pinned = await pinInput(input, known);
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

  async function remoteInput(key: string) {
    const info = await storage.head(key);
    if (!info || !tools.remote) throw new MediaError("media_not_found", `Nothing is stored as ${key}.`);
    return { url: await tools.remote.url(key), size: info.size, etag: info.etag };
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

  // Decided once per source, so that a run continues after a restart as it began. The name includes the source, because a server
  // may send another file than the one probed.
  function decideOnce(
    source: Source,
    wanted: EncodeRequest,
    further: readonly Source[],
    context: StepContext,
  ): Promise<Decision> {
    const { format, filesize, duration } = source;
    return context.durably(`decide ${format} ${filesize} ${duration}`, () =>
      decideEncode(tools, source, wanted, further),
    );
  }

  return {
    probe: (url, context) =>
      alone(shared, "probe", context, async (signal, known) => {
        if (known?.source) return known.source;
        const source = await probeInput(url, context, signal, known);
        await shared?.keep(source);
        return source;
      }),

    async ingest(source, context) {
      checkDuration(source, tools.max_seconds);
      // Fail on impossible requests before copying anything.
      if (request) await decideOnce(source, request, await bringFurther(request, context), context);
      return alone(shared, "ingest", context, async (signal, known) => {
        const key = standalone
          ? `${runFolder("out", context.run_id)}${tools.stem}`
          : inputKey(context.run_id);
        // The probe, or another run of the job, may have pinned or copied it already.
        const there = await storage.head(key);
        const info = there ?? (await copyInput(await inputs.open(source.url, signal), key, context, signal));
        // A source that is read again may be another one than that of the probe, whatever its size and ETag say.
        const found = there && !standalone ? (known?.source ?? source) : null;
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
      const further = await bringFurther(wanted, context);
      const decision = await decideOnce(source, wanted, further, context);
      const chunks = await context.durably("cut", (signal) =>
        placeCuts(tools, source, { ...wanted, further }, decision, () => tools.open(key), signal),
      );
      const plan = placePlan(createPlan(source, wanted.kind, wanted.options, { further }), chunks);
      const furtherKeys = further.map((_, at) => furtherKey(context.run_id, at));
      const content_key = plan.encryption && ((await tools.contentKey?.()) ?? undefined);
      if (plan.encryption && !content_key)
        throw new MediaError("encode_failed", KEY_LOST, { retryable: false });
      const encoder = encoderOf(tools.encoders, decision.encoder);
      const { refusals } = decision;
      const choice = {
        ...{ encoder: encoder.name, reason: describeDecision(decision) },
        ...(refusals.length > 0 && { refusals }),
      };
      await context.chosen(choice);
      const { remote } = tools;
      await tools.turn?.(encoder);
      const encoded = await runEncode({
        ...{ plan, source, encoder, storage, content_key },
        max_in_flight: tools.inFlight(encoder),
        id: `${context.run_id}-${standalone ? "encode" : context.step.id}`,
        input: () => tools.open(key),
        further: () => Promise.all(furtherKeys.map(tools.open)),
        ...(remote && {
          remote: {
            input: () => remoteInput(key),
            further: () => Promise.all(furtherKeys.map(remoteInput)),
            folder: remote.folder,
          },
        }),
        work: `${runFolder("work", context.run_id)}chunks/`,
        out: runFolder("out", context.run_id),
        name: tools.stem,
        durably: context.durably,
        progress: context.progress,
      });
      return context.durably("inspect", async (signal) => {
        const url = await tools.url(encoded.key);
        const described =
          plan.kind === "adaptive_video"
            ? await describeStream(encoded.key, encoded.size, plan, storage, tools.url)
            : plan.image?.sheet
              ? await describeSheets(encoded.key, encoded.size, plan, storage, tools.url)
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
        const { duration } = described;
        const asCopy = "mode" in options && options.mode === "copy" && duration !== undefined;
        const cut = asCopy && { start: plan.start, end: Number((plan.start + duration).toFixed(6)) };
        const { counts } = encoded;
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

const KEY_LOST = "The key of the encryption is no longer stored; create the task again with it.";

function bareEtag({ file }: OpenInput): string | undefined {
  return file.etag?.replaceAll('"', "") || undefined;
}

function checkDuration({ duration }: Source, most: number): void {
  if (duration === undefined || duration <= most) return;
  const message = `The input lasts ${Math.round(duration)} seconds; the limit is ${most}.`;
  throw new MediaError("input_too_large", message);
}
