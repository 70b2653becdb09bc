import { useId, useRef } from "preact/hooks";
import type { Source } from "../../src/index.ts";
import type { Item } from "../queue/item.ts";
import { NumberField } from "../ui/number-field.tsx";
import { useWorkbench } from "../workbench.ts";
import { ApplyToAll } from "./apply-to-all.tsx";
import "./editor.css";
import { FitFields } from "./fit-fields.tsx";
import { FormatFields } from "./format-fields.tsx";
import { MetadataField } from "./metadata-field.tsx";
import { Outcome } from "./outcome.tsx";
import { PlaceField } from "./place-field.tsx";
import { PresetBar } from "./presets/preset-bar.tsx";
import { Preview } from "./preview.tsx";
import { RateFields } from "./rate-fields.tsx";
import { SizeFields } from "./size-fields.tsx";
import { Times } from "./times.tsx";
import { type Form, useForm } from "./use-form.ts";

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
  const hasPictures = wishes.kind !== "audio";
  return (
    <section class="editor" aria-label={`Options of ${item.name}`}>
      <PresetBar form={form} />
      <div class="choices">
        <div class="form">
          <FormatFields form={form} />
          <RateFields form={form} />
          {hasPictures && <SizeFields form={form} />}
          {hasPictures && <FitFields form={form} />}
          {wishes.kind === "video" && <FrameRate form={form} />}
          {(wishes.kind === "video" || wishes.kind === "audio") && <MetadataField form={form} />}
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
function Start({ item: { id, wishes } }: { item: Item }) {
  const { queue } = useWorkbench();
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

function FrameRate({ form: { source, options, change, faultAt } }: { form: Form }) {
  return (
    <NumberField
      label="Frames per second"
      value={options.fps}
      onChange={(fps) => change({ fps })}
      placeholder={source.fps === undefined ? "original" : `original (${Number(source.fps.toFixed(2))})`}
      fault={faultAt("fps")}
    />
  );
}
