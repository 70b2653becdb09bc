import { useSignal } from "@preact/signals";
import { lazy, Suspense } from "preact/compat";
import { useRef } from "preact/hooks";
import { Field } from "../ui/field.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { useWorkbench } from "../workbench.ts";
import { isAddress, pickHandles } from "./add-inputs.tsx";
import { isOver, stateOf, totalsOf } from "./queue.ts";
import * as strings from "./strings.ts";
import "./queue.css";

const MAX_EXPANDED = 5;

export function QueueView() {
  const { queue } = useWorkbench();
  const items = queue.items.value;
  // Content shown before the stored items load would shift.
  if (!queue.loaded.value && items.length === 0) return null;
  const isMany = items.length > MAX_EXPANDED;
  return (
    <div class={isMany ? "queue many stack" : "queue stack"}>
      <AddFiles large={items.length === 0} />
      {items.length > 0 && <QueueBar />}
      <Suspense fallback={null}>
        {items.map((item) => (
          <Card key={item.id} item={item} brief={isMany} alone={items.length === 1} />
        ))}
      </Suspense>
    </div>
  );
}

const Card = lazy(async () => ({ default: (await import("../card/card.tsx")).Card }));
const TakeAll = lazy(async () => ({ default: (await import("../result/take-all.tsx")).TakeAll }));

function QueueBar() {
  const { queue } = useWorkbench();
  const items = queue.items.value;
  const { ready, running, succeeded, over, percent } = totalsOf(items);
  const removeFinished = () => {
    for (const item of items) if (isOver(item)) void queue.remove(item.id);
  };
  return (
    <div class="queue-bar">
      <h1 class="visually-hidden">{strings.queue}</h1>
      <p class="numbers">
        {strings.files({ count: items.length })}
        {running > 0 && strings.running({ count: running, percent })}
        {succeeded > 0 && strings.done({ count: succeeded })}
      </p>
      {succeeded > 1 && (
        <Suspense fallback={null}>
          <TakeAll items={items.filter((item) => stateOf(item) === "succeeded")} />
        </Suspense>
      )}
      <div class="row">
        {over > 0 && (
          <button type="button" class="quiet" onClick={removeFinished}>
            {strings.removeFinished}
          </button>
        )}
        {ready > 0 && items.length > 1 && (
          <button type="button" class={ready > 1 ? "primary" : ""} onClick={() => void queue.start()}>
            <Icon name="play" />
            {strings.convertAll({ count: ready })}
          </button>
        )}
      </div>
    </div>
  );
}

function AddFiles({ large }: { large: boolean }) {
  const { queue } = useWorkbench();
  const input = useRef<HTMLInputElement>(null);
  const choose = async () => {
    const handles = await pickHandles();
    if (handles) queue.add(handles);
    else input.current?.click();
  };
  return (
    <section class={large ? "add-files large frame" : "add-files"} aria-label={strings.addMedia}>
      {large && (
        <div class="invitation">
          <span class="sign">
            <Icon name="upload" size={36} />
          </span>
          <h1>{strings.invitation}</h1>
          <p class="soft">{strings.nothingUploaded}</p>
        </div>
      )}
      <div class="ways">
        <button type="button" class={large ? "primary large" : ""} data-home onClick={() => void choose()}>
          <Icon name="add" />
          {strings.chooseFiles}
        </button>
        <AddUrl />
      </div>
      {/* For browsers without handles, and for scripts that set files. */}
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={strings.addFiles}
        onChange={({ currentTarget }) => {
          queue.add([...(currentTarget.files ?? [])]);
          currentTarget.value = "";
        }}
      />
      {large && <p class="soft small">{strings.pasteHint}</p>}
      {large && <WhatFor />}
    </section>
  );
}

function AddUrl() {
  const { queue } = useWorkbench();
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
        queue.add([url]);
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

const USES = [
  ["video", strings.useVideo],
  ["audio", strings.useTrim],
  ["image", strings.useImage],
  ["stream", strings.useStream],
] as const satisfies readonly (readonly [IconName, string])[];

function WhatFor() {
  return (
    <ul class="what-for plain">
      {USES.map(([sign, words]) => (
        <li key={sign}>
          <Icon name={sign} />
          {words}
        </li>
      ))}
    </ul>
  );
}
