import { lazy, Suspense } from "preact/compat";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { leave, visit } from "../address.ts";
import { Card } from "../card/card.tsx";
import { isWide, middleOf, type Outlook, outlookOf } from "../card/outlook.ts";
import { Home, JobLinks } from "../home/home.tsx";
import type { Job } from "../home/jobs.ts";
import * as home from "../home/strings.ts";
import type { AnyOptions } from "../options/choices.ts";
import { Icon } from "../ui/icon.tsx";
import { SizeBar } from "../ui/size-bar.tsx";
import { bytes, durationWords, shareWords, timeLeft } from "../words/quantities.ts";
import { useWorkbench } from "../workbench.ts";
import { AddUrl, ChooseFiles } from "./add-files.tsx";
import type { Item, ItemState } from "./item.ts";
import { createListState, type ListState } from "./list-state.ts";
import * as strings from "./list-strings.ts";
import { isOver, isStartable, type Queue, stateOf, totalsOf } from "./queue.ts";
import * as queueStrings from "./strings.ts";
import { finishRemovals, isRunning, join, remove, Toast } from "./undo.tsx";
import "../ui/segments.css";
import "./list.css";

const NamesDialog = lazy(async () => ({ default: (await import("./batch-dialogs.tsx")).NamesDialog }));
const SettingsDialog = lazy(async () => ({ default: (await import("./batch-dialogs.tsx")).SettingsDialog }));
const TakeAll = lazy(async () => ({ default: (await import("../result/take-all.tsx")).TakeAll }));

/** With more files than this, each has one line until its result is asked for. */
const MAX_EXPANDED = 5;

type Filter = "all" | "todo" | "done" | "needs";

const FILTERS: Readonly<Record<Filter, ReadonlySet<ItemState> | null>> = {
  all: null,
  todo: new Set(["reading", "ready", "sending", "queued", "processing"]),
  done: new Set(["succeeded"]),
  needs: new Set(["failed", "cancelled", "unusable", "waiting"]),
};

/** The files of the visitor: one line each, and a bar for all of them. */
export function FileList({ job }: { job: Job | null }) {
  const { queue, device, address } = useWorkbench();
  const { file, show } = address.value;
  const list = useMemo(() => createListState(queue, device), [queue, device]);
  useEffect(() => finishRemovals(queue), [queue]);
  useEffect(() => list.end, [list]);
  const items = list.items.value;
  if (items.length === 0) {
    return (
      <>
        <Home job={job} />
        <Toast />
      </>
    );
  }
  const edited = items.find((item) => item.id === file && stateOf(item) === "ready");
  const isMany = items.length > MAX_EXPANDED;
  const filter = isMany && isFilter(show) ? show : "all";
  const states = FILTERS[filter];
  const visible = states ? items.filter((item) => states.has(stateOf(item))) : items;
  return (
    <>
      {edited && <EditorView key={edited.id} item={edited} list={list} />}
      {/* The list stays in the page, because one of hundreds takes long to draw. */}
      <div class={isMany ? "queue many" : "queue"} hidden={edited !== undefined}>
        <Head list={list} job={job} />
        {isMany && <Filters items={items} filter={filter} />}
        <Rows list={list} items={visible} brief={isMany} alone={items.length === 1} />
        {!edited && <Dock list={list} />}
        <JobLinks current={job} title={home.moreJobs} />
      </div>
      <Toast />
    </>
  );
}

/** Shows the editor in place of the list. Afterwards, the list is where it was, with the focus on the file. */
function EditorView({ item, list }: { item: Item; list: ListState }) {
  const id = useId();
  const { address } = useWorkbench();
  useLayoutEffect(() => {
    const top = scrollY;
    scrollTo(0, 0);
    return () => {
      // The address still has the file if its conversion has started or it is gone.
      if (address.peek().file === item.id) leave();
      requestAnimationFrame(() => {
        scrollTo(0, top);
        const row = document.querySelector<HTMLElement>(`article[data-id="${item.id}"]`);
        row?.focus({ preventScroll: true });
        row?.scrollIntoView({ block: "nearest" });
      });
    };
  }, []);
  return (
    <article class="editing" aria-labelledby={id} data-state={stateOf(item)}>
      <Suspense fallback={null}>
        <Editor item={item} list={list} titleId={id} />
      </Suspense>
    </article>
  );
}

const Editor = lazy(async () => ({ default: (await import("../options/editor.tsx")).Editor }));

