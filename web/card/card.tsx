import { useSignal } from "@preact/signals";
import { lazy, memo, Suspense } from "preact/compat";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { LocalFile } from "../../src/browser/index.ts";
import type { Source } from "../../src/index.ts";
import { visit } from "../address.ts";
import { formatOf } from "../options/choices.ts";
import { keepsOriginal } from "../options/default-settings.ts";
import { type Fault, faultOf, type Item, type ItemState } from "../queue/item.ts";
import type { ListState } from "../queue/list-state.ts";
import { awaitCopy, isAwaited, isRetryable, stateOf } from "../queue/queue.ts";
import { isRunning, remove } from "../queue/undo.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { Menu, MenuItem } from "../ui/menu.tsx";
import { SizeBar } from "../ui/size-bar.tsx";
import { faultDetail, faultWords } from "../words/fault-words.ts";
import {
  briefSource,
  describeDropped,
  describeEdits,
  describePlace,
  describeSettings,
  describeSource,
  isIdle,
  stateWords,
} from "../words/item-words.ts";
import { formatName } from "../words/names.ts";
import { bytes, clock, countDown, durationWords, shareWords, timeLeft } from "../words/quantities.ts";
import { smallest } from "../words/strings.ts";
import { useWorkbench } from "../workbench.ts";
import { ConvertMenu } from "./convert-menu.tsx";
import { isWide, middleOf, type Outlook, outlookOf, rangeWords } from "./outlook.ts";
import * as strings from "./strings.ts";
import "./card.css";

/** A part below the line of a file that opens and closes. */
interface Disclosure {
  isOpen: boolean;
  toggle: () => void;
  id: string;
}

function Actions({
  item,
  list,
  more,
  details,
}: {
  item: Item;
  list: ListState;
  /** Opens the editor of a ready file, or the result of a converted one. */
  more: Disclosure;
  details: Disclosure;
}) {
  const { queue } = useWorkbench();
  const { id, name } = item;
  const state = stateOf(item);
  const runs = isRunning(item);
  const again = () => {
    awaitCopy(item);
    queue.again(id);
  };
  const mayRepeat =
    state === "ready" ||
    state === "succeeded" ||
    ((state === "failed" || state === "cancelled") && item.source !== null);
  return (
    <div class="actions">
      {(state === "ready" || state === "succeeded") && (
        <button
          key="more"
          type="button"
          class="quiet"
          aria-expanded={state === "succeeded" ? more.isOpen : undefined}
          aria-controls={more.isOpen ? more.id : undefined}
          onClick={more.toggle}
        >
          {state === "ready" ? strings.edit : strings.result}
        </button>
      )}
      {state === "ready" && (
        <button
          key="start"
          type="button"
          disabled={Boolean(item.settings.fault)}
          title={item.settings.fault?.message}
          onClick={() => void queue.start([id])}
        >
          {strings.convert}
        </button>
      )}
      {(runs || (state === "waiting" && item.task)) && (
        <button
          key="cancel"
          type="button"
          class="quiet"
          onClick={(event) => isMeant(event) && void queue.cancel(id)}
        >
          {strings.cancel}
        </button>
      )}
      {state === "succeeded" && !more.isOpen && <SaveButton key="save" item={item} onFail={more.toggle} />}
      {isRetryable(item) && (
        <button key="retry" type="button" onClick={(event) => isMeant(event) && void queue.retry(id)}>
          {strings.tryAgain}
        </button>
      )}
      <Menu
        key="menu"
        label={strings.moreFor({ name })}
        title={name}
        buttonClass="quiet icon"
        button={<Icon name="more" />}
      >
        {() => (
          <>
            {item.source && (
              <MenuItem icon="info" onChoose={details.toggle}>
                {details.isOpen ? strings.hideDetails : strings.details}
              </MenuItem>
            )}
            {mayRepeat && (
              <MenuItem icon="copy" onChoose={again}>
                {state === "ready" ? strings.anotherOutput : strings.convertAgain}
              </MenuItem>
            )}
            {list.items.peek().length > 1 && (
              <>
                <MenuItem icon="up" onChoose={() => list.move(id, -1)}>
                  {strings.moveUp}
                </MenuItem>
                <MenuItem icon="down" onChoose={() => list.move(id, 1)}>
                  {strings.moveDown}
                </MenuItem>
              </>
            )}
            <MenuItem icon="remove" onChoose={() => remove(queue, [item])}>
              {strings.remove}
            </MenuItem>
          </>
        )}
      </Menu>
    </div>
  );
}

