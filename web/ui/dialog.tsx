import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Icon } from "./icon.tsx";

/** A dialog over the page, open as long as it is there; Escape and its own button call `onClose`. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      data-home
      tabIndex={-1}
      aria-labelledby={id}
      onCancel={(event) => {
        // It is taken away by whoever put it there.
        event.preventDefault();
        onClose();
      }}
    >
      <div class="stack">
        <div class="row">
          <h2 id={id} style={{ flex: 1 }}>
            {title}
          </h2>
          <button type="button" class="quiet icon" aria-label="Close" onClick={onClose}>
            <Icon name="cancel" />
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
