import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { types } from "../home/strings.ts";
import { Field } from "../ui/field.tsx";
import { FirstIcon } from "../ui/first-icon.tsx";
import { useWorkbench } from "../workbench.ts";
import { isAddress, pickHandles } from "./add-inputs.tsx";
import * as strings from "./strings.ts";

/** The place for files on the page without any. */
export function AddFiles() {
  return (
    <section class="add-files large frame" aria-label={strings.addMedia}>
      <p class="invitation">{strings.invitation}</p>
      <div class="ways">
        <ChooseFiles look="primary large" />
        <AddUrl />
      </div>
      <p class="soft small">
        {strings.pasteHint}
        <br />
        {types}
      </p>
    </section>
  );
}

/** A button that lets the visitor choose files. */
export function ChooseFiles({ look = "" }: { look?: string }) {
  const { queue, address } = useWorkbench();
  const input = useRef<HTMLInputElement>(null);
  const choose = async () => {
    const handles = await pickHandles();
    if (handles) queue.add(handles, address.value.job);
    else input.current?.click();
  };
  const addChosen = (element: HTMLInputElement) => {
    const files = [...(element.files ?? [])];
    element.value = "";
    if (files.length > 0) queue.add(files, address.peek().job);
  };
  // It may have taken files before this code ran.
  useLayoutEffect(() => {
    if (input.current) addChosen(input.current);
  }, []);
  return (
    <>
      <button type="button" class={look} data-home onClick={() => void choose()}>
        <FirstIcon name="add" />
        {strings.chooseFiles}
      </button>
      {/* Browsers without file handles need this input, and so do scripts that set files. */}
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={strings.addFiles}
        onChange={({ currentTarget }) => addChosen(currentTarget)}
      />
    </>
  );
}

/** A field for the address of a file. */
export function AddUrl() {
  const { queue, address } = useWorkbench();
  const text = useSignal("");
  const fault = useSignal<string | null>(null);
  return (
    <form
      class="add-url"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const url = text.value.trim();
        if (!isAddress(url)) {
          fault.value = strings.invalidAddress;
          return;
        }
        queue.add([url], address.value.job);
        text.value = "";
        fault.value = null;
      }}
    >
      <Field label={<span class="visually-hidden">{strings.addressOfFile}</span>} fault={fault.value}>
        {(control) => (
          <input
            {...control}
            type="url"
            placeholder={strings.addressPlaceholder}
            value={text.value}
            onInput={({ currentTarget }) => {
              text.value = currentTarget.value;
              fault.value = null;
            }}
          />
        )}
      </Field>
      <button type="submit">{strings.add}</button>
    </form>
  );
}
