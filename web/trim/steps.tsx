import { Icon } from "../ui/icon.tsx";

/** Two buttons that move a time by the smallest step: a frame, or a hundredth of a second for sound. */
export function Steps({
  label,
  isSound,
  onStep,
}: {
  label: string;
  isSound: boolean;
  onStep: (steps: number) => void;
}) {
  const what = isSound ? "0.01 s" : "One frame";
  return (
    <fieldset class="steps">
      <legend class="visually-hidden">{`Fine steps of the ${label.toLowerCase()}`}</legend>
      <button type="button" class="icon" aria-label={`${what} back`} onClick={() => onStep(-1)}>
        <Icon name="step_back" />
      </button>
      <span class="small soft" aria-hidden="true">
        {label}
      </span>
      <button type="button" class="icon" aria-label={`${what} forward`} onClick={() => onStep(1)}>
        <Icon name="step_forth" />
      </button>
    </fieldset>
  );
}
