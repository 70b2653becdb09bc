import { useEffect, useState } from "preact/hooks";

const EVERY_MS = 1000;

/** Returns the time in milliseconds since the epoch, and renders again every second. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return Math.max(now, Date.now());
}
