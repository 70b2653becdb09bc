// A smaller difference may come from the headers alone.
const TOLERANCE = 0.01;

/** Shows the size after as a share of the size before; amber when it is larger. The words beside it say the same. */
export function SizeBar({
  before,
  after,
  limit = null,
}: {
  before: number;
  after: number;
  /** A size limit, as a tick; null for none. */
  limit?: number | null;
}) {
  const share = before > 0 ? after / before : 1;
  const tone = Math.abs(share - 1) < TOLERANCE ? "same" : share > 1 ? "over" : "";
  const tick = limit !== null && limit < before ? limit / before : null;
  return (
    <span class={`size-bar ${tone}`} style={{ "--share": share }} aria-hidden="true">
      {tick !== null && <span class="tick" style={{ "--at": tick }} />}
    </span>
  );
}
