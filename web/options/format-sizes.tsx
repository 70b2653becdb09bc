import { useEffect, useId, useState } from "preact/hooks";
import type { LocalClient } from "../../src/browser/index.ts";
import { FORMATS } from "../../src/index.ts";
import { SizeBar } from "../ui/size-bar.tsx";
import { formatName } from "../words/names.ts";
import { bytes, shareWords } from "../words/quantities.ts";
import { useWorkbench } from "../workbench.ts";
import { withFormat } from "./check-settings.ts";
import { formatOf } from "./choices.ts";
import type { Form } from "./form.tsx";
import * as strings from "./strings.ts";

const FORMAT_NAMES = Object.keys(FORMATS.image);

type Sizes = Readonly<Record<string, number | null>>;

/** The formats of a picture with the size of each, measured one after the other while it is open; one that is larger is amber. */
export function FormatSizes({ form }: { form: Form }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="format-sizes" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{strings.sizesOfFormats}</summary>
      {isOpen && <Rows form={form} />}
    </details>
  );
}

function Rows({ form }: { form: Form }) {
  const { source, settings, options } = form;
  const id = useId();
  const sizes = useSizes(form);
  const current = formatOf(settings.kind, options, source);
  const before = source.filesize ?? 0;
  return (
    <fieldset>
      <legend class="visually-hidden">{strings.format}</legend>
      {FORMAT_NAMES.map((format) => {
        const size = sizes[format];
        return (
          <label key={format}>
            <input
              type="radio"
              name={id}
              checked={format === current}
              onChange={() => form.update((now) => withFormat(now, format, source))}
            />
            <span class={size && before && size > before ? "over" : ""}>
              <b>{formatName(format)}</b> <small class="soft">{strings.formatUses[format]}</small>
              <span class="size numbers">
                {size === undefined ? (
                  <small class="soft">{strings.measuring}</small>
                ) : size === null ? (
                  <small class="soft">{strings.notMeasured}</small>
                ) : (
                  <>
                    {bytes(size)} {before > 0 && <b class="share">{shareWords(before, size)}</b>}
                  </>
                )}
              </span>
              {size && before > 0 ? <SizeBar before={before} after={size} /> : null}
            </span>
          </label>
        );
      })}
    </fieldset>
  );
}

function useSizes({ item, source, settings }: Form): Sizes {
  const { device } = useWorkbench();
  const [sizes, setSizes] = useState<Sizes>({});
  const { input } = item;
  // The sizes stay when only the format changes.
  const { format: _, ...rest } = settings.options as { format?: string };
  const key = JSON.stringify(rest);
  useEffect(() => {
    const controller = new AbortController();
    setSizes({});
    void (async () => {
      for (const format of FORMAT_NAMES) {
        if (controller.signal.aborted) return;
        let size: number | null = null;
        try {
          const { kind, options } = withFormat(settings, format, source);
          const request = { input, kind, options } as Parameters<LocalClient["estimate"]>[0];
          for await (const { bytes } of device.estimate(request, { signal: controller.signal }))
            size = (bytes.low + bytes.high) / 2;
        } catch {}
        if (!controller.signal.aborted) setSizes((before) => ({ ...before, [format]: size }));
      }
    })();
    return () => controller.abort();
  }, [device, input, source, key]);
  return sizes;
}
