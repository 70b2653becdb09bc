import { useEffect, useState } from "preact/hooks";
import type { Media } from "./use-media.ts";

// While a handle is dragged, its way is not decoded.
const PAUSE_MS = 300;

/** The picture at the player's time, decoded by the core, in place of a player that cannot show it. */
export function Still({ media: { frame, playback } }: { media: Media }) {
  const at = playback.time.value;
  const [url, setUrl] = useState<string | null>(null);
  const [isFailed, setFailed] = useState(false);
  useEffect(() => {
    if (!frame) return;
    const gone = new AbortController();
    const timer = setTimeout(() => {
      frame(at, gone.signal).then(
        (blob) => gone.signal.aborted || setUrl(URL.createObjectURL(blob)),
        () => gone.signal.aborted || setFailed(true),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [frame, at]);
  useEffect(() => () => void (url && URL.revokeObjectURL(url)), [url]);
  if (!frame || (isFailed && !url)) return null;
  return (
    <div class="still">{url ? <img src={url} alt="" /> : <p class="small">Decoding the picture…</p>}</div>
  );
}