/** Saves the output of an item without showing it. */
function SaveButton({ item, onFail }: { item: Item; onFail: () => void }) {
  const { queue } = useWorkbench();
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      const { downloadOne } = await import("../result/download.ts");
      await downloadOne(item, queue, { signal: new AbortController().signal, onProgress: () => {} });
    } catch {
      // The result says what is wrong, and offers other ways.
      onFail();
    }
    setBusy(false);
  };
  return (
    <button type="button" disabled={isBusy} onClick={() => void save()}>
      <Icon name="download" />
      {isBusy ? strings.saving : strings.save}
    </button>
  );
}

// The second click of a double click lands on whatever replaced the button.
function isMeant({ detail }: MouseEvent): boolean {
  return detail < 2;
}

function ProgressLine({ item }: { item: Item }) {
  const state = stateOf(item);
  if (state === "sending" && item.starting?.percent !== null && item.starting?.percent !== undefined) {
    return <Line label={strings.sent} percent={item.starting.percent} words={[]} />;
  }
  if (state !== "processing" || isIdle(item)) return null;
  return <Converting item={item} />;
}

function Converting({ item: { task, pace, source } }: { item: Item }) {
  const now = useNow();
  const encode = task?.steps.find(({ kind }) => kind === task.kind);
  const { progress = null, speed = null, eta = null, at = now } = pace ?? {};
  // A single picture is encoded in one go and reports no progress; the elapsed time shows that work continues.
  const isSingle = task?.kind === "image" && source?.animated !== true;
  if (encode?.status === "processing" && (isSingle || !encode.progress)) {
    const seconds = Math.floor((now - (encode.started_at ?? now)) / 1000);
    return (
      <Line
        label={strings.progress}
        percent={null}
        words={seconds < 2 ? [] : [strings.workingFor({ time: clock(seconds) })]}
      />
    );
  }
  const words = [
    speed !== null && strings.realTime({ speed: speedWords(speed) }),
    eta !== null && timeLeft(countDown(eta, Math.max(0, now - at) / 1000)),
  ];
  return <Line label={strings.progress} percent={progress} words={words.filter((part) => part !== false)} />;
}

function Line({
  label,
  percent,
  words,
}: {
  label: string;
  percent: number | null;
  words: readonly string[];
}) {
  const parts = percent === null ? words : [`${percent} %`, ...words];
  return (
    <div class="going numbers small">
      {percent === null ? (
        <progress aria-label={label} />
      ) : (
        <progress aria-label={label} max={100} value={percent} />
      )}
      <p class="soft">{parts.length > 0 ? parts.join(" · ") : strings.starting}</p>
    </div>
  );
}

function speedWords(speed: number): string {
  return `${speed >= 10 ? Math.round(speed) : Number(speed.toPrecision(2))} ×`;
}

const EVERY_MS = 1000;

function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return Math.max(now, Date.now());
}

