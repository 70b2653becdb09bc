export const close = "Close";
export const storedElsewhere = "A browser can't show what is stored there.";
export const fileUnreadable = "The file can no longer be read. Add it again.";
