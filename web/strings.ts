// The first load includes these; the words of each part load with it.

export const files = "Files";
export const console = "Console";
export const skipToContent = "Skip to content";
export const startPage = "Framewright, start page";
export const views = "Views";
export const theme = {
  system: "Theme: system",
  light: "Theme: light",
  dark: "Theme: dark",
} as const;
export const licenses = "Licenses and sources";
export const keyRevoked =
  "The service no longer accepts this page's key; it may have been revoked. Enter another.";
export const partMissing = "A part of the page is missing, so it could not reconnect. Reload the page.";
export const unknownKey = "The service does not know this key. Check it, or ask for another.";
export const storageAccessLost =
  "The page was reloaded and no longer has access to the storage. Send the file again.";

export const close = "Close";
export const storedElsewhere = "A browser can't show what is stored there.";
export const fileUnreadable = "The file can no longer be read. Add it again.";

export const newVersionReady = "A new version is ready.";
export const reload = "Reload";
export const notNow = "Not now";
