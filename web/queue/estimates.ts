import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { LocalClient } from "../../src/browser/index.ts";
import { whenIdle } from "../ui/schedule.ts";
import { withAttached } from "./attached-files.ts";
import type { Item, Settings } from "./item.ts";
import { type Queue, stateOf, totalsOf } from "./queue.ts";

/** The expected size of an output, and the time that its conversion takes. */
export interface SizeEstimate {
  /** Lower and upper bound of the size in bytes. */
  readonly low: number;
  readonly high: number;
  /** Seconds that the encode takes on this device; null when unknown. */
  readonly seconds: number | null;
}

/** Estimates of the files in view, made one after the other while nothing is being converted. */
export interface Estimates {
  /** The estimate for an item's current settings; null until there is one, and where none can be made. */
  of(item: Item): SizeEstimate | null;
  /** Says whether an item is in view. */
  see(id: string, isVisible: boolean): void;
  /** Estimates only one item, and more exactly; with null, those in view again. */
  focus(id: string | null): void;
  /** Stops all estimates while something else needs the encoders. */
  hold(isHeld: boolean): void;
  /** Ends all estimates for good. */
  end(): void;
}

// A row takes few steps, because other rows wait for their estimates.
const STEPS = 3;
const FOCUSED_STEPS = 8;
/** An estimate whose bounds are this close is not refined. */
const NARROW = 1.2;
const PAUSE_MS = 250;

interface Entry {
  settings: Settings;
  estimate: SizeEstimate | null;
  isDone: boolean;
}

/** Creates the {@link Estimates} of a queue. */
export function createEstimates(queue: Pick<Queue, "items">, device: LocalClient): Estimates {
  const entries = new Map<string, Signal<Entry | null>>();
  const visible = signal<ReadonlySet<string>>(new Set());
  const focused = signal<string | null>(null);
  const isHeld = signal(false);
  let current: { id: string; settings: Settings; stop: AbortController } | null = null;
  let isScheduled = false;

  const entryOf = (id: string): Signal<Entry | null> => {
    const entry = entries.get(id) ?? signal(null);
    entries.set(id, entry);
    return entry;
  };

  const next: ReadonlySignal<Item | null> = computed(() => {
    const items = queue.items.value;
    if (isHeld.value) return null;
    // Conversions and the reading of files come first.
    if (totalsOf(items).running > 0 || items.some((item) => stateOf(item) === "reading")) return null;
    return (
      items.find((item) => {
        const isVisible = focused.value === null ? visible.value.has(item.id) : item.id === focused.value;
        if (!isVisible || !isEstimable(item)) return false;
        const entry = entryOf(item.id).value;
        return !entry?.isDone || !isSame(entry.settings, item.settings);
      }) ?? null
    );
  });

  async function estimate({ id, settings, source, input }: Item, stop: AbortController): Promise<void> {
    if (!source || !input) return;
    const entry = entryOf(id);
    let estimate: SizeEstimate | null = null;
    try {
      const { kind, target_size } = settings;
      const [{ sizedOptions }, own] = await Promise.all([
        import("../options/check-settings.ts"),
        withAttached(settings.options),
      ]);
      const attached = { ...settings, options: own };
      const options = target_size === null ? attached.options : sizedOptions(attached, source, target_size);
      let steps = 0;
      const results = device.estimate({ input, kind, options } as Parameters<LocalClient["estimate"]>[0], {
        signal: stop.signal,
      });
      for await (const { bytes, seconds } of results) {
        estimate = { ...bytes, seconds };
        entry.value = { settings, estimate, isDone: false };
        steps++;
        const maxSteps = id === focused.peek() ? FOCUSED_STEPS : STEPS;
        if (steps >= maxSteps || bytes.high <= bytes.low * NARROW) break;
      }
    } catch {}
    if (!stop.signal.aborted) entry.value = { settings, estimate, isDone: true };
  }

  function work(): void {
    isScheduled = false;
    const item = next.peek();
    if (current || !item) return;
    const stop = new AbortController();
    current = { id: item.id, settings: item.settings, stop };
    void estimate(item, stop).finally(() => {
      current = null;
      schedule();
    });
  }

  function schedule(): void {
    if (isScheduled || current) return;
    isScheduled = true;
    setTimeout(() => whenIdle(work), PAUSE_MS);
  }

  const endEffect = effect(() => {
    const item = next.value;
    const isStale = current && (item?.id !== current.id || !isSame(item.settings, current.settings));
    if (isStale) current?.stop.abort();
    if (item) schedule();
  });

  return {
    of: (item) => {
      const entry = entryOf(item.id).value;
      return entry && isSame(entry.settings, item.settings) ? entry.estimate : null;
    },
    see(id, isVisible) {
      if (visible.peek().has(id) === isVisible) return;
      const ids = new Set(visible.peek());
      if (isVisible) ids.add(id);
      else ids.delete(id);
      visible.value = ids;
    },
    focus: (id) => {
      focused.value = id;
    },
    hold: (value) => {
      isHeld.value = value;
    },
    end() {
      isHeld.value = true;
      endEffect();
    },
  };
}

// An estimate of a file at an address would download it.
function isEstimable(item: Item): boolean {
  const { settings, input } = item;
  const isHere = settings.place === "device" && input !== null && typeof input !== "string";
  return isHere && !settings.fault && stateOf(item) === "ready";
}

function isSame(one: Settings, other: Settings): boolean {
  return (
    one === other ||
    (one.kind === other.kind &&
      one.target_size === other.target_size &&
      JSON.stringify(one.options) === JSON.stringify(other.options))
  );
}