function WaitingLine({ item }: { item: Item }) {
  const { queue } = useWorkbench();
  const fileInput = useRef<HTMLInputElement>(null);
  const fault = useSignal<Fault | null>(null);
  const { waiting, id } = item;
  if (!waiting) return null;
  const give = async (file?: LocalFile) => {
    fault.value = null;
    await queue.resume(id, file).catch((thrown: unknown) => {
      fault.value = faultOf(thrown);
    });
  };
  const needsPermission = waiting.reason === "permission";
  return (
    <div class="notice warn">
      <Icon name="folder" />
      <div class="stack">
        <p>
          {needsPermission
            ? strings.allowAgain({ name: waiting.name })
            : strings.chooseAgain({ name: waiting.name })}
        </p>
        <div class="row">
          {needsPermission && (
            <button type="button" onClick={() => void give()}>
              {strings.allowReading}
            </button>
          )}
          <button type="button" onClick={() => fileInput.current?.click()}>
            {strings.chooseFileAgain}
          </button>
          <input
            ref={fileInput}
            type="file"
            hidden
            aria-label={strings.fileFor({ name: item.name })}
            onChange={({ currentTarget }) => {
              const [file] = currentTarget.files ?? [];
              if (file) void give(file);
              currentTarget.value = "";
            }}
          />
        </div>
        {fault.value && (
          <p class="said small" role="alert">
            {fault.value.message}
          </p>
        )}
      </div>
    </div>
  );
}

const ELSEWHERE: ReadonlySet<string> = new Set([
  "encoder_unavailable",
  "out_of_memory",
  "storage_full",
  "input_unreachable",
]);

function FaultLine({ item }: { item: Item }) {
  const { queue, edge } = useWorkbench();
  const settingsFault = stateOf(item) === "ready" ? item.settings.fault : null;
  const fault = item.fault ?? (item.task?.status === "failed" ? item.task.error : null) ?? settingsFault;
  if (!fault || item.waiting) return null;
  const { title, todo } = faultWords(fault, typeof item.input !== "string");
  const connection = edge.connection.value;
  const canMove =
    connection !== null &&
    item.settings.place === "device" &&
    ELSEWHERE.has(fault.kind) &&
    (stateOf(item) === "failed" || typeof item.input === "string");
  return (
    <div class="notice bad">
      <Icon name="fault" />
      <div class="stack">
        <p>
          <strong>{title}</strong> {todo}
        </p>
        <p class="said small">{faultDetail(fault)}</p>
        {canMove && (
          <div class="row">
            <button type="button" onClick={() => void queue.sendToEdge(item.id)}>
              <Icon name="edge" />
              {strings.sendToEdge}
            </button>
            <span class="soft small">
              {strings.leavesDevice({ host: new URL(connection.base_url).host })}
            </span>
          </div>
        )}
      </div>
    </div>
  );
}

const Result = lazy(async () => ({ default: (await import("../result/result.tsx")).Result }));

/**
 * One file of the list: a line with its name, its output, the sizes before and after, its state and actions; below it, what is wrong with
 * it, its details and its result. Memoized, so that it renders only when its own item changes.
 */
