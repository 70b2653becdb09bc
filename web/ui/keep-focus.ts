const HOME = "[data-home]";

/**
 * Keeps the focus in place for keyboard users: when the focused element is removed, the nearest element with `data-home`
 * gets the focus. When that element itself is removed, the one after it does, otherwise the one before it.
 */
export function keepFocus(root: HTMLElement): void {
  let last: Element | null = root.contains(document.activeElement) ? document.activeElement : null;
  root.addEventListener("focusin", ({ target }) => {
    last = target instanceof Element ? target : null;
  });
  root.addEventListener("focusout", ({ target }) => {
    // Some browsers also fire this event for removed elements, and when the window loses focus.
    queueMicrotask(() => {
      if (last === target && last?.isConnected && document.activeElement !== last) last = null;
    });
  });
  new MutationObserver((changes) => {
    const removedFocus = last;
    if (!removedFocus || removedFocus.isConnected || document.activeElement !== document.body) return;
    const change = changes.find(({ target, removedNodes }) => {
      return target.isConnected && [...removedNodes].some((node) => node.contains(removedFocus));
    });
    if (!change) return;
    last = null;
    homeAfter(change, removedFocus, root)?.focus({ preventScroll: true });
  }).observe(root, { childList: true, subtree: true });
}

function homeAfter(change: MutationRecord, removedFocus: Element, root: HTMLElement): HTMLElement | null {
  const removed = [...change.removedNodes].find((node) => node.contains(removedFocus));
  const sibling =
    removed instanceof Element && removed.matches(HOME)
      ? (homeAlong(change.nextSibling, "nextSibling") ?? homeAlong(change.previousSibling, "previousSibling"))
      : null;
  const within = change.target instanceof Element ? change.target.closest<HTMLElement>(HOME) : null;
  return sibling ?? within ?? root.querySelector<HTMLElement>(`main ${HOME}`) ?? root.querySelector("main");
}

function homeAlong(first: Node | null, direction: "nextSibling" | "previousSibling"): HTMLElement | null {
  for (let node = first; node; node = node[direction]) {
    if (!(node instanceof HTMLElement && node.isConnected)) continue;
    const home = node.matches(HOME) ? node : node.querySelector<HTMLElement>(HOME);
    if (home) return home;
  }
  return null;
}
