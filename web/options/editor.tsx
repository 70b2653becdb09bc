import { useId, useRef, useState } from "preact/hooks";
import {
  ANIMATION_DEFAULTS,
  type EncodeKind,
  type Forecast,
  type MediaInput,
  type Source,
} from "../../src/index.ts";
import { quality as qualityGroup } from "../../src/media/features/rate.ts";
import { optionNames } from "../../src/media/option-groups.ts";
import { jobAt } from "../home/jobs.ts";
import type { Item, Place, Settings } from "../queue/item.ts";
import { awaitCopy, stateOf } from "../queue/queue.ts";
import { Moment } from "../trim/moment.tsx";
import { type Range, Trim } from "../trim/trim.tsx";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/notice.tsx";
import { Segments } from "../ui/segments.tsx";
import { SizeBar } from "../ui/size-bar.tsx";
import { codecName, formatName } from "../words/names.ts";
import { bytes, clock } from "../words/quantities.ts";
import { useWorkbench } from "../workbench.ts";
import type { AnyOptions } from "./choices.ts";
import {
  ConcatFields,
  FontFields,
  OverlayFields,
  PartFields,
  SubtitleFields,
  TextFields,
} from "./extra-input-fields.tsx";
import { type Form, OptionField, OptionFields, useForm } from "./form.tsx";
import { FitFields, SizeFields, TurnFields } from "./geometry-fields.tsx";
import { FormatFields, StillsFields, StoryboardFields, WaveformFields } from "./kind-fields.tsx";
import { ownPresets, PresetBar } from "./preset-bar.tsx";
import { PRESETS, sameFor } from "./presets.ts";
import { Preview } from "./preview.tsx";
import { RateFields } from "./rate-fields.tsx";
import { SoundFields } from "./sound-fields.tsx";
import * as strings from "./strings.ts";
import "./editor.css";

const NO_PICTURES: ReadonlySet<EncodeKind> = new Set(["audio", "waveform", "storyboard"]);
const HAS_SOUND: ReadonlySet<EncodeKind> = new Set(["video", "audio", "adaptive_video"]);
const HAS_TEXT: ReadonlySet<EncodeKind> = new Set(["video", "adaptive_video"]);

/** The editor of a ready item: options, presets, a preview and, where it makes sense, a trim. */
export function Editor({ item }: { item: Item }) {
  return item.source && <EditorOf item={item} source={item.source} />;
}

function EditorOf({ item, source }: { item: Item; source: Source }) {
  const form = useForm(item, source);
  const { settings, options, verdict } = form;
  const last = useRef(verdict.forecast);
  if (verdict.forecast) last.current = verdict.forecast;
  const hasPictures = source.kind !== "audio" && !NO_PICTURES.has(settings.kind);
  const isJoinable = source.kind === "video" && settings.kind === "video";
  const hasSubtitles = source.kind === "video" && HAS_TEXT.has(settings.kind);
  const first = item.job ? (jobAt(item.job)?.part ?? null) : null;
  const times = <Times input={item.input} form={form} />;
  const size = hasPictures && (
    <>
      <TurnFields form={form} />
      <SizeFields form={form} />
    </>
  );
  const subtitles = hasSubtitles && <SubtitleFields form={form} />;
  const concat = isJoinable && <ConcatFields form={form} />;
  return (
    <section class="editor" aria-label={strings.optionsOf({ name: item.name })}>
      {first === "times" && times}
      <PresetBar form={form} />
      <div class="choices">
        <div class="form">
          {first === "size" && size}
          {first === "subtitles" && subtitles}
          {first === "concat" && concat}
          <FormatFields form={form} />
          {settings.kind === "image" && source.kind === "video" && <StillsFields form={form} />}
          {settings.kind === "storyboard" && <StoryboardFields form={form} />}
          {settings.kind === "waveform" ? <WaveformFields form={form} /> : <RateFields form={form} />}
          {first !== "size" && size}
          {hasPictures && <FitFields form={form} />}
          {(settings.kind === "video" || settings.kind === "animation") && <FrameRate form={form} />}
          {settings.kind === "animation" && <OptionField form={form} name="loop" />}
          <OptionFields form={form} />
          {(settings.kind === "video" || settings.kind === "image") && <OverlayFields form={form} />}
          {optionNames(settings.kind).includes("text") && <TextFields form={form} />}
          {first !== "subtitles" && subtitles}
          {optionNames(settings.kind).includes("fonts") && <FontFields form={form} />}
          {first !== "concat" && concat}
          {optionNames(settings.kind).includes("parts") && <PartFields form={form} />}
          {HAS_SOUND.has(settings.kind) && <SoundFields form={form} />}
          {(settings.kind === "video" || settings.kind === "audio") && (
            <OptionField form={form} name="metadata" />
          )}
          <PlaceField form={form} />
        </div>
        <div class="aside">
          {last.current && (
            <Preview
              input={item.input}
              source={source}
              thumbnail={item.thumbnail}
              options={options}
              forecast={last.current}
            />
          )}
          <Outcome form={form} />
          <ApplyToAll item={item} form={form} />
        </div>
      </div>
      {first !== "times" && times}
      <Start item={item} />
    </section>
  );
}

