import { useEffect, useState } from "preact/hooks";
import type { Item } from "../queue/item.ts";
import { Icon, type IconName } from "../ui/icon.tsx";

const SIGNS = {
  video: "video",
  audio: "audio",
  image: "image",
  adaptive_video: "stream",
} as const satisfies Record<string, IconName>;

export function Thumbnail({ item }: { item: Item }) {
  const { thumbnail, source } = item;
  const sign = source ? SIGNS[source.kind] : item.fault ? "fault" : "clock";
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!thumbnail) return;
    const made = URL.createObjectURL(thumbnail);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [thumbnail]);
  return <div class="thumbnail">{url ? <img src={url} alt="" /> : <Icon name={sign} size={28} />}</div>;
}
