import { useState } from "preact/hooks";
import { FORMATS, forecast, QUALITIES, type Source } from "../../src/index.ts";
import { type OptionName, optionControl, optionNames } from "../../src/media/option-groups.ts";
import { withVerdict } from "../options/check-settings.ts";
import { type AnyOptions, formatOf, hasBitrate, withOptions } from "../options/choices.ts";
import { type NamedOutput, numberDuplicates, outputName, PATTERN_FIELDS } from "../result/file-names.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Field, TextField } from "../ui/field.tsx";
import { NumberField } from "../ui/number-field.tsx";
import { useWorkbench } from "../workbench.ts";
import type { Item, Naming, Settings } from "./item.ts";
import * as strings from "./list-strings.ts";
import { stateOf } from "./queue.ts";
import { changeAll, nameAll } from "./undo.tsx";

const OWN_NAME = "{name}";
const MAX_EXAMPLES = 3;

/** Names the outputs of several items by a pattern. */
export function NamesDialog({ items, onClose }: { items: readonly Item[]; onClose: () => void }) {
  const { queue } = useWorkbench();
  const [pattern, setPattern] = useState(items[0]?.naming?.pattern ?? OWN_NAME);
  const namings = namingsOf(items.length, pattern);
  const examples = numberDuplicates(
    items.map((item, index) => outputName(item.name, expectedOutput(item), namings[index])),
  );
  const apply = () => {
    nameAll(
      queue,
      items.map((item, index) => [item, namings[index] ?? null] as const),
    );
    onClose();
  };
  return (
    <Dialog title={strings.names} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          apply();
        }}
      >
        <TextField
          label={strings.pattern}
          hint={strings.patternHint}
          placeholder={OWN_NAME}
          value={pattern}
          onChange={(text = "") => setPattern(text)}
          fault={null}
        />
        <div class="chips">
          {PATTERN_FIELDS.map((field) => (
            <button key={field} type="button" onClick={() => setPattern(`${pattern}{${field}}`)}>
              {strings.patternFields[field]}
            </button>
          ))}
        </div>
        <ul class="plain small numbers" aria-label={strings.examples}>
          {examples.slice(0, MAX_EXAMPLES).map((name) => (
            <li key={name} class="soft">
              {name}
            </li>
          ))}
          {examples.length > MAX_EXAMPLES && (
            <li class="soft">{strings.moreFiles({ count: examples.length - MAX_EXAMPLES })}</li>
          )}
        </ul>
        <div class="row end">
          <button type="submit" class="primary">
            {strings.nameFiles({ count: items.length })}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Returns how a pattern names each of several items; null if outputs keep the names of their files. */
