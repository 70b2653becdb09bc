import type { EncodeKind, Source } from "../../src/index.ts";
import { Player } from "../result/player.tsx";
import "../result/result.css";

/** Plays the output of a task; a separate module, because players are large. */
export function TaskPlayer({
  kind,
  url,
  name,
  output,
}: {
  kind: EncodeKind;
  url: string;
  name: string;
  output: Pick<Source, "width" | "height" | "codecs"> | undefined;
}) {
  const player = {
    url,
    kind: kind === "audio" || output?.codecs?.video === null ? "audio" : "video",
    name,
    isStream: kind === "adaptive_video",
    shape: output?.width && output.height ? `${output.width} / ${output.height}` : "16 / 9",
  } as const;
  return (
    <div class="result">
      <Player {...player} />
    </div>
  );
}
