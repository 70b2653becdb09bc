import { useSignal } from "@preact/signals";
import { useId, useRef } from "preact/hooks";
import { types } from "../home/strings.ts";
import { Field } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { useWorkbench } from "../workbench.ts";
import { isAddress, pickHandles } from "./add-inputs.tsx";
import * as strings from "./strings.ts";

/** Lets a visitor choose files or enter an address: `large` on the page without files, otherwise two buttons above the list. */
export function AddFiles({ large }: { large: boolean }) {
  const { queue, address } = useWorkbench();
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const choose = async () => {
    const handles = await pickHandles();
    if (handles) queue.add(handles, address.value.job);
    else input.current?.click();
  };
  return (
    <section class={large ? "add-files large frame" : "add-files"} aria-label={strings.addMedia}>
      {large && <p class="invitation">{strings.invitation}</p>}
      <div class="ways">
        <button type="button" class={large ? "primary large" : ""} data-home onClick={() => void choose()}>
          <Icon name="add" />
          {strings.chooseFiles}
        </button>
        {large ? (
          <AddUrl />
        ) : (
          <>
            <button type="button" class="quiet" popovertarget={id}>
              <Icon name="link" />
              {strings.fromLink}
            </button>
            <div class="from-link" id={id} popover="auto">
              <AddUrl />
            </div>
          </>
        )}
      </div>
      {/* Browsers without file handles need this input, and so do scripts that set files. */}
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={strings.addFiles}
        onChange={({ currentTarget }) => {
          queue.add([...(currentTarget.files ?? [])], address.value.job);
          currentTarget.value = "";
        }}
      />
      {large && (
        <p class="soft small">
          {strings.pasteHint}
          <br />
          {types}
        </p>
      )}
    </section>
  );
}

function AddUrl() {
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
