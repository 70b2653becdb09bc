import type { Item } from "../queue/item.ts";
import { stateOf } from "../queue/queue.ts";
import { timeLeft } from "../words/quantities.ts";

/** How far an item is that is sent or converted: percent, speed and time left. */
export function ProgressLine({ item }: { item: Item }) {
  const state = stateOf(item);
  if (state === "sending" && item.starting?.sent !== null && item.starting?.sent !== undefined) {
    return <Line label="Sent" percent={item.starting.sent} pace={[]} />;
  }
  if (state !== "processing") return null;
  const { progress = null, speed = null, eta = null } = item.pace ?? {};
  const pace = [speed !== null && `${speedWords(speed)} real time`, eta !== null && timeLeft(eta)];
  return <Line label="Progress" percent={progress} pace={pace.filter((part) => part !== false)} />;
}

function Line({ label, percent, pace }: { label: string; percent: number | null; pace: readonly string[] }) {
  return (
    <div class="going numbers small">
      {percent === null ? (
        <progress aria-label={label} />
      ) : (
        <progress aria-label={label} max={100} value={percent} />
      )}
      <p class="soft">{percent === null ? "Beginning…" : [`${percent} %`, ...pace].join(" · ")}</p>
    </div>
  );
}

function speedWords(speed: number): string {
  return `${speed >= 10 ? Math.round(speed) : Number(speed.toPrecision(2))} ×`;
}
