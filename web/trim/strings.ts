export const moment = "Moment";
export const unknownLength = "The length of this file is not known yet.";
export const frame = ({ frame }: { frame: number }) => `Frame: ${frame}`;
export const fileEndsAt = ({ time }: { time: string }) => `The file ends at ${time}.`;
export const player = "Player";
export const decodingPicture = "Decoding the picture…";
export const fineSteps = ({ mark }: { mark: string }) => `Fine steps of the ${mark}`;
export const stepBack = ({ step }: { step: string }) => `${step} back`;
export const stepForward = ({ step }: { step: string }) => `${step} forward`;
export const oneFrame = "One frame";
export const useCurrentPosition = "Use current position";
export const useCurrentPositionFor = ({ mark }: { mark: string }) => `Use current position: ${mark}`;
export const enterTime = "Enter a time such as 1:02.50, or seconds such as 62.5.";
export const negativeTime = "A time cannot be before the start.";
export const secondsTooLarge = "Seconds go up to 59.";
export const minutesTooLarge = "Minutes go up to 59.";
export const startAfterEnd = ({ time }: { time: string }) =>
  `The start must be before the end, which is at ${time}.`;
export const endBeforeStart = ({ time }: { time: string }) =>
  `The end must be after the start, which is at ${time}.`;
export const tooLongForWaveform =
  "This file is too long to draw its waveform. You can play it and set the times.";
export const waveformNotDrawn = "This browser can't draw its waveform. You can still set the times.";
export const picturesNotDrawn = "This browser can't draw its pictures. You can still set the times.";
export const trim = "Trim";
export const pause = "Pause";
export const playPart = "Play this part";
export const keeps = ({ time }: { time: string }) => `Keeps ${time}`;
export const reset = "Reset";
export const start = "Start";
export const end = "End";
export const notShownFromUrl =
  "This browser cannot show it from there: its format or its server does not allow it. You can set the times without pictures.";
export const soundNotPlayedFromUrl =
  "This browser cannot play it from there: its format or its server does not allow it. You can set the times without waveform.";
export const soundNotPlayed = "This browser cannot play this format. You can set the times without waveform.";
export const decodedPictures =
  "This browser can't play this format. This page decodes single pictures instead.";
export const firstFrame = ({ frame }: { frame: number }) => `First frame: ${frame}`;
export const lastFrame = ({ frame }: { frame: number }) => `Last frame: ${frame}`;
