import { type ComponentChildren, Fragment } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import {
  ANIMATION_DEFAULTS,
  type EncodeKind,
  type Forecast,
  type MediaInput,
  type Source,
} from "../../src/index.ts";
import { quality as qualityGroup } from "../../src/media/features/rate.ts";
import { optionNames } from "../../src/media/option-groups.ts";
import { leave, visit } from "../address.ts";
import { isWide, mayKeepOriginal, middleOf, type Outlook, outlookOf, rangeWords } from "../card/outlook.ts";
import * as cardStrings from "../card/strings.ts";
import { jobAt, type Part } from "../home/jobs.ts";
import type { SizeEstimate } from "../queue/estimates.ts";
import type { Item, Place, Settings } from "../queue/item.ts";
import type { ListState } from "../queue/list-state.ts";
import { stateOf } from "../queue/queue.ts";
import { changeSettings, historyOf, stepHistory } from "../queue/undo.tsx";
import { Moment } from "../trim/moment.tsx";
import { type Range, Trim } from "../trim/trim.tsx";
import { Icon } from "../ui/icon.tsx";
import { Notice } from "../ui/notice.tsx";
import { Segments } from "../ui/segments.tsx";
import { SizeBar } from "../ui/size-bar.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { codecName, formatName } from "../words/names.ts";
import { bytes, clock, durationWords, shareWords } from "../words/quantities.ts";
import { smallest } from "../words/strings.ts";
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
import { FormatSizes } from "./format-sizes.tsx";
import { FitFields, SizeFields, TurnFields } from "./geometry-fields.tsx";
import { FormatFields, StillsFields, StoryboardFields, WaveformFields } from "./kind-fields.tsx";
import { LivePreview } from "./live-preview.tsx";
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

const PANES = ["output", "picture", "sound", "text", "advanced", "all"] as const;

type Pane = (typeof PANES)[number];

const PANE_OF: Readonly<Record<Part, Pane>> = {
  times: "output",
  size: "picture",
  subtitles: "text",
  concat: "advanced",
};

/** The editor of a ready item: the picture before and after, a trim for what has a duration, and the options in tabs. */
export function Editor({ item, list, titleId }: { item: Item; list: ListState; titleId: string }) {
  return item.source && <EditorOf item={item} source={item.source} list={list} titleId={titleId} />;
}

function EditorOf({
  item,
  source,
  list,
  titleId,
}: {
  item: Item;
  source: Source;
  list: ListState;
  titleId: string;
}) {
  const { address } = useWorkbench();
  const form = useForm(item, source);
  const { options, verdict } = form;
  const lastForecast = useRef(verdict.forecast);
  const section = useRef<HTMLElement>(null);
  if (verdict.forecast) lastForecast.current = verdict.forecast;
  const part = item.job ? (jobAt(item.job)?.part ?? null) : null;
  const selection = address.value.pane ?? (part ? PANE_OF[part] : "output");
  const panes = panesOf(item, form);
  const names = PANES.filter((name) => name === "all" || panes[name]);
  const pane = names.find((name) => name === selection) ?? "output";
  const estimate = list.estimates.of(item);
  useLayoutEffect(() => {
    section.current?.focus({ preventScroll: true });
    list.estimates.focus(item.id);
    return () => list.estimates.focus(null);
  }, [list, item.id]);
  return (
    <section
      class="editor"
      aria-label={strings.optionsOf({ name: item.name })}
      tabIndex={-1}
      data-home
      ref={section}
    >
      <div class="stage">
        <Bar item={item} titleId={titleId} />
        <div class="scene">
          {lastForecast.current && (
            <Preview
              input={item.input}
              source={source}
              thumbnail={item.thumbnail}
              options={options}
              forecast={lastForecast.current}
              overlay={<LivePreview item={item} estimates={list.estimates} />}
            />
          )}
          <Times input={item.input} form={form} />
        </div>
      </div>
      <div class="settings">
        <div class="fields">
          <PresetBar form={form} />
          <Tabs
            label={strings.options}
            tabs={names.map((value) => ({ value, label: strings.panes[value] }))}
            value={pane}
            onChange={(name) => visit(`?file=${item.id}&pane=${name}`, { replaces: true })}
          >
            <div class="form">
              {pane === "all" ? PANES.map((name) => name !== "all" && panes[name]) : panes[pane]}
            </div>
          </Tabs>
          <ApplyToAll item={item} form={form} list={list} />
        </div>
        <Footer item={item} form={form} estimate={estimate} />
      </div>
    </section>
  );
}

