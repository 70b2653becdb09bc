import { type Browser, chromium, type LaunchOptions } from "@playwright/test";

// Of the same switch Chromium takes the last one alone, so Playwright's own list is here again, for as far as it concerns a test.
const WITHOUT = [
  "AimEnabled",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning",
  // The address bar's list of suggestions: a page of its own in each window, which costs as much as all the rest of a start.
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxPopup",
] as const;

/** The system's Chromium, without its own traffic. */
export const LAUNCH: LaunchOptions = {
  executablePath: "/usr/bin/chromium",
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    `--disable-features=${WITHOUT.join(",")}`,
  ],
};

/** Starts the system's Chromium, without its own traffic. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch(LAUNCH);
}
