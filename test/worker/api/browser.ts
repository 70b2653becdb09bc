import { type Browser, chromium, type LaunchOptions } from "@playwright/test";

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
  ],
};

/** Starts the system's Chromium, without its own traffic. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch(LAUNCH);
}
