const CHECK_ADDRESS = "Check the address, and that the service is running.";

/** The words that the page's first load needs: its frame, and what main.tsx creates. */
export const strings = {
  workbench: "Workbench",
  edge: "Edge",
  skipToContent: "Skip to content",
  views: "Views",
  licenses: "Licenses and sources",
  keyRevoked: "The service no longer accepts this page's key; it may have been revoked. Enter another.",
  partMissing: "A part of the page is missing, so it could not reconnect. Reload the page.",
  unknownKey: "The service does not know this key. Check it, or ask for another.",
  enterAddress: "Enter the address of a service, such as https://media.example.com.",
  addressNotHttp: "The address must start with https:// or http://.",
  addressHasExtras: "Leave user name, password, ? and # out of the address; the key has its own field.",
  addressNeedsHttps:
    "This page was loaded over https, so the browser blocks services over http. Use the service's https:// address.",
  notAService: ({ host }: { host: string }) =>
    `${host} responds, but not as a Framewright service. Check the address.`,
  enterKey: "Enter the key exactly, without spaces.",
  storageAccessLost: "The page was reloaded and no longer has access to the storage. Send the file again.",
  serviceLate: ({ host, seconds }: { host: string; seconds: number }) =>
    `${host} did not respond within ${seconds} seconds. ${CHECK_ADDRESS}`,
  serviceUnreachable: ({ host }: { host: string }) =>
    `${host} can't be reached, or does not let this page read its responses. ${CHECK_ADDRESS}`,
};