export const Card = memo(function Card({
  item,
  list,
  brief,
  alone,
}: {
  item: Item;
  list: ListState;
  /** Shows a result only when asked for. */
  brief: boolean;
  /** Whether it is the only card. */
  alone: boolean;
}) {
  const { address } = useWorkbench();
  const isOffered = useRef(false);
  const result = useSignal<boolean | null>(null);
  const detailed = useSignal(false);
  const id = useId();
  const article = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (!isAwaited(item)) return;
    article.current?.focus({ preventScroll: true });
    article.current?.scrollIntoView({ block: "nearest" });
  }, []);
  useEffect(() => (article.current ? list.watch(article.current, item.id) : undefined), [list, item.id]);
  const state = stateOf(item);
  const { source } = item;
  const isDone = state === "succeeded";
  const omissions = useMemo(() => describeDropped(item.settings, source), [item.settings, source]);
  const estimate = list.estimates.of(item);
  const outlook = useMemo(() => outlookOf(item, estimate), [item, estimate]);
  const isOpen = isDone && (result.value ?? !brief);
  useEffect(() => {
    // A job's only file opens in the editor, because choosing its options is the next step.
    if (!alone || !item.job || state !== "ready" || isOffered.current) return;
    isOffered.current = true;
    // After a reload, the address already has the file and its open pane.
    if (address.peek().file !== item.id) edit(item.id);
  }, [alone, state]);
  const isSelected = list.selected.value.has(item.id);
  const more: Disclosure = {
    isOpen,
    toggle: () => {
      if (isDone) result.value = !isOpen;
      else edit(item.id);
    },
    id: `${id}-more`,
  };
  const details: Disclosure = {
    isOpen: detailed.value,
    toggle: () => {
      detailed.value = !detailed.peek();
    },
    id: `${id}-details`,
  };
  const notes = isDone ? [omissions] : [omissions, source && item.settings.lowered];
  return (
    <article
      ref={article}
      class={`card ${state}${isSelected ? " selected" : ""}${alone ? " alone" : ""}`}
      aria-labelledby={`${id}-name`}
      data-state={state}
      data-id={item.id}
      data-home
      tabIndex={-1}
    >
      <div class="line">
        {!alone && (
          <label class="pick">
            <input
              type="checkbox"
              aria-label={strings.selectItem({ name: item.name })}
              checked={isSelected}
              onClick={({ shiftKey }) => list.select(item.id, !isSelected, shiftKey)}
            />
          </label>
        )}
        <Thumbnail item={item} />
        {!alone && <span class="grip" aria-hidden="true" />}
        <div class="name">
          <h2 id={`${id}-name`} dir="auto" title={item.name}>
            {item.name}
          </h2>
          <p class="soft small numbers">{factsOf(item)}</p>
        </div>
        <div class="to">
          {state === "ready" && source ? (
            <ConvertMenu item={item} source={source} list={list} />
          ) : (
            source && <Target item={item} source={source} />
          )}
        </div>
        <Sizes outlook={outlook} />
        <State item={item} outlook={outlook} />
        <Actions item={item} list={list} more={more} details={details} />
      </div>
      {notes.some(Boolean) && (
        <ul class="notes plain soft small">{notes.map((note) => note && <li key={note}>{note}</li>)}</ul>
      )}
      <WaitingLine item={item} />
      <FaultLine item={item} />
      {detailed.value && source && <Details id={details.id} item={item} />}
      <Suspense fallback={<p class="more soft small">{strings.loading}</p>}>
        {isOpen && (
          <div id={more.id} class="more">
            <Result item={item} />
          </div>
        )}
      </Suspense>
    </article>
  );
});

function edit(id: string): void {
  visit(`/files?file=${id}`);
}

/** Describes a file, and what its settings change besides the format. */
function factsOf({ source, settings, size, naming }: Item): string {
  if (!source) return size === null ? "" : bytes(size);
  const savedAs = naming ? strings.savedAs({ name: naming.pattern }) : null;
  return [briefSource(source), describeEdits(settings), savedAs].filter(Boolean).join(" · ");
}

function Target({ item, source }: { item: Item; source: Source }) {
  const { kind, options } = item.settings;
  const result = item.task?.steps.findLast(({ output }) => output?.encoder)?.output;
  const format = keepsOriginal(item) ? source.format : (result?.format ?? formatOf(kind, options, source));
  return (
    <p class="target">
      <span class="soft" aria-hidden="true">
        →
      </span>
      <span class="visually-hidden">{strings.becomes} </span>
      <b>{formatName(format)}</b>
    </p>
  );
}

/** The size before and after, in words and as a bar. */
function Sizes({ outlook }: { outlook: Outlook | null }) {
  if (!outlook) return <div class="sizes" />;
  const { before, after, isExact, tone } = outlook;
  if (before === null && after === null) return <div class="sizes" />;
  if (after === null || tone === "kept") {
    return (
      <div class="sizes numbers">
        <p>
          <b>{bytes(before ?? 0)}</b>
        </p>
        {tone === "kept" && <SizeBar before={1} after={1} />}
      </div>
    );
  }
  const middle = middleOf(after);
  const isRange = isWide(after);
  return (
    <div class={`sizes numbers ${tone}${isExact ? " saved" : ""}`}>
      <p>
        {before !== null && <span class="soft">{bytes(before)} → </span>}
        <b>{isRange ? rangeWords(after) : bytes(middle)}</b>{" "}
        {before !== null && !isRange && (
          <b class={middle > before ? "share over" : "share"}>{shareWords(before, middle)}</b>
        )}
      </p>
      {before !== null && <SizeBar before={before} after={middle} />}
    </div>
  );
}