/** Returns the fields of each pane; false for a pane that has none for such a file. */
function panesOf({ settings }: Item, form: Form): Record<Exclude<Pane, "all">, ComponentChildren> {
  const { source } = form;
  const { kind } = settings;
  const names = optionNames(kind);
  const hasPictures = source.kind !== "audio" && !NO_PICTURES.has(kind);
  const hasSound = HAS_SOUND.has(kind) && source.codecs?.audio !== null;
  const isJoinable = source.kind === "video" && kind === "video";
  const hasSubtitles = source.kind === "video" && HAS_TEXT.has(kind);
  const hasLogo = kind === "video" || kind === "image";
  return {
    output: (
      <Fragment key="output">
        <FormatFields form={form} />
        {kind === "image" && source.kind === "video" && <StillsFields form={form} />}
        {kind === "storyboard" && <StoryboardFields form={form} />}
        {kind === "waveform" ? <WaveformFields form={form} /> : <RateFields form={form} />}
        {kind === "animation" && <OptionField form={form} name="loop" />}
        {kind === "image" && source.kind === "image" && <FormatSizes form={form} />}
      </Fragment>
    ),
    picture: hasPictures && (
      <Fragment key="picture">
        <TurnFields form={form} />
        <SizeFields form={form} />
        <FitFields form={form} />
        {(kind === "video" || kind === "animation") && <FrameRate form={form} />}
      </Fragment>
    ),
    text: (hasLogo || hasSubtitles || names.includes("text")) && source.kind !== "audio" && (
      <Fragment key="text">
        {hasLogo && <OverlayFields form={form} />}
        {names.includes("text") && <TextFields form={form} />}
        {hasSubtitles && <SubtitleFields form={form} />}
        {names.includes("fonts") && <FontFields form={form} />}
      </Fragment>
    ),
    sound: hasSound && <SoundFields key="sound" form={form} />,
    advanced: (
      <Fragment key="advanced">
        <OptionFields form={form} />
        {isJoinable && <ConcatFields form={form} />}
        {names.includes("parts") && <PartFields form={form} />}
        {(kind === "video" || kind === "audio") && <OptionField form={form} name="metadata" />}
        <PlaceField form={form} />
      </Fragment>
    ),
  };
}

