import type { EncodeKind, Source } from "../../src/index.ts";
import { Player } from "../result/player.tsx";
import "../result/result.css";

/** Plays the output of a task; a separate module, because players are large. */
export function TaskPlayer({
  kind,
  url,
  name,
  made,
}: {
  kind: EncodeKind;
  url: string;
  name: string;
  made: Pick<Source, "width" | "height" | "codecs"> | undefined;
}) {
  const player = {
    url,
    kind: kind === "audio" || made?.codecs?.video === null ? "audio" : "video",
    name,
    isStream: kind === "adaptive_video",
    shape: made?.width && made.height ? `${made.width} / ${made.height}` : "16 / 9",
  } as const;
  return (
    <div class="result">
      <Player {...player} />
    </div>
  );
}
