import { useId, useState } from "preact/hooks";
import type { Source } from "../../../src/index.ts";
import type { AnyOptions } from "../../options/choices.ts";
import type { Item } from "../../queue/item.ts";
import { clock } from "../../words/quantities.ts";
import { isFolder } from "../save/file-names.ts";
import { Compare } from "./compare.tsx";

/** Returns whether an output can be compared with its input: both are one picture or video, and the input is still available. */
export function canCompare(item: Item, output: Source): boolean {
  const kinds: readonly Source["kind"][] = ["image", "video"];
  if (item.input === null || !item.source || isFolder(output)) return false;
  return kinds.includes(output.kind) && kinds.includes(item.source.kind);
}

/** Compares an output with its input; for a video, at a moment that the visitor chooses. */
export function SideBySide({ item, output, url }: { item: Item; output: Source; url: string }) {
  const id = useId();
  const { input, source } = item;
  const { start = 0, speed = 1, concat }: AnyOptions = item.task?.options ?? {};
  const duration = output.duration ?? 0;
  // The original is only the first of the joined videos.
  const compared = concat ? Math.min(duration, source?.duration ?? duration) : duration;
  const last = Math.max(0, compared - 1 / (output.fps || 25));
  const [moment, setMoment] = useState(last / 2);
  if (input === null || !source) return null;
  const isVideo = output.kind === "video";
  const at = isVideo ? moment : 0;
  return (
    <>
      <Compare
        before={{ input, source, time: start + at * speed }}
        after={{ input: url, source: output, time: at }}
        alt={item.name}
      />
      {isVideo && last > 0 && (
        <div class="moment">
          <label for={id}>Moment</label>
          <input
            id={id}
            type="range"
            min={0}
            max={last}
            step={1 / (output.fps || 25)}
            value={moment}
            aria-valuetext={clock(moment, true)}
            onInput={({ currentTarget }) => setMoment(currentTarget.valueAsNumber)}
          />
          <output for={id} class="numbers">
            {clock(moment, true)}
          </output>
        </div>
      )}
    </>
  );
}
