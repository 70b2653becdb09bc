import { type Browser, chromium, type LaunchOptions } from "@playwright/test";

// Chromium keeps only the last of a repeated switch, so this repeats the features that Playwright disables,
// as far as they matter to a test.
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
  // The address bar's suggestions: a page of their own per window, as costly as the rest of a start.
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxPopup",
] as const;

/** The system's Chromium without its background traffic. */
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

/** Environment variable with the endpoint of the Chromium that all browser tests of a run share. */
export const CHROMIUM = "FRAMEWRIGHT_CHROMIUM";

/** Connects to the shared Chromium, whose contexts of this connection end with it; starts one where there is none. */
export function openBrowser(): Promise<Browser> {
  const endpoint = process.env[CHROMIUM];
  return endpoint ? chromium.connect(endpoint) : chromium.launch(LAUNCH);
}
