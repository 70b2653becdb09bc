import type { Forecast } from "../../src/index.ts";
import { Notice } from "../ui/notice.tsx";
import { codecName, formatName } from "../words/names.ts";
import { bytes, clock } from "../words/quantities.ts";
import type { Form } from "./use-form.ts";
import { QUALITY_WORDS } from "./words.ts";

/** What will come of the file, in words, before anything starts; or why nothing can. */
export function Outcome({ form: { wishes, options, source, verdict } }: { form: Form }) {
  const { fault, forecast } = verdict;
  if (fault) return <Notice tone="bad">{fault.message}</Notice>;
  const size = sizeWords(forecast, wishes.target_bytes, source.filesize);
  return (
    <>
      <div class="outcome" role="status">
        <p>
          <strong>{whatItIs(forecast, wishes.kind, options.codec)}</strong>
        </p>
        {size && <p class="soft small">{size}</p>}
        {forecast.quality !== null && <p class="soft small">{qualityWords(forecast.quality)}</p>}
        {forecast.renditions.length > 0 && (
          <p class="soft small">Streams of {forecast.renditions.map((side) => `${side}p`).join(", ")}.</p>
        )}
      </div>
      {forecast.enlarged && (
        <Notice tone="warn">
          This is larger than the original. The file grows, and the picture gets no sharper.
        </Notice>
      )}
    </>
  );
}

function whatItIs({ format, width, height, duration }: Forecast, kind: string, codec?: string): string {
  const name = formatName(format);
  return [
    kind === "video" && codec ? `${name} (${codecName(codec)})` : name,
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
  return "How large it gets depends on what is in it.";
}

function qualityWords(quality: NonNullable<Forecast["quality"]>): string {
  if (quality === "poor") {
    return "That is few bits for such pictures: expect them blurry. A smaller width and height looks better.";
  }
  return `Pictures should look about as with quality “${QUALITY_WORDS[quality][0]}”.`;
}
