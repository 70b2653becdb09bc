import type { ComponentChildren, CSSProperties } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import {
  type Fit,
  type Forecast,
  type MediaInput,
  type Position,
  type Source,
  type View,
  viewOf,
} from "../../src/index.ts";
import { hasClearPadding, isVector } from "../../src/media/containers.ts";
import { LOSSLESS_FORMAT } from "../../src/media/formats.ts";
import { coreFrame } from "../queue/thumbnail.ts";
import { releasePlayer, useMediaUrl } from "../ui/media.ts";
import { useWorkbench } from "../workbench.ts";
import type { AnyOptions } from "./choices.ts";
import * as strings from "./strings.ts";

/** The styles that show a view in a box: the part that is kept, the turned picture around it, and the picture itself. */
interface Placement {
  part: CSSProperties;
  whole: CSSProperties;
  media: CSSProperties;
}

interface Size {
  width: number;
  height: number;
}

const percent = (share: number) => `${share * 100}%`;

/** Places a turned, mirrored or cropped picture in a box of the output's shape; null for an unchanged picture. */
function placeView(view: View, box: Size, fit: Fit, position: Position): Placement | null {
  const { turn, mirror, crop, turned, displaySize } = view;
  if (turn === 0 && !mirror && !crop) return null;
  const area = crop ?? { x: 0, y: 0, ...turned };
  const sideways = turn % 180 !== 0;
  return {
    part: within(box, displaySize, fit, position),
    whole: {
      left: percent(-area.x / area.width),
      top: percent(-area.y / area.height),
      width: percent(turned.width / area.width),
      height: percent(turned.height / area.height),
    },
    media: {
      position: "absolute",
      left: "50%",
      top: "50%",
      maxWidth: "none",
      objectFit: "fill",
      width: sideways ? "100cqh" : "100%",
      height: sideways ? "100cqw" : "100%",
      transform: `translate(-50%, -50%) ${mirror ? "scaleX(-1) " : ""}rotate(${turn}deg)`,
    },
  };
}

function within(box: Size, displaySize: Size, fit: Fit, position: Position): CSSProperties {
  const [across, down] = [box.width / displaySize.width, box.height / displaySize.height];
  const scale = fit === "cover" ? Math.max(across, down) : Math.min(across, down);
  const width = fit === "fill" ? 1 : scale / across;
  const height = fit === "fill" ? 1 : scale / down;
  const share = (start: string, end: string) =>
    position.includes(start) ? 0 : position.includes(end) ? 1 : 0.5;
  return {
    left: percent((1 - width) * share("left", "right")),
    top: percent((1 - height) * share("top", "bottom")),
    width: percent(width),
    height: percent(height),
  };
}

/** Returns what the options show of a source's pictures; null while they are invalid, and when their size is unknown. */
export function checkedView(source: Source, options: AnyOptions): View | null {
  try {
    return viewOf(source, options);
  } catch {
    return null;
  }
}

const HEIGHT = 512;

/**
 * The picture, or a frame of a video, as the output will frame it. The browser draws it, without decoding or encoding
 * anything.
 */
