import { useEffect, useRef, useState } from "preact/hooks";
import type { LocalClient } from "../../src/browser/index.ts";
import { outlookOf } from "../card/outlook.ts";
import { withAttached } from "../queue/attached-files.ts";
import type { Estimates } from "../queue/estimates.ts";
import type { Item } from "../queue/item.ts";
import { Icon } from "../ui/icon.tsx";
import { bytes, shareWords } from "../words/quantities.ts";
import { useWorkbench } from "../workbench.ts";
import { sizedOptions } from "./check-settings.ts";
import * as strings from "./strings.ts";

const PAUSE_MS = 250;
const LATE_MS = 300;

type Pictures = Awaited<ReturnType<LocalClient["preview"]>>;

/**
 * The original and the output of an item's settings on top of each other, with a divider to drag: all of a picture, or one frame of a
 * video. The old pictures stay until the new ones are there; it is empty if this device cannot make them.
 */
export function LivePreview({ item, estimates }: { item: Item; estimates: Estimates }) {
  const estimate = estimates.of(item);
  const { pictures, isLate } = usePictures(item, estimates);
  const [share, setShare] = useState(50);
  if (!pictures) return null;
  const { before } = outlookOf(item, estimate) ?? { before: null };
  const after =
    item.settings.kind === "image" ? pictures.bytes : estimate && (estimate.low + estimate.high) / 2;
  return (
    <div class="live" style={{ "--share": share / 100 }}>
      <Layer name="before" blob={pictures.original} />
      <Layer name="after" blob={pictures.output} />
      <input
        type="range"
        min={0}
        max={100}
        step={2}
        value={share}
        aria-label={strings.divider}
        aria-valuetext={strings.dividerAt({ percent: share })}
        onInput={({ currentTarget }) => setShare(currentTarget.valueAsNumber)}
      />
      <span class="divider" aria-hidden="true">
        <span class="knob">
          <Icon name="compare" />
        </span>
      </span>
      <span class="label before numbers">
        {strings.originalSide} {before !== null && <b>{bytes(before)}</b>}
      </span>
      <span class="label after numbers">
        {isLate ? (
          "…"
        ) : after === null ? (
          strings.resultSide
        ) : (
          <>
            <b>{bytes(after)}</b>{" "}
            {before !== null && (
              <em class={after > before ? "over" : undefined}>{shareWords(before, after)}</em>
            )}
          </>
        )}
      </span>
    </div>
  );
}

function usePictures(
  { input, settings, source }: Item,
  estimates: Estimates,
): { pictures: Pictures | null; isLate: boolean } {
  const { device } = useWorkbench();
  const [pictures, setPictures] = useState<Pictures | null>(null);
  const [isLate, setLate] = useState(false);
  const { kind, options, target_size, fault, place } = settings;
  useEffect(() => {
    const isPreviewed = (kind === "image" || kind === "video") && place === "device" && !fault;
    if (input === null || typeof input === "string" || !source || !isPreviewed) {
      setPictures(null);
      return;
    }
    const controller = new AbortController();
    const { signal } = controller;
    // The visitor waits for the pictures, so they come before the estimates.
    estimates.hold(true);
    const late = setTimeout(() => setLate(true), PAUSE_MS + LATE_MS);
    const timer = setTimeout(async () => {
      try {
        const attached = { ...settings, options: await withAttached(options) };
        const sized = target_size === null ? attached.options : sizedOptions(attached, source, target_size);
        const next = await device.preview({ input, kind, options: sized } as PreviewRequest, { signal });
        if (!signal.aborted) setPictures(next);
      } catch {
        // The preview that the browser draws becomes visible again.
        if (!signal.aborted) setPictures(null);
      }
      clearTimeout(late);
      if (signal.aborted) return;
      setLate(false);
      estimates.hold(false);
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      clearTimeout(late);
      controller.abort();
      estimates.hold(false);
    };
  }, [device, input, source, kind, target_size, place, fault, JSON.stringify(options)]);
  return { pictures, isLate };
}

type PreviewRequest = Parameters<LocalClient["preview"]>[0];

function Layer({ name, blob }: { name: "before" | "after"; blob: Blob }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let isCurrent = true;
    void createImageBitmap(blob)
      .then((bitmap) => {
        const element = canvas.current;
        if (element && isCurrent) {
          element.width = bitmap.width;
          element.height = bitmap.height;
          element.getContext("2d")?.drawImage(bitmap, 0, 0);
        }
        bitmap.close();
      })
      .catch(() => {});
    return () => {
      isCurrent = false;
    };
  }, [blob]);
  return <canvas class={`layer ${name}`} ref={canvas} />;
}
