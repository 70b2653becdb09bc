// A smaller difference may come from the headers alone.
const NOTHING = 0.01;

/** Shows the size after as a share of the size before; amber when it is larger. The words beside it say the same. */
export function SizeBar({ before, after }: { before: number; after: number }) {
  const share = before > 0 ? after / before : 1;
  const tone = Math.abs(share - 1) < NOTHING ? "same" : share > 1 ? "over" : "";
  return <span class={`size-bar ${tone}`} style={{ "--share": share }} aria-hidden="true" />;
}
