import { useId, useRef } from "preact/hooks";
import { ANIMATION_DEFAULTS, type EncodeKind, type MediaInput, type Source } from "../../src/index.ts";
import { awaitCopy } from "../card/awaited-copy.ts";
import type { Item } from "../queue/item.ts";
import { Icon } from "../ui/icon.tsx";
import { useWorkbench } from "../workbench.ts";
import { ApplyToAll } from "./apply-to-all.tsx";
import "./editor.css";
import { Moment } from "../trim/moment.tsx";
import { type Stretch, Trim } from "../trim/trim.tsx";
import type { AnyOptions } from "./choices.ts";
import { ConcatFields, SubtitleFields } from "./extra-file-fields.tsx";
import { FitFields } from "./fit-fields.tsx";
import { FormatFields } from "./format-fields.tsx";
import { OptionField, OptionFields } from "./option-field.tsx";
import { Outcome } from "./outcome.tsx";
import { OverlayFields } from "./overlay-fields.tsx";
import { PlaceField } from "./place-field.tsx";
import { PresetBar } from "./presets/preset-bar.tsx";
import { Preview } from "./preview.tsx";
import { RateFields } from "./rate-fields.tsx";
import { SizeFields } from "./size-fields.tsx";
import { SoundFields } from "./sound-fields.tsx";
import { StillsFields, StoryboardFields } from "./stills-fields.tsx";
import { TurnFields } from "./turn-fields.tsx";
import { type Form, useForm } from "./use-form.ts";
import { WaveformFields } from "./waveform-fields.tsx";

const NO_PICTURES: ReadonlySet<EncodeKind> = new Set(["audio", "waveform", "storyboard"]);
const HAS_SOUND: ReadonlySet<EncodeKind> = new Set(["video", "audio", "adaptive_video"]);
const HAS_TEXT: ReadonlySet<EncodeKind> = new Set(["video", "adaptive_video"]);

/** The editor of a ready item: options, presets, a preview and, where it makes sense, a trim. */
export function Editor({ item }: { item: Item }) {
  return item.source && <EditorOf item={item} source={item.source} />;
}

function EditorOf({ item, source }: { item: Item; source: Source }) {
  const form = useForm(item, source);
  const { wishes, options, verdict } = form;
  // Options may be invalid while they are being typed; the preview keeps the last valid ones.
  const last = useRef(verdict.forecast);
  if (verdict.forecast) last.current = verdict.forecast;
  const hasPictures = source.kind !== "audio" && !NO_PICTURES.has(wishes.kind);
  return (
    <section class="editor" aria-label={`Options of ${item.name}`}>
      <PresetBar form={form} />
      <div class="choices">
        <div class="form">
          <FormatFields form={form} />
          {wishes.kind === "image" && source.kind === "video" && <StillsFields form={form} />}
          {wishes.kind === "storyboard" && <StoryboardFields form={form} />}
          {wishes.kind === "waveform" ? <WaveformFields form={form} /> : <RateFields form={form} />}
          {hasPictures && <TurnFields form={form} />}
          {hasPictures && <SizeFields form={form} />}
          {hasPictures && <FitFields form={form} />}
          {(wishes.kind === "video" || wishes.kind === "animation") && <FrameRate form={form} />}
          {wishes.kind === "animation" && <OptionField form={form} name="loop" />}
          <OptionFields form={form} />
          {(wishes.kind === "video" || wishes.kind === "image") && <OverlayFields form={form} />}
          {source.kind === "video" && HAS_TEXT.has(wishes.kind) && <SubtitleFields form={form} />}
          {source.kind === "video" && wishes.kind === "video" && <ConcatFields form={form} />}
          {HAS_SOUND.has(wishes.kind) && <SoundFields form={form} />}
          {(wishes.kind === "video" || wishes.kind === "audio") && (
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
      <Times input={item.input} form={form} />
      <Start item={item} />
    </section>
  );
}

// Visitors at the end of the options need not scroll back up.
function Start({ item }: { item: Item }) {
  const { queue } = useWorkbench();
  const { id, wishes } = item;
  const why = useId();
  return (
    <div class="row end">
      {wishes.fault && (
        <span class="fault small" id={why}>
          {wishes.fault.message}
        </span>
      )}
      <button
        type="button"
        onClick={({ detail }) => {
          // Not for the second click of a double click.
          if (detail > 1) return;
          awaitCopy(item);
          queue.again(id);
        }}
      >
        <Icon name="copy" />
        Another output
      </button>
      <button
        type="button"
        class="primary"
        disabled={Boolean(wishes.fault)}
        aria-describedby={wishes.fault ? why : undefined}
        onClick={({ currentTarget }) => {
          // The editor is about to close, and what remains is above.
          currentTarget.closest("article")?.scrollIntoView();
          void queue.start([id]);
        }}
      >
        Convert this file
      </button>
    </div>
  );
}

function FrameRate({ form }: { form: Form }) {
  const { source, wishes } = form;
  const original = source.fps === undefined ? "original" : `original (${Number(source.fps.toFixed(2))})`;
  const slower = Math.min(ANIMATION_DEFAULTS.fps, source.fps ?? ANIMATION_DEFAULTS.fps);
  const isSlowed = wishes.kind === "animation" && source.kind === "video";
  return (
    <OptionField form={form} name="fps" empty={isSlowed ? String(Number(slower.toFixed(2))) : original} />
  );
}

/** The part of a file to use, or for a picture the moment; nothing for files without a timeline. */
function Times({ input, form }: { input: MediaInput | null; form: Form }) {
  const { source, wishes, options } = form;
  if (!source.duration || !input) return null;
  if (wishes.kind === "image" && source.kind === "image") return null;
  // Trimming does not change the preset.
  const change = (times: Stretch) => {
    form.wish((now) => {
      const { start: _start, end: _end, ...rest } = now.options as AnyOptions;
      return { ...now, options: { ...rest, ...times } as typeof now.options };
    });
  };
  const { start, end } = options;
  return (
    <div class="times">
      {wishes.kind === "image" ? (
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
          stretch={{ ...(start !== undefined && { start }), ...(end !== undefined && { end }) }}
          onChange={change}
        />
      )}
    </div>
  );
}