/** The name of the file, and the buttons that return to the list, undo and redo. */
function Bar({ item, titleId }: { item: Item; titleId: string }) {
  const { queue } = useWorkbench();
  const { past, future } = historyOf(item.id);
  useLayoutEffect(() => {
    const key = (event: KeyboardEvent) => {
      const isField =
        event.target instanceof Element &&
        event.target.matches("input:not([type=range], [type=radio]), textarea");
      if (event.key.toLowerCase() !== "z" || !(event.ctrlKey || event.metaKey) || isField) return;
      event.preventDefault();
      stepHistory(queue, item, event.shiftKey ? "future" : "past");
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  });
  return (
    <div class="bar">
      <button type="button" class="quiet" onClick={leave}>
        <Icon name="chevron" />
        {strings.back}
      </button>
      <h1 id={titleId} dir="auto" title={item.name}>
        {item.name}
      </h1>
      <button
        type="button"
        class="quiet icon"
        aria-label={strings.undo}
        title={strings.undo}
        disabled={past.length === 0}
        onClick={() => stepHistory(queue, item, "past")}
      >
        <Icon name="undo" />
      </button>
      <button
        type="button"
        class="quiet icon mirrored"
        aria-label={strings.redo}
        title={strings.redo}
        disabled={future.length === 0}
        onClick={() => stepHistory(queue, item, "future")}
      >
        <Icon name="undo" />
      </button>
    </div>
  );
}

/** The forecast of the output, and the button that starts the conversion; always in view. */
function Footer({ item, form, estimate }: { item: Item; form: Form; estimate: SizeEstimate | null }) {
  const { queue } = useWorkbench();
  const { id, settings } = item;
  const faultId = useId();
  const outlook = outlookOf(item, estimate);
  const { before = null, after = null, tone = "" } = outlook ?? {};
  const isKept = tone === "kept";
  const middle = after && middleOf(after);
  return (
    <div class="footer">
      <div class="facts">
        <div class={`forecast numbers ${tone}`}>
          <p>
            {before !== null && !isKept && <span class="soft">{bytes(before)} → </span>}
            <b>
              {isKept || after === null || middle === null
                ? before !== null && bytes(before)
                : isWide(after)
                  ? rangeWords(after)
                  : strings.about({ size: bytes(middle) })}
            </b>
          </p>
          {before !== null && middle !== null && after !== null && !isKept && !isWide(after) && (
            <b class={middle > before ? "share over" : "share"}>{shareWords(before, middle)}</b>
          )}
        </div>
        {before !== null && middle !== null && (
          <SizeBar before={before} after={isKept ? before : middle} limit={settings.target_size} />
        )}
        <p class="line soft small numbers">
          <span>{noteOf(item, outlook)}</span>
          {outlook?.seconds !== null && outlook?.seconds !== undefined && (
            <span>{strings.aboutTime({ time: durationWords(outlook.seconds, false) })}</span>
          )}
        </p>
        <Outcome form={form} hasForecast={after !== null} />
        {settings.fault && (
          <span class="visually-hidden" id={faultId}>
            {settings.fault.message}
          </span>
        )}
      </div>
      <button
        type="button"
        class="primary"
        disabled={Boolean(settings.fault)}
        aria-describedby={settings.fault ? faultId : undefined}
        onClick={() => void queue.start([id])}
      >
        {strings.convert}
      </button>
    </div>
  );
}

function noteOf(item: Item, outlook: Outlook | null): string {
  if (outlook?.tone === "kept") return smallest;
  if (outlook?.tone !== "over") return mayKeepOriginal(item) ? strings.neverWorse : strings.ownSettings;
  const { before, after, why } = outlook;
  return before === null || after === null
    ? cardStrings.whyLarger[why]
    : `${cardStrings.grows({ factor: after.low / before })}. ${cardStrings.whyLarger[why]}`;
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

function Outcome({
  form: { settings, options, source, verdict },
  hasForecast,
}: {
  form: Form;
  /** Whether the footer already shows a forecast of the size. */
  hasForecast: boolean;
}) {
  const { fault, forecast, lowered } = verdict;
  if (fault) return <Notice tone="bad">{fault.message}</Notice>;
  const size =
    hasForecast && settings.target_size === null
      ? null
      : sizeWords(forecast, settings.target_size, source.filesize);
  return (
    <>
      <div class="outcome" role="status">
        <p>
          <strong>{whatItIs(forecast, settings.kind, options.codec)}</strong>
        </p>
        {size && <p class="soft small">{size}</p>}
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
        {strings.runsOnDevice} <a href="/console">{strings.connectService}</a> {strings.toRunItThere}
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

function ApplyToAll({ item, form: { source, settings }, list }: { item: Item; form: Form; list: ListState }) {
  const { queue } = useWorkbench();
  const [used, setUsed] = useState<{ settings: Settings; words: string } | null>(null);
  const others = list.items.value.filter(
    (other) => other.id !== item.id && stateOf(other) === "ready" && other.source?.kind === source.kind,
  );
  if (others.length === 0) return null;
  const apply = () => {
    const misfits: string[] = [];
    for (const other of others) {
      if (!other.source) continue;
      const same = sameFor(settings, [...PRESETS, ...ownPresets.value], { ...other, source: other.source });
      changeSettings(queue, other, same);
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