function State({ item, outlook }: { item: Item; outlook: Outlook | null }) {
  const state = stateOf(item);
  if ((state === "processing" && !isIdle(item)) || (state === "sending" && item.starting?.percent != null)) {
    return (
      <div class="state">
        <span class="visually-hidden">{stateWords(item)}</span>
        <ProgressLine item={item} />
      </div>
    );
  }
  const words = stateWords(item);
  const { title, note } = stateNotes(item, outlook);
  return (
    <div class={`state ${TONES[state] ?? ""}${outlook?.tone === "over" && state === "ready" ? " warn" : ""}`}>
      <p>
        {state === "succeeded" && <Icon name="check" size={15} />}
        {title && <Icon name="fault" size={15} />}
        {title ?? words}
      </p>
      {title && <p class="visually-hidden">{words}</p>}
      {note && <p class="soft small numbers">{note}</p>}
    </div>
  );
}

const TONES: Partial<Record<ItemState, "good" | "bad">> = {
  succeeded: "good",
  failed: "bad",
  unusable: "bad",
};

/** Returns a title that replaces the state's name, and a note below it. */
function stateNotes(item: Item, outlook: Outlook | null): { title?: string; note?: string | undefined } {
  const { task } = item;
  if (stateOf(item) === "succeeded") {
    if (keepsOriginal(item)) return { note: strings.originalKept };
    const { started_at, finished_at } = task ?? {};
    return started_at && finished_at ? { note: durationWords((finished_at - started_at) / 1000) } : {};
  }
  if (stateOf(item) !== "ready" || !outlook) return {};
  const { before, after, tone, seconds } = outlook;
  if (tone === "kept") return { note: smallest };
  if (tone === "over" && before !== null && after !== null) {
    return { title: strings.grows({ factor: after.low / before }), note: strings.whyLarger[outlook.why] };
  }
  return seconds === null ? {} : { note: strings.about({ time: durationWords(seconds, false) }) };
}

/** Everything that is known about a file and its output. */
function Details({ id, item }: { id: string; item: Item }) {
  const { source, settings } = item;
  if (!source) return null;
  return (
    <section id={id} class="details" aria-label={strings.detailsOf({ name: item.name })}>
      <dl class="small">
        <div>
          <dt class="soft">{strings.file}</dt>
          <dd class="numbers">
            <Parts words={describeSource(source)} />
          </dd>
        </div>
        <div>
          <dt class="soft">{strings.becomes}</dt>
          <dd class="numbers">
            <Parts words={describeSettings(settings, source)} />
          </dd>
        </div>
        <div>
          <dt class="soft">{strings.where}</dt>
          <dd class="place">{describePlace(item)}</dd>
        </div>
      </dl>
    </section>
  );
}

const SIGNS = {
  video: "video",
  audio: "audio",
  image: "image",
  adaptive_video: "stream",
  data: "audio",
} as const satisfies Record<string, IconName>;

function Thumbnail({ item }: { item: Item }) {
  const { thumbnail, source } = item;
  const sign = source ? SIGNS[source.kind] : item.fault ? "fault" : "clock";
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!thumbnail) return;
    const objectUrl = URL.createObjectURL(thumbnail);
    setUrl(objectUrl);
    return () => URL.revokeObjectURL(objectUrl);
  }, [thumbnail]);
  return <div class="thumbnail">{url ? <img src={url} alt="" /> : <Icon name={sign} size={20} />}</div>;
}

/** A comma-separated list of facts that wraps only between facts, where they fit on a line. */
function Parts({ words }: { words: string }) {
  const parts = words.split(", ");
  return (
    <>
      {parts.map((part, index) => [
        index > 0 && " ",
        <span key={part} class="part">
          {index < parts.length - 1 ? `${part},` : part}
        </span>,
      ])}
    </>
  );
}
