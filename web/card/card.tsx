import { useSignal } from "@preact/signals";
import { lazy, memo, Suspense } from "preact/compat";
import { useEffect, useId, useMemo, useRef } from "preact/hooks";
import type { Item } from "../queue/item.ts";
import { stateOf } from "../queue/queue.ts";
import { Icon } from "../ui/icon.tsx";
import { Parts } from "../ui/parts.tsx";
import { describeDropped } from "../words/dropped-words.ts";
import { describePlace } from "../words/place-words.ts";
import { bytes } from "../words/quantities.ts";
import { describeSource } from "../words/source-words.ts";
import { stateWords } from "../words/state-words.ts";
import { describeWishes } from "../words/wish-words.ts";
import { Actions } from "./actions.tsx";
import "./card.css";
import { isAwaited } from "./awaited-copy.ts";
import { FaultLine } from "./fault-line.tsx";
import { ProgressLine } from "./progress-line.tsx";
import { SavedLine } from "./saved-line.tsx";
import { Thumbnail } from "./thumbnail.tsx";
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
            <h2 id={`${id}-name`}>{item.name}</h2>
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