function Head({ list, job }: { list: ListState; job: Job | null }) {
  const items = list.items.value;
  const { before, after, isPartial } = sumOf(items, list);
  return (
    <div class="list-head">
      <div>
        <h1>{job ? job.heading : strings.files({ count: items.length })}</h1>
        {job && <p class="soft small">{home.forNewFiles}</p>}
        {items.length > 1 && (
          // The line has its height from the start, so that nothing moves.
          <p class="sum numbers">
            {before > 0 && after > 0 && !isPartial && (
              <>
                <span class="soft">{bytes(before)} → </span>
                <b>{strings.about({ size: bytes(after) })}</b>{" "}
                <b class={after > before ? "share over" : "share"}>{shareWords(before, after)}</b>
              </>
            )}
          </p>
        )}
      </div>
      <div class="row">
        {job && (
          <a class="button quiet" href="/">
            {home.anyJob}
          </a>
        )}
        <AddMore />
      </div>
    </div>
  );
}

/** Two buttons above the list: for files, and for an address. */
function AddMore() {
  const id = useId();
  return (
    <section class="add-files ways" aria-label={queueStrings.addMedia}>
      <ChooseFiles />
      <button type="button" class="quiet" popovertarget={id}>
        {strings.fromLink}
      </button>
      <div class="from-link" id={id} popover="auto">
        <AddUrl />
      </div>
    </section>
  );
}

interface Sum {
  before: number;
  after: number;
  seconds: number;
  /** Whether the sizes of some files are unknown. */
  isPartial: boolean;
}

/** Adds up what is known of the sizes of items, before and after. */
function sumOf(items: readonly Item[], list: ListState): Sum {
  const sum: Sum = { before: 0, after: 0, seconds: 0, isPartial: false };
  for (const item of items) {
    const outlook = outlookOf(item, list.estimates.of(item));
    const after = afterOf(outlook);
    if (!outlook || outlook.before === null || after === null) {
      sum.isPartial ||= item.source !== null;
      continue;
    }
    sum.before += outlook.before;
    sum.after += after;
    if (!outlook.isExact) sum.seconds += outlook.seconds ?? 0;
  }
  return sum;
}

function afterOf(outlook: Outlook | null): number | null {
  if (outlook?.tone === "kept") return outlook.before;
  if (!outlook?.after) return null;
  return isWide(outlook.after) ? null : middleOf(outlook.after);
}

function isFilter(name: string | null): name is Filter {
  return name !== null && Object.hasOwn(FILTERS, name);
}

function Filters({ items, filter }: { items: readonly Item[]; filter: Filter }) {
  const change = (name: Filter) =>
    visit(name === "all" ? location.pathname : `?show=${name}`, { replaces: true });
  return (
    <div class="filters">
      <fieldset class="field segments">
        <legend class="visually-hidden">{strings.show}</legend>
        <div>
          {(Object.keys(FILTERS) as Filter[]).map((name) => {
            const states = FILTERS[name];
            const count = states ? items.filter((item) => states.has(stateOf(item))).length : items.length;
            return (
              <label key={name}>
                <input type="radio" name="filter" checked={filter === name} onChange={() => change(name)} />
                <span>
                  {strings.filters[name]} <small class="numbers">{count}</small>
                </span>
              </label>
            );
          })}
        </div>
      </fieldset>
      <p class="soft small keys-hint">{strings.keysHint}</p>
    </div>
  );
}

