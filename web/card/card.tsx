import { useSignal } from "@preact/signals";
import { lazy, memo, Suspense } from "preact/compat";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import type { Item } from "../queue/item.ts";
import { isAwaited, stateOf } from "../queue/queue.ts";
import {
  describeDropped,
  describePlace,
  describeSource,
  describeWishes,
  stateWords,
} from "../words/item-words.ts";
import { bytes, saving } from "../words/quantities.ts";
import { Actions } from "./actions.tsx";
import "./card.css";
import { isFolder } from "../result/file-names.ts";
import { Icon, type IconName } from "../ui/icon.tsx";
import { FaultLine } from "./fault-line.tsx";
import { ProgressLine } from "./progress-line.tsx";
import { WaitingLine } from "./waiting-line.tsx";

const Editor = lazy(async () => ({ default: (await import("../options/editor.tsx")).Editor }));
const Result = lazy(async () => ({ default: (await import("../result/result.tsx")).Result }));

/** One item of the queue: its file, options, place and state. Memoized, so that it renders only when its own item changes. */
export const Card = memo(function Card({
  item,
  brief,
}: {
  item: Item;
  /** Shows a result only when asked for. */
  brief: boolean;
}) {
  const open = useSignal(false);
  const result = useSignal<boolean | null>(null);
  const id = useId();
  const article = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!isAwaited(item)) return;
    article.current?.focus({ preventScroll: true });
    article.current?.scrollIntoView({ block: "nearest" });
    // Only on the first render.
  }, []);
  const state = stateOf(item);
  const { source, size } = item;
  const isDone = state === "succeeded";
  const lost = useMemo(() => describeDropped(item.wishes, source), [item.wishes, source]);
  const shown = isDone ? (result.value ?? !brief) : state === "ready" && open.value;
  const toggle = () => {
    (isDone ? result : open).value = !shown;
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
            <span class={`state ${state}`}>{stateWords(item)}</span>
          </div>
          <p class="soft numbers">
            {source ? <Parts words={describeSource(source)} /> : size !== null && bytes(size)}
          </p>
          {source && (
            <p class="numbers">
              <span aria-hidden="true">→ </span>
              <span class="visually-hidden">Becomes </span>
              <Parts words={describeWishes(item.wishes, source)} />
            </p>
          )}
          {lost && <p class="soft small">{lost}</p>}
          {source && item.wishes.lowered && <p class="soft small">{item.wishes.lowered}</p>}
          {isDone && !shown && <SavedLine item={item} />}
          {source && (
            <p class="place soft small">
              <Icon name={item.wishes.place} size={16} />
              <span>{describePlace(item)}</span>
            </p>
          )}
        </div>
        <Actions item={item} more={{ shown, toggle, id: `${id}-more` }} />
      </div>
      <ProgressLine item={item} />
      <WaitingLine item={item} />
      <FaultLine item={item} isEdited={shown && !isDone} />
      <Suspense fallback={<p class="soft small">Loading…</p>}>
        {shown && (
          <div id={`${id}-more`} class="more">
            {isDone ? <Result item={item} /> : <Editor item={item} />}
          </div>
        )}
      </Suspense>
    </article>
  );
});

/**
 * The file sizes before and after for an item that succeeded; nothing when they are unknown, or when the output has many
 * files.
 */
function SavedLine({ item: { size, source, task } }: { item: Item }) {
  const made = task?.steps.find(({ output }) => output?.encoder)?.output;
  const before = size ?? source?.filesize ?? null;
  if (made?.filesize === undefined || isFolder(made) || before === null) return null;
  return <p class="saved numbers">{saving(before, made.filesize)}</p>;
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
    const made = URL.createObjectURL(thumbnail);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
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
