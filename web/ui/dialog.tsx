import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import * as strings from "../strings.ts";
import { Icon } from "./icon.tsx";
import "./dialog.css";

/** A dialog over the page, open while mounted; Escape, a click outside and its close button call `onClose`. */
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
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => element?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      closedby="any"
      data-home
      tabIndex={-1}
      aria-labelledby={id}
      onCancel={(event) => {
        // The parent closes it by unmounting.
        event.preventDefault();
        onClose();
      }}
      onClose={({ currentTarget }) => {
        // A browser does not ask again when Escape is pressed twice.
        if (!currentTarget.isConnected) return;
        currentTarget.showModal();
        onClose();
      }}
    >
      <div class="stack">
        <div class="row">
          <h2 id={id} style={{ flex: 1 }}>
            {title}
          </h2>
          <button type="button" class="quiet icon" aria-label={strings.close} onClick={onClose}>
            <Icon name="cancel" />
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
