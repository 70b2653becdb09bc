// Takes the focus when something within or beside it that had the focus is removed.
const HOME = "[data-home]";

/**
 * Keeps the focus in place for keyboard users: when the focused element is removed, the nearest element with `data-home`
 * gets the focus. When that element itself is removed, the one after it does, or else the one before.
 */
export function keepFocus(root: HTMLElement): void {
  let last: Element | null = null;
  root.addEventListener("focusin", ({ target }) => {
    last = target instanceof Element ? target : null;
  });
  root.addEventListener("focusout", ({ target }) => {
    // Some browsers also fire it for elements being removed, and for everything in a window that loses focus.
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
    // Scrolling would move what the visitor is looking at.
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
