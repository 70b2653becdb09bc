import { useEffect, useRef, useState } from "preact/hooks";
import type { LocalClient } from "../../src/browser/index.ts";
import { outlookOf } from "../card/outlook.ts";
import type { Estimates } from "../queue/estimates.ts";
import type { Item } from "../queue/item.ts";
import { Icon } from "../ui/icon.tsx";
import { bytes, shareWords } from "../words/quantities.ts";
import { useWorkbench } from "../workbench.ts";
import { sizedOptions } from "./check-settings.ts";
import * as strings from "./strings.ts";

const PAUSE_MS = 250;
const LATE_MS = 300;

type Shown = Awaited<ReturnType<LocalClient["preview"]>>;

/**
 * The original and the output of an item's settings on top of each other, with a divider to drag: all of a picture, or one frame of a
 * video. The old pictures stay until the new ones are there; nothing shows where this device cannot make them.
 */
export function Live({ item, estimates }: { item: Item; estimates: Estimates }) {
  const estimate = estimates.of(item);
  const { shown, isLate } = useShown(item, estimates);
  const [share, setShare] = useState(50);
  if (!shown) return null;
  const { before } = outlookOf(item, estimate) ?? { before: null };
  const after = item.settings.kind === "image" ? shown.bytes : estimate && (estimate.low + estimate.high) / 2;
  return (
    <div class="live" style={{ "--share": share / 100 }}>
      <Layer name="before" blob={shown.original} />
      <Layer name="after" blob={shown.output} />
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
            <b>{bytes(after)}</b> {before !== null && <em>{shareWords(before, after)}</em>}
          </>
        )}
      </span>
    </div>
  );
}

function useShown(
  { input, settings, source }: Item,
  estimates: Estimates,
): { shown: Shown | null; isLate: boolean } {
  const { device } = useWorkbench();
  const [shown, setShown] = useState<Shown | null>(null);
  const [isLate, setLate] = useState(false);
  const { kind, options, target_size, fault, place } = settings;
  useEffect(() => {
    const isMade = kind === "image" || kind === "video";
    if (input === null || typeof input === "string" || !source || !isMade || place !== "device" || fault) {
      setShown(null);
      return;
    }
    const controller = new AbortController();
    const { signal } = controller;
    // The picture comes first, as the visitor waits for it.
    estimates.hold(true);
    const late = setTimeout(() => setLate(true), PAUSE_MS + LATE_MS);
    const timer = setTimeout(async () => {
      try {
        const own = target_size === null ? options : sizedOptions(settings, source, target_size);
        const next = await device.preview({ input, kind, options: own } as PreviewRequest, { signal });
        if (!signal.aborted) setShown(next);
      } catch {
        // The frame that the browser draws stays.
        if (!signal.aborted) setShown(null);
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
  return { shown, isLate };
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
