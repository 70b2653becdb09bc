export const newVersionReady = "A new version is ready.";
export const reload = "Reload";
export const notNow = "Not now";
