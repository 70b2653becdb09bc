import { useSignal } from "@preact/signals";
import { lazy, memo, Suspense } from "preact/compat";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import type { LocalFile } from "../../src/browser/index.ts";
import { type Fault, faultOf, type Item, type ItemState, keepsOriginal } from "../queue/item.ts";
import { awaitCopy, isAwaited, isRetryable, stateOf } from "../queue/queue.ts";
import { isFolder } from "../result/file-names.ts";
import { Icon, type IconName } from "../ui/icon.tsx";
import { SizeBar } from "../ui/size-bar.tsx";
import { faultDetail, faultWords } from "../words/fault-words.ts";
import {
  describeDropped,
  describePlace,
  describeSettings,
  describeSmallest,
  describeSource,
  isIdle,
  stateWords,
} from "../words/item-words.ts";
import { bytes, clock, countDown, saving, timeLeft } from "../words/quantities.ts";
import { originalKept } from "../words/strings.ts";
import { useWorkbench } from "../workbench.ts";
import * as strings from "./strings.ts";
import "./card.css";

interface Disclosure {
  isOpen: boolean;
  toggle: () => void;
  id: string;
}

function Actions({ item, more, alone }: { item: Item; more: Disclosure; alone: boolean }) {
  const { queue } = useWorkbench();
  const { id, name } = item;
  const state = stateOf(item);
  const runs = state === "queued" || state === "processing" || state === "sending";
  const again = (event: MouseEvent) => {
    if (!isMeant(event)) return;
    awaitCopy(item);
    queue.again(id);
  };
  return (
    <div class="actions">
      {(state === "ready" || state === "succeeded") && (
        <button
          key="more"
          type="button"
          aria-expanded={more.isOpen}
          aria-controls={more.isOpen ? more.id : undefined}
          onClick={more.toggle}
        >
          <Icon name={state === "ready" ? "options" : "chevron"} />
          {state === "ready" ? strings.options : strings.result}
        </button>
      )}
      {state === "ready" && (
        <button
          key="start"
          type="button"
          class={alone && !more.isOpen ? "primary" : ""}
          disabled={Boolean(item.settings.fault)}
          title={item.settings.fault?.message}
          onClick={() => void queue.start([id])}
        >
          {strings.convert}
        </button>
      )}
      {(runs || (state === "waiting" && item.task)) && (
        <button key="cancel" type="button" onClick={(event) => isMeant(event) && void queue.cancel(id)}>
          <Icon name="cancel" />
          {strings.cancel}
        </button>
      )}
      {isRetryable(item) && (
        <button key="retry" type="button" onClick={(event) => isMeant(event) && void queue.retry(id)}>
          <Icon name="refresh" />
          {strings.tryAgain}
        </button>
      )}
      {(state === "succeeded" || ((state === "failed" || state === "cancelled") && item.source)) && (
        <button key="again" type="button" onClick={again}>
          <Icon name="copy" />
          {strings.convertAgain}
        </button>
      )}
      <button
        key="remove"
        type="button"
        class="quiet icon"
        aria-label={strings.removeItem({ name })}
        title={strings.remove}
        onClick={() => void queue.remove(id)}
      >
        <Icon name="remove" />
      </button>
    </div>
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

function FaultLine({
  item,
  isEdited,
}: {
  item: Item;
  /** Whether the options are open, which then show their own errors. */
  isEdited: boolean;
}) {
  const { queue, edge } = useWorkbench();
  const settingsFault = stateOf(item) === "ready" && !isEdited ? item.settings.fault : null;
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

const Editor = lazy(async () => ({ default: (await import("../options/editor.tsx")).Editor }));
const Result = lazy(async () => ({ default: (await import("../result/result.tsx")).Result }));

/** One item of the queue: its file, options, place and state. Memoized, so that it renders only when its own item changes. */
export const Card = memo(function Card({
  item,
  brief,
  alone,
}: {
  item: Item;
  /** Shows a result only when asked for. */
  brief: boolean;
  /** Whether it is the only card, so that its start is the main action of the page. */
  alone: boolean;
}) {
  // The options of a job's only file are its next step; several files would push each other out of sight.
  const open = useSignal(alone && Boolean(item.job));
  const result = useSignal<boolean | null>(null);
  const id = useId();
  const article = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!isAwaited(item)) return;
    article.current?.focus({ preventScroll: true });
    article.current?.scrollIntoView({ block: "nearest" });
  }, []);
  const state = stateOf(item);
  const { source, size } = item;
  const isDone = state === "succeeded";
  const omissions = useMemo(() => describeDropped(item.settings, source), [item.settings, source]);
  const smallest = useMemo(
    () => (isDone ? null : describeSmallest(item.settings, source)),
    [isDone, item.settings, source],
  );
  const isOpen = isDone ? (result.value ?? !brief) : state === "ready" && open.value;
  const toggle = () => {
    (isDone ? result : open).value = !isOpen;
  };
  return (
    <article
      ref={article}
      class={`card panel ${state}`}
      aria-labelledby={`${id}-name`}
      data-state={state}
      data-home
      tabIndex={-1}
    >
      <div class="head">
        <Thumbnail item={item} />
        <div class="about">
          <div class="title">
            <h2 id={`${id}-name`} dir="auto" title={item.name}>
              {item.name}
            </h2>
            <span class={`badge ${BADGES[state] ?? ""}`}>{stateWords(item)}</span>
          </div>
          <p class="soft numbers">
            {source ? <Parts words={describeSource(source)} /> : size !== null && bytes(size)}
          </p>
          {source && (
            <p class="numbers">
              <span aria-hidden="true">→ </span>
              <span class="visually-hidden">{strings.becomes} </span>
              <Parts words={describeSettings(item.settings, source)} />
            </p>
          )}
          {omissions && <p class="soft small">{omissions}</p>}
          {source && item.settings.lowered && <p class="soft small">{item.settings.lowered}</p>}
          {(smallest || (isOpen && !isDone)) && <p class="soft small smallest">{smallest}</p>}
          {isDone && !isOpen && <SavedLine item={item} />}
          {source && (
            <p class="place soft small">
              <Icon name={item.settings.place} size={16} />
              <span>{describePlace(item)}</span>
            </p>
          )}
        </div>
        <Actions item={item} more={{ isOpen, toggle, id: `${id}-more` }} alone={alone} />
      </div>
      <ProgressLine item={item} />
      <WaitingLine item={item} />
      <FaultLine item={item} isEdited={isOpen && !isDone} />
      <Suspense fallback={<p class="soft small">{strings.loading}</p>}>
        {isOpen && (
          <div id={`${id}-more`} class="more">
            {isDone ? <Result item={item} /> : <Editor item={item} />}
          </div>
        )}
      </Suspense>
    </article>
  );
});

const BADGES: Partial<Record<ItemState, "good" | "bad" | "warn" | "busy">> = {
  sending: "busy",
  processing: "busy",
  succeeded: "good",
  failed: "bad",
  unusable: "bad",
  waiting: "warn",
};

function SavedLine({ item }: { item: Item }) {
  const { size, source, task } = item;
  if (keepsOriginal(item)) return <p class="saved">{originalKept}</p>;
  const output = task?.steps.find(({ output }) => output?.encoder)?.output;
  const before = size ?? source?.filesize ?? null;
  if (output?.filesize === undefined || isFolder(output) || before === null) return null;
  return (
    <p class="saved numbers">
      {saving(before, output.filesize)}
      <SizeBar before={before} after={output.filesize} />
    </p>
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
  return <div class="thumbnail">{url ? <img src={url} alt="" /> : <Icon name={sign} size={28} />}</div>;
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
