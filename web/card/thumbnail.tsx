import { useEffect, useState } from "preact/hooks";
import type { Item } from "../queue/item.ts";
import { Icon, type IconName } from "../ui/icon.tsx";

const SIGNS = {
  video: "video",
  audio: "audio",
  image: "image",
  adaptive_video: "stream",
} as const satisfies Record<string, IconName>;

/** The small picture of an item, or the sign of its kind. */
export function Thumbnail({ item: { thumbnail, source } }: { item: Pick<Item, "thumbnail" | "source"> }) {
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!thumbnail) return;
    const made = URL.createObjectURL(thumbnail);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [thumbnail]);
  return (
    <div class="thumbnail">
      {url ? <img src={url} alt="" /> : <Icon name={source ? SIGNS[source.kind] : "clock"} size={28} />}
    </div>
  );
}
