/** The words of the offline page. */
export const strings = {
  newVersionReady: "A new version is ready.",
  reload: "Reload",
  notNow: "Not now",
};
