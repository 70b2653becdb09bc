import type { Media } from "./use-media.ts";

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
        aria-label="Player"
        onLoadedMetadata={({ currentTarget }) => onDuration(currentTarget.duration)}
      />
    );
  }
  return (
    <video
      {...shared}
      preload="auto"
      playsInline
      aria-label="Player"
      onLoadedMetadata={({ currentTarget }) => {
        onDuration(currentTarget.duration);
        // For a codec that it does not know, a browser may play the sound alone.
        if (currentTarget.videoWidth === 0) onBroken();
      }}
    />
  );
}
