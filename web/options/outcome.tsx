import type { Forecast } from "../../src/index.ts";
import { quality as qualityGroup } from "../../src/media/features/rate.ts";
import { Notice } from "../ui/notice.tsx";
import { codecName, formatName } from "../words/names.ts";
import { bytes, clock } from "../words/quantities.ts";
import type { Form } from "./use-form.ts";

/** A forecast of the output in words, or why there can be none. */
export function Outcome({ form: { wishes, options, source, verdict } }: { form: Form }) {
  const { fault, forecast, lowered } = verdict;
  if (fault) return <Notice tone="bad">{fault.message}</Notice>;
  const size = sizeWords(forecast, wishes.target_size, source.filesize);
  return (
    <>
      <div class="outcome" role="status">
        <p>
          <strong>{whatItIs(forecast, wishes.kind, options.codec)}</strong>
        </p>
        {size && <p class="soft small">{size}</p>}
        {lowered && <p class="small">{lowered}</p>}
        {forecast.quality !== null && <p class="soft small">{qualityWords(forecast.quality)}</p>}
        {forecast.renditions.length > 0 && (
          <p class="soft small">Streams of {forecast.renditions.map((side) => `${side}p`).join(", ")}.</p>
        )}
      </div>
      {forecast.enlarged && (
        <Notice tone="warn">
          This is larger than the original: the file grows, but the picture gets no sharper.
        </Notice>
      )}
    </>
  );
}

function whatItIs(
  { format, pictures, width, height, duration }: Forecast,
  kind: string,
  codec?: string,
): string {
  const name = formatName(format);
  return [
    kind === "video" && codec ? `${name} (${codecName(codec)})` : name,
    pictures !== null && (pictures === 1 ? "1 picture" : `${pictures} pictures`),
    width && height && `${width} × ${height}`,
    duration !== null && clock(duration, duration < 60),
  ]
    .filter(Boolean)
    .join(" · ");
}

function sizeWords(forecast: Forecast, target: number | null, now: number | undefined): string | null {
  const before = now ? `; it is ${bytes(now)} now` : "";
  if (target !== null && forecast.bytes !== null) {
    return `About ${bytes(forecast.bytes)}, and meant to stay below ${bytes(target)}${before}.`;
  }
  if (forecast.bytes !== null) return `About ${bytes(forecast.bytes)}${before}.`;
  return "File size depends on the content.";
}

function qualityWords(quality: NonNullable<Forecast["quality"]>): string {
  if (quality === "poor") {
    return "That is low for this size, so expect blur. A smaller width and height looks better.";
  }
  return `Expect about the quality of “${qualityGroup.options.quality.words.choice?.(quality)}”.`;
}
