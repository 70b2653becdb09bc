import { useEffect, useState } from "preact/hooks";
import type { MediaInput } from "../../src/index.ts";

/** Gives an address by which an element can show what was added; null where there is none, and until a file is opened. */
export function useMediaUrl(input: MediaInput | null): string | null {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (input === null || typeof input === "string") {
      // Elements cannot open storage.
      setUrl(input?.startsWith("http") ? input : null);
      return;
    }
    let made: string | null = null;
    let isGone = false;
    const show = (file: Blob) => {
      if (isGone) return;
      made = URL.createObjectURL(file);
      setUrl(made);
    };
    if (input instanceof Blob) show(input);
    // A file that may not be read any more has no picture to show.
    else input.getFile().then(show, () => setUrl(null));
    return () => {
      isGone = true;
      if (made) URL.revokeObjectURL(made);
    };
  }, [input]);
  return url;
}
