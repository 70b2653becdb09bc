import type { Item } from "../queue/item.ts";
import { stateOf } from "../queue/queue.ts";
import { timeLeft } from "../words/quantities.ts";

/** How far an item is that is sent or converted: percent, speed and time left. */
export function ProgressLine({ item }: { item: Item }) {
  const state = stateOf(item);
  if (state === "sending" && item.starting?.sent !== null && item.starting?.sent !== undefined) {
    return <Line label="Sent" percent={item.starting.sent} more={[]} />;
  }
  if (state !== "processing") return null;
  const { progress = null, speed = null, eta = null } = item.pace ?? {};
  const more = [speed !== null && `${speedWords(speed)} real time`, eta !== null && timeLeft(eta)];
  return <Line label="Progress" percent={progress} more={more.filter((part) => part !== false)} />;
}

function Line({ label, percent, more }: { label: string; percent: number | null; more: readonly string[] }) {
  return (
    <div class="going numbers small">
      {percent === null ? (
        <progress aria-label={label} />
      ) : (
        <progress aria-label={label} max={100} value={percent} />
      )}
      <span class="percent">{percent === null ? "" : `${percent} %`}</span>
      <span class="soft">{more.join(" · ")}</span>
    </div>
  );
}

function speedWords(speed: number): string {
  return `${speed >= 10 ? Math.round(speed) : Number(speed.toPrecision(2))} ×`;
}
