import type { EncodeKind } from "../../../src/index.ts";
import { Player } from "../../result/player.tsx";
import "../../result/result.css";

/** Plays the output of a task; apart, as players are heavy. */
export function TaskPlayer({ kind, url, name }: { kind: EncodeKind; url: string; name: string }) {
  return (
    <div class="result">
      <Player
        url={url}
        kind={kind === "audio" ? "audio" : "video"}
        name={name}
        isStream={kind === "adaptive_video"}
      />
    </div>
  );
}