function Rows({
  list,
  items,
  brief,
  alone,
}: {
  list: ListState;
  items: readonly Item[];
  brief: boolean;
  alone: boolean;
}) {
  const { queue } = useWorkbench();
  const rows = useRef<HTMLDivElement>(null);
  const focus = (id: string) =>
    requestAnimationFrame(() => rows.current?.querySelector<HTMLElement>(`[data-id="${id}"]`)?.focus());
  const keys = (event: KeyboardEvent) => {
    const { target, key, ctrlKey, metaKey, shiftKey, altKey } = event;
    const row = target instanceof HTMLElement ? target.closest<HTMLElement>("article") : null;
    // Other controls than the checkbox, by which the Tab key reaches a line, have keys of their own.
    if (!row || !(target instanceof Element && target.matches("article, .pick input"))) return;
    const id = row.dataset.id ?? "";
    const item = items.find((each) => each.id === id);
    const { selected } = list;
    const move = (step: number) => {
      const all = [...(rows.current?.querySelectorAll<HTMLElement>("article") ?? [])];
      const next = all[all.indexOf(row) + step];
      next?.focus();
      if (next && shiftKey) list.select(next.dataset.id ?? "", true, true);
    };
    const step = (by: number) => {
      const neighbor = items[items.findIndex((each) => each.id === id) + by];
      if (!altKey) return move(by);
      if (neighbor) list.move(id, neighbor.id);
      focus(id);
    };
    const actions: Readonly<Record<string, () => void>> = {
      ArrowDown: () => step(1),
      ArrowUp: () => step(-1),
      x: () => list.select(id, !selected.peek().has(id)),
      Enter: () => {
        // The first action of a conversion is to cancel it, and the key that started it may still be down.
        if (item && !isRunning(item)) row.querySelector<HTMLElement>(".actions > button")?.click();
      },
      Escape: () => list.selectAll([]),
      Delete: () => removeChosen(),
      Backspace: () => removeChosen(),
    };
    const removeChosen = () => {
      const isOne = !selected.peek().has(id);
      if (item) remove(queue, isOne ? [item] : items.filter((each) => selected.peek().has(each.id)));
    };
    const isCommand = ctrlKey || metaKey;
    const act =
      isCommand && key === "a"
        ? () => list.selectAll(items.map((each) => each.id))
        : isCommand
          ? undefined
          : actions[key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: The keys belong to the focused file; a button does the same as each of them.
    <div class="rows" ref={rows} onKeyDown={keys} onPointerDown={(event) => dragRow(event, list, focus)}>
      {items.map((item) => (
        <Card key={item.id} item={item} list={list} brief={brief} alone={alone} />
      ))}
      {items.length === 0 && <p class="soft nothing">{strings.noneHere}</p>}
      <p class="visually-hidden" role="status" aria-label={strings.order}>
        {list.lastMove.value}
      </p>
    </div>
  );
}

const DRAG_FROM_PX = 4;
const EDGE_PX = 80;
const SCROLL_PX = 14;

/** Drags a row by its grip: a line shows where it will be, the edges of the window scroll, and Escape returns it. */
function dragRow(
  event: PointerEvent & { currentTarget: HTMLElement },
  list: ListState,
  focus: (id: string) => void,
) {
  const { target, currentTarget: rows, clientY: from, button, pointerId } = event;
  const grip = target instanceof Element ? target.closest<HTMLElement>(".grip") : null;
  const row = grip?.closest<HTMLElement>("article");
  if (!grip || !row || button !== 0) return;
  event.preventDefault();
  grip.setPointerCapture(pointerId);
  const end = new AbortController();
  const { signal } = end;
  let over: HTMLElement | null = null;
  let pointerY = from;
  const show = (next: HTMLElement | null) => {
    if (over) delete over.dataset.drop;
    over = next;
    if (!next) return;
    const isBelow = row.compareDocumentPosition(next) & Node.DOCUMENT_POSITION_FOLLOWING;
    next.dataset.drop = isBelow ? "after" : "before";
  };
  const look = () => {
    row.classList.add("dragged");
    const { left, width } = rows.getBoundingClientRect();
    const below =
      document.elementFromPoint(left + width / 2, pointerY)?.closest<HTMLElement>("article") ?? null;
    if (below !== over) show(below !== row && below && rows.contains(below) ? below : null);
  };
  const scroll = () => {
    if (signal.aborted) return;
    const by = pointerY < EDGE_PX ? -SCROLL_PX : pointerY > innerHeight - EDGE_PX ? SCROLL_PX : 0;
    if (by !== 0 && row.matches(".dragged")) {
      scrollBy(0, by);
      look();
    }
    requestAnimationFrame(scroll);
  };
  const finish = () => {
    const id = over?.dataset.id;
    end.abort();
    show(null);
    row.classList.remove("dragged");
    return id;
  };
  const options = { signal };
  grip.addEventListener(
    "pointermove",
    ({ clientY }) => {
      pointerY = clientY;
      if (Math.abs(clientY - from) >= DRAG_FROM_PX || row.matches(".dragged")) look();
    },
    options,
  );
  grip.addEventListener(
    "pointerup",
    () => {
      const [id, to] = [row.dataset.id ?? "", finish()];
      if (to !== undefined) list.move(id, to);
      focus(id);
    },
    options,
  );
  grip.addEventListener("pointercancel", finish, options);
  const cancel = (press: KeyboardEvent) => {
    if (press.key !== "Escape") return;
    // In the list, the key clears the selection.
    press.stopPropagation();
    finish();
  };
  addEventListener("keydown", cancel, { signal, capture: true });
  requestAnimationFrame(scroll);
}

/** The bar below the list: actions on the selected files, and on all. */
function Dock({ list }: { list: ListState }) {
  const { queue } = useWorkbench();
  const items = list.items.value;
  const selected = items.filter(({ id }) => list.selected.value.has(id));
  const [dialog, setDialog] = useState<"names" | "settings" | null>(null);
  const { running, succeeded, over, percent } = totalsOf(items);
  const startable = (selected.length > 0 ? selected : items).filter(isStartable);
  const joinable = selected.filter(isJoinable);
  const start = () => void queue.start(startable.map(({ id }) => id));
  const finished = items.filter(isOver);
  useLayoutEffect(() => {
    const key = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      start();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  });
  return (
    <section class="dock" aria-label={strings.allFiles}>
      {selected.length > 0 && (
        <div class="chosen">
          <b class="numbers">{strings.selected({ count: selected.length })}</b>
          {selected.some(isStartable) && (
            <button type="button" class="quiet" onClick={() => setDialog("settings")}>
              <Icon name="options" />
              {strings.settings}
            </button>
          )}
          {joinable.length > 1 && joinable.length === selected.length && (
            <button type="button" class="quiet" onClick={() => void joinFiles(queue, joinable)}>
              <Icon name="join" />
              {strings.join}
            </button>
          )}
          <button type="button" class="quiet" onClick={() => setDialog("names")}>
            <Icon name="pen" />
            {strings.names}
          </button>
          <button type="button" class="quiet" onClick={() => remove(queue, selected)}>
            <Icon name="remove" />
            {strings.remove}
          </button>
          <button
            type="button"
            class="quiet icon"
            aria-label={strings.clearSelection}
            onClick={() => list.selectAll([])}
          >
            <Icon name="cancel" />
          </button>
        </div>
      )}
      <Suspense fallback={null}>
        {dialog === "names" && <NamesDialog items={selected} onClose={() => setDialog(null)} />}
        {dialog === "settings" && <SettingsDialog items={selected} onClose={() => setDialog(null)} />}
      </Suspense>
      <div class="whole">
        <Summary list={list} running={running} percent={percent} />
        {over > 0 && (
          <button type="button" class="quiet" onClick={() => remove(queue, finished)}>
            {strings.removeFinished}
          </button>
        )}
        {succeeded > 1 && (
          <Suspense fallback={null}>
            <TakeAll items={items.filter((item) => stateOf(item) === "succeeded")} />
          </Suspense>
        )}
        {startable.length > 0 && (
          <button type="button" class="primary" onClick={start}>
            {strings.convertFiles({ count: startable.length })}
          </button>
        )}
      </div>
    </section>
  );
}

/** Returns whether an item is a video that can play before or after another. */
function isJoinable(item: Item): boolean {
  const { settings, source, input } = item;
  return isStartable(item) && settings.kind === "video" && source?.kind === "video" && input !== null;
}

/** Joins several videos in the order of the list: the first then plays the others after it. */
async function joinFiles(queue: Queue, items: readonly Item[]): Promise<void> {
  const [first, ...others] = items;
  if (!first?.source) return;
  const [{ attach }, { withVerdict }, { withOptions }] = await Promise.all([
    import("./attached-files.ts"),
    import("../options/check-settings.ts"),
    import("../options/choices.ts"),
  ]);
  const added = others.flatMap(({ input, settings }) => {
    if (input === null) return [];
    const { start, end }: AnyOptions = settings.options;
    const url = typeof input === "string" ? input : attach(input);
    return [{ url, ...(start !== undefined && { start }), ...(end !== undefined && { end }) }];
  });
  const { concat = [] }: AnyOptions = first.settings.options;
  const settings = withOptions(first.settings, { concat: [...concat, ...added] });
  join(queue, first, withVerdict(settings, first.source), others);
}

function Summary({ list, running, percent }: { list: ListState; running: number; percent: number | null }) {
  const items = list.items.value;
  const sum = sumOf(items, list);
  const saved = sum.before - sum.after;
  const done = items.filter((item) => stateOf(item) === "succeeded").length;
  const left = Math.max(0, ...items.map(({ pace }) => pace?.eta ?? 0));
  const counts = [
    running > 0 && strings.running({ count: running, percent }),
    running > 0 && left > 0 && timeLeft(left),
    done > 0 && strings.done({ count: done }),
    running === 0 && sum.seconds >= 1 && strings.onThisDevice({ time: durationWords(sum.seconds, false) }),
  ].filter((each) => typeof each === "string");
  return (
    <div class="summary numbers">
      <b>
        {sum.before > 0 && saved > 0 && !sum.isPartial
          ? strings.saves({ size: bytes(saved) })
          : strings.files({ count: items.length })}
      </b>
      <p class="soft small">{counts.join(" · ")}</p>
      {running > 0 && percent !== null && (
        <progress aria-label={strings.progressOfAll} max={100} value={percent} />
      )}
      {running === 0 && sum.before > 0 && sum.after > 0 && !sum.isPartial && (
        <SizeBar before={sum.before} after={sum.after} />
      )}
    </div>
  );
}
