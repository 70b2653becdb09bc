import { Notice } from "../ui/notice.tsx";
import { bytes } from "../words/quantities.ts";
import type { Doing } from "./use-doing.ts";

/** Shows the progress of an operation with a button that stops it, then the result. */
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
