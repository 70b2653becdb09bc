/** The words of the controls. */
export const strings = {
  close: "Close",
  storedElsewhere: "A browser can't show what is stored there.",
  fileUnreadable: "The file can no longer be read. Add it again.",
};
