// What takes the focus in the place of something within it, or beside it, that was taken away.
const HOME = "[data-home]";

/** Keeps those who use a keyboard where they are: when what has the focus is taken away, the nearest element with `data-home` gets it. For one that is a home itself, that is the one after it, or else before it. */
export function keepFocus(root: HTMLElement): void {
  let last: Element | null = null;
  root.addEventListener("focusin", ({ target }) => {
    last = target instanceof Element ? target : null;
  });
  root.addEventListener("focusout", ({ target }) => {
    // Some browsers say so of what is being taken away, too, and all of a window that is left.
    queueMicrotask(() => {
      if (last === target && last?.isConnected && document.activeElement !== last) last = null;
    });
  });
  new MutationObserver((changes) => {
    const lost = last;
    if (!lost || lost.isConnected || document.activeElement !== document.body) return;
    const change = changes.find(({ target, removedNodes }) => {
      return target.isConnected && [...removedNodes].some((node) => node.contains(lost));
    });
    if (!change) return;
    last = null;
    // What comes into view by itself would take away what is being looked at.
    homeAfter(change, lost, root)?.focus({ preventScroll: true });
  }).observe(root, { childList: true, subtree: true });
}

function homeAfter(change: MutationRecord, lost: Element, root: HTMLElement): HTMLElement | null {
  const removed = [...change.removedNodes].find((node) => node.contains(lost));
  const beside =
    removed instanceof Element && removed.matches(HOME)
      ? (homeAlong(change.nextSibling, "nextSibling") ?? homeAlong(change.previousSibling, "previousSibling"))
      : null;
  const within = change.target instanceof Element ? change.target.closest<HTMLElement>(HOME) : null;
  return beside ?? within ?? root.querySelector<HTMLElement>(`main ${HOME}`) ?? root.querySelector("main");
}

function homeAlong(first: Node | null, way: "nextSibling" | "previousSibling"): HTMLElement | null {
  for (let node = first; node; node = node[way]) {
    if (!(node instanceof HTMLElement && node.isConnected)) continue;
    const home = node.matches(HOME) ? node : node.querySelector<HTMLElement>(HOME);
    if (home) return home;
  }
  return null;
}
