// The page's policy allows no workers from blob or data URLs.
import workerPath from "hls.js/dist/hls.worker.js?url";
import type { ComponentChildren, FunctionComponent } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import * as strings from "./strings.ts";
import "media-chrome/media-control-bar";
import "media-chrome/media-controller";
import "media-chrome/media-fullscreen-button";
import "media-chrome/media-mute-button";
import "media-chrome/media-play-button";
import "media-chrome/media-time-display";
import "media-chrome/media-time-range";
import "media-chrome/media-volume-range";
import { Notice } from "../ui/notice.tsx";
import "./result.css";

// axe reports the tooltips as labels that differ from the buttons' names.
interface ButtonProps {
  notooltip: boolean;
}

const element = <P extends object = object>(name: string) =>
  name as unknown as FunctionComponent<P & { children?: ComponentChildren; class?: string }>;
const Controller = element<{ audio?: boolean; "aria-label"?: string; hotkeys?: string }>("media-controller");
const ControlBar = element("media-control-bar");
const PlayButton = element<ButtonProps>("media-play-button");
const TimeRange = element("media-time-range");
const TimeDisplay = element<{ showduration?: boolean; notoggle?: boolean; "aria-hidden"?: "true" }>(
  "media-time-display",
);
const MuteButton = element<ButtonProps>("media-mute-button");
const VolumeRange = element("media-volume-range");
const FullscreenButton = element<ButtonProps>("media-fullscreen-button");

/** Plays a video, a sound or, with `isStream`, adaptive video by the URL of its master playlist. */
export function Player({
  url,
  kind,
  name,
  isStream = false,
  shape = "16 / 9",
}: {
  url: string;
  kind: "video" | "audio";
  name: string;
  isStream?: boolean;
  /** Aspect ratio of a video, which reserves its space until it loads. Default `16 / 9`. */
  shape?: string;
}) {
  const media = useRef<HTMLVideoElement & HTMLAudioElement>(null);
  const [fault, setFault] = useState<string | null>(null);
  useEffect(() => {
    const player = media.current;
    setFault(null);
    if (!player) return;
    const fail = () => setFault(strings.formatNotPlayed);
    if (!isStream) {
      player.src = url;
      player.addEventListener("error", fail);
      return () => {
        player.removeEventListener("error", fail);
        player.removeAttribute("src");
        player.load();
      };
    }
    const controller = new AbortController();
    playStream(player, url, controller.signal, fail).catch(fail);
    return () => controller.abort();
  }, [url, isStream]);
  const Media = kind;
  return (
    <div class="player" style={{ "--shape": shape }}>
      <Controller class={kind} audio={kind === "audio"} aria-label={strings.playerOf({ name })}>
        <Media slot="media" ref={media} preload="metadata" crossOrigin="anonymous" playsInline />
        <ControlBar>
          <PlayButton notooltip />
          {/* The range tells screen readers the time. */}
          <TimeDisplay showduration notoggle aria-hidden="true" />
          <TimeRange />
          <MuteButton notooltip />
          <VolumeRange />
          {kind === "video" && <FullscreenButton notooltip />}
        </ControlBar>
      </Controller>
      {fault && <Notice tone="warn">{fault}</Notice>}
    </div>
  );
}

/** Plays adaptive video in a media element with hls.js until the signal aborts; calls `fail` when that is impossible. */
async function playStream(
  media: HTMLMediaElement,
  url: string,
  signal: AbortSignal,
  fail: () => void,
): Promise<void> {
  const { default: Hls } = await import("hls.js");
  if (signal.aborted) return;
  if (!Hls.isSupported()) {
    if (media.canPlayType("application/vnd.apple.mpegurl")) media.src = url;
    else fail();
    return;
  }
  const hls = new Hls({ workerPath });
  let recoveries = 0;
  hls.on(Hls.Events.ERROR, (_, { fatal, type }) => {
    if (!fatal) return;
    if (type === Hls.ErrorTypes.MEDIA_ERROR && recoveries++ === 0) {
      hls.recoverMediaError();
      return;
    }
    hls.destroy();
    fail();
  });
  hls.loadSource(url);
  hls.attachMedia(media);
  signal.addEventListener("abort", () => hls.destroy(), { once: true });
}
