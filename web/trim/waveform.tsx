import { useEffect, useRef } from "preact/hooks";

/** The waveform of a sound. It decodes the whole file, so that must not be large. */
export function Waveform({ url, duration, onFault }: { url: string; duration: number; onFault: () => void }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const controller = new AbortController();
    if (place.current) draw(place.current, url, duration, controller.signal, onFault).catch(onFault);
    return () => controller.abort();
  }, [url, duration]);
  return <div class="waveform" ref={place} aria-hidden="true" />;
}

async function draw(
  place: HTMLElement,
  url: string,
  duration: number,
  signal: AbortSignal,
  onFault: () => void,
): Promise<void> {
  const { default: WaveSurfer } = await import("wavesurfer.js");
  if (signal.aborted) return;
  const box = document.createElement("div");
  const colors = () => {
    const { color } = getComputedStyle(place);
    return { waveColor: color, progressColor: color };
  };
  const wave = WaveSurfer.create({
    ...colors(),
    container: box,
    url,
    duration,
    height: place.clientHeight,
    barWidth: 2,
    barGap: 1,
    barRadius: 1,
    barMinHeight: 1,
    cursorWidth: 0,
    interact: false,
    normalize: true,
  });
  wave.on("error", () => signal.aborted || onFault());
  adoptStyle(box);
  place.append(box);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", () => wave.setOptions({ ...wave.options, ...colors() }), {
    signal: signal,
  });
  signal.addEventListener("abort", () => {
    wave.destroy();
    box.remove();
  });
}

// The page's policy forbids style elements; a constructed style sheet is allowed.
function adoptStyle(box: HTMLElement): void {
  const root = box.firstElementChild?.shadowRoot;
  const style = root?.querySelector("style");
  if (!root || !style) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style.textContent ?? "");
  root.adoptedStyleSheets = [sheet];
  style.remove();
}
