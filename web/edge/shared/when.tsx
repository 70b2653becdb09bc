const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const DAY = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });

/** A time in milliseconds since the Unix epoch, in short form, with the full form as a tooltip. */
export function When({ at }: { at: number }) {
  const date = new Date(at);
  return (
    <time class="numbers" dateTime={date.toISOString()} title={FULL.format(date)}>
      {date.toDateString() === new Date().toDateString() ? "Today" : DAY.format(date)}, {TIME.format(date)}
    </time>
  );
}