function Start({ item }: { item: Item }) {
  const { queue } = useWorkbench();
  const { id, settings } = item;
  const why = useId();
  return (
    <div class="row end">
      {settings.fault && (
        <span class="fault small" id={why}>
          {settings.fault.message}
        </span>
      )}
      <button
        type="button"
        onClick={({ detail }) => {
          if (detail > 1) return;
          awaitCopy(item);
          queue.again(id);
        }}
      >
        <Icon name="copy" />
        {strings.anotherOutput}
      </button>
      <button
        type="button"
        class="primary"
        disabled={Boolean(settings.fault)}
        aria-describedby={settings.fault ? why : undefined}
        onClick={({ currentTarget }) => {
          currentTarget.closest("article")?.scrollIntoView();
          void queue.start([id]);
        }}
      >
        {strings.convertFile}
      </button>
    </div>
  );
}

function FrameRate({ form }: { form: Form }) {
  const { source, settings } = form;
  const original =
    source.fps === undefined
      ? strings.original
      : strings.originalRate({ fps: Number(source.fps.toFixed(2)) });
  const slower = Math.min(ANIMATION_DEFAULTS.fps, source.fps ?? ANIMATION_DEFAULTS.fps);
  const isSlowed = settings.kind === "animation" && source.kind === "video";
  return (
    <OptionField form={form} name="fps" empty={isSlowed ? String(Number(slower.toFixed(2))) : original} />
  );
}

function Times({ input, form }: { input: MediaInput | null; form: Form }) {
  const { source, settings, options } = form;
  if (!source.duration || !input || options.parts) return null;
  if (settings.kind === "image" && source.kind === "image") return null;
  const change = (times: Range) => {
    form.update((now) => {
      const { start: _start, end: _end, ...rest } = now.options as AnyOptions;
      return { ...now, options: { ...rest, ...times } as typeof now.options };
    });
  };
  const { start, end } = options;
  return (
    <div class="times">
      {settings.kind === "image" ? (
        <Moment
          input={input}
          source={source}
          time={start}
          onChange={(time) => change(time === undefined ? {} : { start: time })}
        />
      ) : (
        <Trim
          input={input}
          source={source}
          range={{ ...(start !== undefined && { start }), ...(end !== undefined && { end }) }}
          onChange={change}
        />
      )}
    </div>
  );
}

