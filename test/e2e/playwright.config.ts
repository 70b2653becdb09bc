import { defineConfig } from "@playwright/test";
import { LAUNCH } from "../browser/chromium.ts";

/** Visitor flows in the system's Chromium, on the page as the service serves it. */
export default defineConfig({
  testDir: import.meta.dirname,
  testMatch: "*.spec.ts",
  outputDir: "../../dist/e2e/results",
  globalSetup: "./service.ts",
  fullyParallel: true,
  workers: 2,
  forbidOnly: true,
  // Generous for a machine of two cores; a test that hangs still ends.
  timeout: 180_000,
  expect: { timeout: 60_000 },
  retries: Number(process.env.TEST_RETRIES ?? 0),
  reporter: process.env.TEST_REPORT ? [["list"], ["../report.ts"]] : [["list"]],
  // Each flow is a first visit, on which a service worker would load the whole page; only its own tests allow it.
  use: {
    serviceWorkers: "block",
    launchOptions: LAUNCH,
    viewport: { width: 1280, height: 800 },
    trace: "off",
  },
});
