import { Icon, type IconName } from "../../ui/icon.tsx";
import "./what-for.css";

const USES = [
  ["video", "Make a video small enough for mail"],
  ["audio", "Trim sound and video"],
  ["image", "Turn photos into WebP or AVIF"],
  ["stream", "Make an HLS stream for a website"],
] as const satisfies readonly (readonly [IconName, string])[];

/** Explains the page at a glance to first-time visitors. */
export function WhatFor() {
  return (
    <ul class="what-for plain">
      {USES.map(([sign, words]) => (
        <li key={sign}>
          <Icon name={sign} />
          {words}
        </li>
      ))}
    </ul>
  );
}
