const SHORT = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});
const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });

/** A moment in milliseconds since the Unix epoch, shortly, and in full on being pointed at. */
export function When({ at }: { at: number }) {
  const date = new Date(at);
  return (
    <time class="numbers" dateTime={date.toISOString()} title={FULL.format(date)}>
      {SHORT.format(date)}
    </time>
  );
}
