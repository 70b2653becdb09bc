import { useCallback, useEffect, useMemo } from "preact/hooks";
import type { Observe } from "./record-table.tsx";

/** Calls `see` when rows of a table scroll into view or out of it. */
export function useInView(see: (id: string, seen: boolean) => void): Observe {
  const observer = useMemo(
    () =>
      new IntersectionObserver((entries) => {
        for (const { target, isIntersecting } of entries)
          see(target.getAttribute("data-id") ?? "", isIntersecting);
      }),
    [see],
  );
  useEffect(() => () => observer.disconnect(), [observer]);
  return useCallback(
    (id, row) => {
      observer.observe(row);
      return () => {
        observer.unobserve(row);
        see(id, false);
      };
    },
    [observer, see],
  );
}
