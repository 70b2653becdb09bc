import { useEffect, useState } from "preact/hooks";
import { Icon } from "../ui/icon.tsx";
import type { Media } from "./media.ts";
import * as strings from "./strings.ts";

export function Player({ media, isSound }: { media: Media; isSound: boolean }) {
  const { url, playback, onBroken, onDuration } = media;
  if (url === null) return null;
  const shared = {
    ref: playback.attach,
    src: url,
    controls: true,
    ...(!url.startsWith("blob:") && { crossOrigin: "anonymous" as const }),
    onError: onBroken,
  };
  if (isSound) {
    return (
      <audio
        {...shared}
        preload="metadata"
        aria-label={strings.player}
        onLoadedMetadata={({ currentTarget }) => onDuration(currentTarget.duration)}
      />
    );
  }
  return (
    <video
      {...shared}
      preload="auto"
      playsInline
      aria-label={strings.player}
      onLoadedMetadata={({ currentTarget }) => {
        onDuration(currentTarget.duration);
        // A browser that does not know the codec may play the sound alone.
        if (currentTarget.videoWidth === 0) onBroken();
      }}
    />
  );
}

const PAUSE_MS = 300;

/** The picture at the player's time, decoded by the core when the player cannot show it. */
export function Still({ media: { frame, playback } }: { media: Media }) {
  const at = playback.time.value;
  const [url, setUrl] = useState<string | null>(null);
  const [isFailed, setFailed] = useState(false);
  useEffect(() => {
    if (!frame) return;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      frame(at, controller.signal).then(
        (blob) => controller.signal.aborted || setUrl(URL.createObjectURL(blob)),
        () => controller.signal.aborted || setFailed(true),
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [frame, at]);
  useEffect(() => () => void (url && URL.revokeObjectURL(url)), [url]);
  if (!frame || (isFailed && !url)) return null;
  return (
    <div class="still">{url ? <img src={url} alt="" /> : <p class="small">{strings.decodingPicture}</p>}</div>
  );
}

/** Two buttons that move a time by the smallest step: a frame, or a hundredth of a second for sound. */
export function Steps({
  label,
  isSound,
  onStep,
}: {
  label: string;
  isSound: boolean;
  onStep: (steps: number) => void;
}) {
  const what = isSound ? "0.01 s" : strings.oneFrame;
  return (
    <fieldset class="steps">
      <legend class="visually-hidden">{strings.fineSteps({ mark: label.toLowerCase() })}</legend>
      <button
        type="button"
        class="icon"
        aria-label={strings.stepBack({ step: what })}
        onClick={() => onStep(-1)}
      >
        <Icon name="step_back" />
      </button>
      <span class="small soft" aria-hidden="true">
        {label}
      </span>
      <button
        type="button"
        class="icon"
        aria-label={strings.stepForward({ step: what })}
        onClick={() => onStep(1)}
      >
        <Icon name="step_forth" />
      </button>
    </fieldset>
  );
}
