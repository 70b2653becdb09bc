import { useEffect, useState } from "preact/hooks";
import type { Item } from "../queue/item.ts";
import { stateOf } from "../queue/queue.ts";
import { isIdle } from "../words/item-words.ts";
import { clock, countDown, timeLeft } from "../words/quantities.ts";

export function ProgressLine({ item }: { item: Item }) {
  const state = stateOf(item);
  if (state === "sending" && item.starting?.sent !== null && item.starting?.sent !== undefined) {
    return <Line label="Sent" percent={item.starting.sent} words={[]} />;
  }
  // A waiting item has no progress to show.
  if (state !== "processing" || isIdle(item)) return null;
  return <Converting item={item} />;
}

function Converting({ item: { task, pace, source } }: { item: Item }) {
  const now = useNow();
  const encode = task?.steps.find(({ kind }) => kind === task.kind);
  const { progress = null, speed = null, eta = null, at = now } = pace ?? {};
  // A single picture is encoded in one go, and other work may not have started to report; only the elapsed time shows that it
  // continues.
  const isSingle = task?.kind === "image" && source?.animated !== true;
  if (encode?.status === "processing" && (isSingle || !encode.progress)) {
    const seconds = Math.floor((now - (encode.started_at ?? now)) / 1000);
    return (
      <Line label="Progress" percent={null} words={seconds < 2 ? [] : [`Working for ${clock(seconds)}`]} />
    );
  }
  const words = [
    speed !== null && `${speedWords(speed)} real time`,
    eta !== null && timeLeft(countDown(eta, Math.max(0, now - at) / 1000)),
  ];
  return <Line label="Progress" percent={progress} words={words.filter((part) => part !== false)} />;
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
  const said = percent === null ? words : [`${percent} %`, ...words];
  return (
    <div class="going numbers small">
      {percent === null ? (
        <progress aria-label={label} />
      ) : (
        <progress aria-label={label} max={100} value={percent} />
      )}
      <p class="soft">{said.length > 0 ? said.join(" · ") : "Starting…"}</p>
    </div>
  );
}

function speedWords(speed: number): string {
  return `${speed >= 10 ? Math.round(speed) : Number(speed.toPrecision(2))} ×`;
}

const EVERY_MS = 1000;

/** Returns the time in milliseconds since the epoch, and renders again every second. */
function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return Math.max(now, Date.now());
}
