import { Notice } from "../ui/notice.tsx";
import { bytes } from "../words/quantities.ts";
import type { Doing } from "./use-doing.ts";

/** Shows how far something is that a click began, with what stops it, then what came of it. */
export function DoingView({ doing, label }: { doing: Doing; label: string }) {
  const { progress, fault, said, stop } = doing;
  return (
    <>
      {progress && (
        <div class="row doing">
          <progress
            aria-label={label}
            {...(progress.share !== null && { value: progress.share * 100, max: 100 })}
          />
          <span class="small soft numbers">
            {label}{" "}
            {progress.share === null ? bytes(progress.bytes) : `${Math.floor(progress.share * 100)} %`}
          </span>
          <button type="button" class="quiet" onClick={stop}>
            Cancel
          </button>
        </div>
      )}
      {fault && <Notice tone="bad">{fault.message}</Notice>}
      <p role="status" class={said ? "small soft" : "visually-hidden"}>
        {said}
      </p>
    </>
  );
}
