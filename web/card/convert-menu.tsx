import { type EncodeKind, FORMATS, forecast, type Source } from "../../src/index.ts";
import { applyJob } from "../home/apply-job.ts";
import { jobAt } from "../home/jobs.ts";
import { withFormat, withVerdict } from "../options/check-settings.ts";
import { formatOf, kindsFor, withKind } from "../options/choices.ts";
import * as options from "../options/strings.ts";
import type { Item, Settings } from "../queue/item.ts";
import type { ListState } from "../queue/list-state.ts";
import { stateOf } from "../queue/queue.ts";
import { changeAll } from "../queue/undo.tsx";
import { Icon } from "../ui/icon.tsx";
import { Menu, MenuItem } from "../ui/menu.tsx";
import { formatName } from "../words/names.ts";
import { bytes } from "../words/quantities.ts";
import { useWorkbench } from "../workbench.ts";
import * as strings from "./strings.ts";

/** The formats that the menu offers of kinds other than the file's; the editor offers all formats. */
const OTHERS = {
  animation: ["gif"],
  audio: ["mp3"],
  image: ["jpeg"],
  video: ["mp4"],
  adaptive_video: ["hls"],
} as const satisfies Partial<Record<EncodeKind, readonly string[]>>;

interface Choice {
  readonly kind: EncodeKind;
  readonly format: string;
}

/** Changes the format of a file, or of all selected files of its kind. */
export function ConvertMenu({ item, source, list }: { item: Item; source: Source; list: ListState }) {
  const { queue } = useWorkbench();
  const { settings } = item;
  const format = formatOf(settings.kind, settings.options, source);
  const choose = (choice: Choice) => {
    const { selected } = list;
    const others = list.items
      .peek()
      .filter((other) => selected.peek().has(other.id) && stateOf(other) === "ready");
    const items = selected.peek().has(item.id)
      ? others.filter((each) => each.source?.kind === source.kind)
      : [item];
    const changes = items.flatMap((each) =>
      each.source ? [[each, withChoice(each.settings, choice, each.source)] as const] : [],
    );
    changeAll(
      queue,
      changes,
      strings.convertsTo({ format: formatName(choice.format), count: changes.length }),
    );
  };
  const line = (choice: Choice, note?: string) => {
    const isCurrent = choice.kind === settings.kind && choice.format === format;
    const size = isCurrent ? sizeOf(item, list) : forecastSize(settings, choice, source);
    return (
      <MenuItem
        key={`${choice.kind} ${choice.format}`}
        checked={isCurrent}
        note={note ?? options.formatUses[choice.format]}
        end={size}
        onChoose={() => choose(choice)}
      >
        {formatName(choice.format)}
      </MenuItem>
    );
  };
  const kinds = kindsFor(source);
  const [own = settings.kind] = kinds;
  const isListed =
    Object.keys(FORMATS[own]).includes(format) || kinds.some((kind) => isOffered(kind, format));
  return (
    <Menu
      label={strings.convertTo({ name: item.name, format: formatName(format) })}
      title={strings.convertToTitle}
      buttonClass="quiet target"
      button={
        <>
          <span class="soft" aria-hidden="true">
            →
          </span>
          <b>{formatName(format)}</b>
          <Icon name="chevron" size={14} />
        </>
      }
    >
      {() => (
        <>
          {!isListed && line({ kind: settings.kind, format })}
          {Object.keys(FORMATS[own]).map((each) => line({ kind: own, format: each }))}
          {kinds.length > 1 && <hr />}
          {kinds
            .filter((kind) => kind !== own && kind in OTHERS)
            .flatMap((kind) =>
              OTHERS[kind as keyof typeof OTHERS].map((each) =>
                line({ kind, format: each }, strings.otherUses[kind as keyof typeof OTHERS]),
              ),
            )}
        </>
      )}
    </Menu>
  );
}

function isOffered(kind: EncodeKind, format: string): boolean {
  const formats: readonly string[] = kind in OTHERS ? OTHERS[kind as keyof typeof OTHERS] : [];
  return formats.includes(format);
}

function withChoice(settings: Settings, { kind, format }: Choice, source: Source): Settings {
  const gif = jobAt("/gif");
  // A whole film as a GIF would be huge.
  if (gif && kind === "animation" && source.kind === "video") return applyJob(gif, settings, source);
  const base = kind === settings.kind ? settings : withKind(kind, settings);
  return withVerdict(withFormat(base, format, source), source);
}

function sizeOf(item: Item, list: ListState): string | null {
  const estimate = list.estimates.of(item);
  if (estimate) return bytes((estimate.low + estimate.high) / 2);
  return item.source && forecastSize(item.settings, null, item.source);
}

function forecastSize(settings: Settings, choice: Choice | null, source: Source): string | null {
  try {
    const { kind, options, target_size, fault } = choice ? withChoice(settings, choice, source) : settings;
    if (fault) return null;
    const size = target_size ?? forecast(kind, options, source).bytes;
    return size === null ? null : bytes(size);
  } catch {
    return null;
  }
}
