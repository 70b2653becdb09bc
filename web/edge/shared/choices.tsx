import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** A group of checkboxes under one label, with an error message. */
export function Choices({
  legend,
  fault,
  children,
}: {
  legend: string;
  fault: string | null;
  children: ComponentChildren;
}) {
  const id = useId();
  return (
    <fieldset aria-describedby={fault ? id : undefined}>
      <legend>{legend}</legend>
      {children}
      {fault && (
        <span class="small bad" id={id} role="alert">
          {fault}
        </span>
      )}
    </fieldset>
  );
}