function Outcome({ form: { settings, options, source, verdict } }: { form: Form }) {
  const { fault, forecast, lowered } = verdict;
  if (fault) return <Notice tone="bad">{fault.message}</Notice>;
  const size = sizeWords(forecast, settings.target_size, source.filesize);
  return (
    <>
      <div class="outcome" role="status">
        <p>
          <strong>{whatItIs(forecast, settings.kind, options.codec)}</strong>
        </p>
        {size && <p class="soft small">{size}</p>}
        {forecast.bytes !== null && source.filesize && (
          <SizeBar before={source.filesize} after={forecast.bytes} />
        )}
        {lowered && <p class="small">{lowered}</p>}
        {forecast.quality !== null && <p class="soft small">{qualityWords(forecast.quality)}</p>}
        {forecast.renditions.length > 0 && (
          <p class="soft small">{strings.streams({ sides: forecast.renditions })}</p>
        )}
      </div>
      {forecast.enlarged && <Notice tone="warn">{strings.enlarged}</Notice>}
    </>
  );
}

function whatItIs(
  { format, pictures, width, height, duration }: Forecast,
  kind: string,
  codec?: string,
): string {
  const name = formatName(format);
  return [
    kind === "video" && codec ? `${name} (${codecName(codec)})` : name,
    pictures !== null && strings.pictureCount({ count: pictures }),
    width && height && `${width} × ${height}`,
    duration !== null && clock(duration, duration < 60),
  ]
    .filter(Boolean)
    .join(" · ");
}

function sizeWords(forecast: Forecast, target: number | null, now: number | undefined): string | null {
  if (forecast.bytes === null) return strings.sizeDepends;
  return strings.sizeForecast({
    size: bytes(forecast.bytes),
    limit: target === null ? null : bytes(target),
    now: now ? bytes(now) : null,
  });
}

function qualityWords(quality: NonNullable<Forecast["quality"]>): string {
  if (quality === "poor") {
    return strings.poorQuality;
  }
  return strings.expectedQuality({
    quality: qualityGroup.options.quality.words.choice?.(quality) ?? quality,
  });
}

const PLACES = [
  { value: "device", label: strings.device },
  { value: "edge", label: strings.edge },
] as const;

function PlaceField({ form: { settings, update } }: { form: Form }) {
  const connection = useWorkbench().edge.connection.value;
  if (!connection && settings.place === "device") {
    return (
      <p class="soft small">
        {strings.runsOnDevice} <a href="#/edge">{strings.connectService}</a> {strings.toRunItThere}
      </p>
    );
  }
  const host = connection && URL.parse(connection.base_url)?.host;
  return (
    <Segments<Place>
      label={strings.where}
      choices={PLACES}
      value={settings.place}
      onChange={(place) => update((now) => ({ ...now, place }))}
      hint={settings.place === "device" ? strings.fileStays : strings.fileIsSent({ host })}
      fault={settings.place === "edge" && !connection ? strings.noService : null}
    />
  );
}

function ApplyToAll({ item, form: { source, settings } }: { item: Item; form: Form }) {
  const { queue } = useWorkbench();
  const [used, setUsed] = useState<{ settings: Settings; words: string } | null>(null);
  const others = queue.items.value.filter(
    (other) => other.id !== item.id && stateOf(other) === "ready" && other.source?.kind === source.kind,
  );
  if (others.length === 0) return null;
  const apply = () => {
    const misfits: string[] = [];
    for (const other of others) {
      if (!other.source) continue;
      const same = sameFor(settings, [...PRESETS, ...ownPresets.value], { ...other, source: other.source });
      queue.configure(other.id, same);
      if (same.fault) misfits.push(other.name);
    }
    setUsed({ settings, words: usedWords(others.length, misfits) });
  };
  return (
    <div class="apply">
      <button type="button" onClick={apply}>
        <Icon name="copy" />
        {strings.useForAll({ count: others.length + 1 })}
      </button>
      <p class="soft small" role="status">
        {used?.settings === settings && used.words}
      </p>
    </div>
  );
}

function usedWords(count: number, misfits: readonly string[]): string {
  const [name] = misfits;
  const applied = strings.applied({ count });
  return name === undefined
    ? applied
    : `${applied} ${strings.optionsDoNotFit({ name, others: misfits.length - 1 })}`;
}