function namingsOf(count: number, pattern: string): (Naming | null)[] {
  const plain = pattern.trim();
  const digits = String(count).length;
  const now = new Date();
  const date = [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");
  return Array.from({ length: count }, (_, index) =>
    plain === "" || plain === OWN_NAME
      ? null
      : { pattern: plain, number: String(index + 1).padStart(digits, "0"), date },
  );
}

/** Returns the facts that name the output of an item, even before it exists. */
function expectedOutput({ settings, source, task }: Item): NamedOutput {
  const output = task?.steps.findLast((step) => step.output?.encoder)?.output;
  if (output) return output;
  const { kind, options } = settings;
  const format = source ? formatOf(kind, options, source) : "";
  const rows: Readonly<Record<string, { extension?: string }>> = FORMATS[kind];
  return {
    // Only streams have no extension.
    kind: kind === "adaptive_video" ? kind : "data",
    format,
    url: `file.${rows[format]?.extension ?? format}`,
    ...sizeOf(settings, source),
  };
}

function sizeOf({ kind, options }: Settings, source: Source | null): Pick<Source, "width" | "height"> {
  try {
    const { width, height } = source ? forecast(kind, options, source) : { width: null, height: null };
    return width && height ? { width, height } : {};
  } catch {
    return {};
  }
}

const SIDES = [2160, 1440, 1080, 720, 480] as const;
const LEAVE = "";
const KEEP_SIZE = "own";
const BYTES_OF_MB = 1_000_000;

/** The changes that a visitor made in the dialog; where a field is absent, each file keeps its setting. */
interface Changes {
  readonly quality?: string;
  /** Pixels of the shorter side, or {@link KEEP_SIZE}. */
  readonly side?: string;
  /** Size limit in MB. */
  readonly limit?: number | undefined;
  readonly sound?: string;
  readonly metadata?: string;
}

/** Changes some settings of several items, which keep the others. */
export function SettingsDialog({ items, onClose }: { items: readonly Item[]; onClose: () => void }) {
  const { queue } = useWorkbench();
  const [changes, setChanges] = useState<Changes>({});
  const ready = items.filter((item) => stateOf(item) === "ready");
  const results = ready.flatMap((item) => {
    const after = item.source && withChanges(item.settings, changes, item.source);
    return after && after !== item.settings ? [[item, after] as const] : [];
  });
  const has = (name: OptionName) => ready.some(({ settings }) => optionNames(settings.kind).includes(name));
  const select = (
    name: "quality" | "side" | "sound" | "metadata",
    label: string,
    choices: readonly (readonly [value: string, words: string])[],
  ) => (
    <Field label={label}>
      {(control) => (
        <select
          {...control}
          value={changes[name] ?? LEAVE}
          onChange={({ currentTarget: { value } }) => {
            const { [name]: _, ...others } = changes;
            setChanges(value === LEAVE ? others : { ...others, [name]: value });
          }}
        >
          <option value={LEAVE}>{strings.noChange}</option>
          {choices.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
  const quality = optionControl("video", "quality", undefined);
  const metadata = optionControl("video", "metadata", undefined);
  const choicesOf = ({ choices }: typeof quality) =>
    (choices ?? []).map(({ value, label }) => [String(value), label] as const);
  return (
    <Dialog title={strings.settingsForAll({ count: items.length })} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          changeAll(queue, results, strings.changed({ count: results.length }));
          onClose();
        }}
      >
        <p class="soft small">{strings.otherSettingsStay}</p>
        <div class="columns">
          {has("quality") &&
            select(
              "quality",
              quality.label,
              choicesOf(quality).filter(([value]) => QUALITIES.some((each) => each === value)),
            )}
          {has("width") &&
            select("side", strings.size, [
              [KEEP_SIZE, strings.originalSize],
              ...SIDES.map((side) => [String(side), `${side}p`] as const),
            ])}
          <NumberField
            label={strings.sizeLimit}
            value={changes.limit}
            placeholder={strings.noChange}
            onChange={(limit) => setChanges({ ...changes, limit })}
            fault={null}
          />
          {has("mute") &&
            select("sound", strings.sound, [
              ["keep", strings.keepSound],
              ["mute", strings.muteSound],
            ])}
          {has("metadata") && select("metadata", metadata.label, choicesOf(metadata))}
        </div>
        <div class="row end">
          <button type="submit" class="primary" disabled={results.length === 0}>
            {strings.changeFiles({ count: results.length })}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Applies the changes that are possible with these settings; returns the same object when there are none. */
function withChanges(settings: Settings, changes: Changes, source: Source): Settings {
  const { quality, side, limit, sound, metadata } = changes;
  const steps: ((now: Settings) => Settings)[] = [
    (now) =>
      quality === undefined
        ? now
        : withOptions({ ...now, target_size: null }, { quality, bitrate: undefined } as AnyOptions),
    (now) =>
      limit === undefined || !hasBitrate(now.kind, formatOf(now.kind, now.options, source))
        ? now
        : { ...now, target_size: Math.round(limit * BYTES_OF_MB), preset: null },
    (now) => (side === undefined ? now : withOptions(now, sideOptions(side, source))),
    (now) => (sound === undefined ? now : withOptions(now, { mute: sound === "mute" ? true : undefined })),
    (now) => (metadata === undefined ? now : withOptions(now, { metadata } as AnyOptions)),
  ];
  return steps.reduce((now, step) => {
    const next = step(now);
    const isSame = next === now || JSON.stringify(next) === JSON.stringify(now);
    if (isSame || Object.keys(next.options).some((name) => !isOffered(settings, name))) return now;
    const checked = withVerdict(next, source);
    // A file for which a change is impossible keeps its setting.
    return checked.fault && !now.fault ? now : checked;
  }, settings);
}

function isOffered({ kind, options }: Settings, name: string): boolean {
  return name in options || optionNames(kind).some((each) => each === name);
}

function sideOptions(side: string, { width = 0, height = 0 }: Source): AnyOptions {
  const whole = {
    width: undefined,
    height: undefined,
    fit: undefined,
    position: undefined,
    background: undefined,
  };
  const isSmaller = side !== KEEP_SIZE && Number(side) < Math.min(width, height);
  return isSmaller ? { ...whole, [width < height ? "width" : "height"]: Number(side) } : whole;
}
