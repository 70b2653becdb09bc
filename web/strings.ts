const CHECK_ADDRESS = "Check the address, and that the service is running.";

// The first load includes these; the words of each part load with it.

export const workbench = "Workbench";
export const edge = "Edge";
export const skipToContent = "Skip to content";
export const startPage = "Framewright, start page";
export const views = "Views";
export const licenses = "Licenses and sources";
export const keyRevoked =
  "The service no longer accepts this page's key; it may have been revoked. Enter another.";
export const partMissing = "A part of the page is missing, so it could not reconnect. Reload the page.";
export const unknownKey = "The service does not know this key. Check it, or ask for another.";
export const enterAddress = "Enter the address of a service, such as https://media.example.com.";
export const addressNotHttp = "The address must start with https:// or http://.";
export const addressHasExtras =
  "Leave user name, password, ? and # out of the address; the key has its own field.";
export const addressNeedsHttps =
  "This page was loaded over https, so the browser blocks services over http. Use the service's https:// address.";
export const notAService = ({ host }: { host: string }) =>
  `${host} responds, but not as a Framewright service. Check the address.`;
export const enterKey = "Enter the key exactly, without spaces.";
export const storageAccessLost =
  "The page was reloaded and no longer has access to the storage. Send the file again.";
export const serviceLate = ({ host, seconds }: { host: string; seconds: number }) =>
  `${host} did not respond within ${seconds} seconds. ${CHECK_ADDRESS}`;
export const serviceUnreachable = ({ host }: { host: string }) =>
  `${host} can't be reached, or does not let this page read its responses. ${CHECK_ADDRESS}`;

export const close = "Close";
export const storedElsewhere = "A browser can't show what is stored there.";
export const fileUnreadable = "The file can no longer be read. Add it again.";

export const newVersionReady = "A new version is ready.";
export const reload = "Reload";
export const notNow = "Not now";