export function Preview({
  input,
  source,
  thumbnail,
  options,
  forecast: { width, height, format },
  overlay,
}: {
  input: MediaInput | null;
  source: Source;
  /** Shown when the browser cannot open the file itself. */
  thumbnail: Blob | null;
  options: AnyOptions;
  forecast: Forecast;
  /** Lies over the picture. */
  overlay?: ComponentChildren;
}) {
  const { url } = useMediaUrl(input);
  const { url: small } = useMediaUrl(thumbnail);
  const [broken, setBroken] = useState<string | null>(null);
  const isBroken = url !== null && broken === url;
  if (!width || !height) return null;
  const view = checkedView(source, options);
  const fit = fitOf(options);
  const placement = view && placeView(view, { width, height }, fit, options.position ?? "center");
  const mediaStyle: CSSProperties = placement?.media ?? {
    objectFit: fit,
    objectPosition: (options.position ?? "center").replace("-", " "),
  };
  const clear = hasClearPadding(format, source) && options.background === undefined;
  // Browsers redraw an SVG at every change of size, which may take long.
  const isDecoded = isBroken || (isVector(source) && typeof input !== "string");
  const decodedUrl = useDecoded(isDecoded ? input : null, source, options.start ?? 0);
  const imageUrl = isDecoded ? (decodedUrl ?? small) : url;
  return (
    <figure class="preview">
      <div>
        <div
          class={clear ? "box clear" : "box"}
          style={{
            aspectRatio: `${width} / ${height}`,
            "--ratio": width / height,
            backgroundColor: clear ? undefined : (colorOf(options.background) ?? "#000"),
          }}
        >
          {imageUrl &&
            inFrames(
              source.kind === "image" || isDecoded ? (
                <img
                  src={imageUrl}
                  alt=""
                  crossOrigin="anonymous"
                  style={mediaStyle}
                  onError={() => setBroken(url)}
                />
              ) : (
                <Frame
                  url={imageUrl}
                  at={options.start ?? 0}
                  mediaStyle={mediaStyle}
                  onError={() => setBroken(url)}
                />
              ),
              placement,
            )}
          {overlay}
        </div>
      </div>
      <figcaption class="soft small numbers">
        {strings.pixels({ width, height })}
        {isBroken && (imageUrl ? strings.decodedHere : strings.notShown)}
      </figcaption>
    </figure>
  );
}

function inFrames(media: ComponentChildren, placement: Placement | null): ComponentChildren {
  if (!placement) return media;
  return (
    <div class="part" style={placement.part}>
      <div class="whole" style={placement.whole}>
        {media}
      </div>
    </div>
  );
}

function useDecoded(input: MediaInput | null, source: Source, at: number): string | null {
  const { kind, has_alpha, width = HEIGHT, height = HEIGHT } = source;
  const isDrawn = isVector(source);
  const { device } = useWorkbench();
  const [frame, setFrame] = useState<Blob | null>(null);
  const maxHeight = isDrawn ? Math.max(1, (HEIGHT * height) / Math.max(width, height)) : HEIGHT;
  const decodedHeight = isDrawn || height > HEIGHT ? Math.round(maxHeight) : null;
  useEffect(() => {
    const controller = new AbortController();
    setFrame(null);
    if (input !== null && typeof input !== "string") {
      const size = {
        ...(decodedHeight !== null && { height: decodedHeight }),
        ...(has_alpha && { format: LOSSLESS_FORMAT.image }),
      };
      coreFrame(device, input, kind === "image" ? size : { at, ...size }, controller.signal).then(
        (blob) => controller.signal.aborted || setFrame(blob),
        () => {},
      );
    }
    return () => controller.abort();
  }, [device, input, kind, has_alpha, decodedHeight, at]);
  return useMediaUrl(frame).url;
}

function Frame({
  url,
  at,
  mediaStyle,
  onError,
}: {
  url: string;
  at: number;
  mediaStyle: CSSProperties;
  onError: () => void;
}) {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    if (video.current) video.current.currentTime = at;
  }, [at]);
  useEffect(() => {
    const player = video.current;
    return () => void (player && releasePlayer(player));
  }, []);
  return (
    <video
      ref={video}
      src={url}
      // A cross-origin isolated page needs this for files from other origins.
      crossOrigin="anonymous"
      muted
      playsInline
      preload="auto"
      tabIndex={-1}
      aria-hidden="true"
      style={mediaStyle}
      // Some browsers show nothing before the first seek.
      onLoadedMetadata={({ currentTarget }) => {
        // A browser that does not know the codec may play the sound alone.
        if (currentTarget.videoWidth === 0) onError();
        currentTarget.currentTime = at || 0.001;
      }}
      onError={onError}
    />
  );
}

function fitOf({ width, height, fit, background }: AnyOptions): "contain" | "cover" | "fill" {
  if (width === undefined || height === undefined) return "fill";
  return fit ?? (background === undefined ? "fill" : "contain");
}

function colorOf(background: string | undefined): string | undefined {
  return background && `#${background.replace("#", "")}`;
}
