import { useEffect, useState } from "preact/hooks";
import type { Media } from "./use-media.ts";

// Avoids decoding every position while a handle is dragged.
const PAUSE_MS = 300;

/** The picture at the player's time, decoded by the core when the player cannot show it. */
export function Still({ media: { frame, playback } }: { media: Media }) {
  const at = playback.time.value;
  const [url, setUrl] = useState<string | null>(null);
  const [isFailed, setFailed] = useState(false);
  useEffect(() => {
    if (!frame) return;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      frame(at, controller.signal).then(
        (blob) => controller.signal.aborted || setUrl(URL.createObjectURL(blob)),
        () => controller.signal.aborted || setFailed(true),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [frame, at]);
  useEffect(() => () => void (url && URL.revokeObjectURL(url)), [url]);
  if (!frame || (isFailed && !url)) return null;
  return (
    <div class="still">{url ? <img src={url} alt="" /> : <p class="small">Decoding the picture…</p>}</div>
  );
}
