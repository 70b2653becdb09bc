// These load with the first item of the list.

export const notifications = "Notifications";
export const offerNotification = "This takes a while. Notify you when it's done?";
export const notifyMe = "Notify me";
export const noThanks = "No, thanks";
export const itemDone = ({ name }: { name: string }) => `${name} is done`;
export const itemFailed = ({ name }: { name: string }) => `${name} failed`;
export const removeFinished = "Remove finished";
export const news = {
  succeeded: "done",
  failed: "failed",
  cancelled: "cancelled",
  unusable: "can't be used",
  waiting: "waiting for its file",
  ready: "ready",
  processing: "converting",
};
export const filesNews = ({ count, words }: { count: number; words: string }) => `${count} files: ${words}.`;
export const files = ({ count }: { count: number }) => (count === 1 ? "1 file" : `${count} files`);
export const running = ({ count, percent }: { count: number; percent: number | null }) =>
  percent === null ? `${count} running` : `${count} running, ${percent} %`;
export const done = ({ count }: { count: number }) => `${count} done`;
export const about = ({ size }: { size: string }) => `about ${size}`;
export const onThisDevice = ({ time }: { time: string }) => `about ${time} on this device`;
export const saves = ({ size }: { size: string }) => `Saves ${size}`;
export const convertFiles = ({ count }: { count: number }) =>
  count === 1 ? "Convert 1 file" : `Convert ${count} files`;
export const selected = ({ count }: { count: number }) => `${count} selected`;
export const clearSelection = "Clear the selection";
export const remove = "Remove";
export const removed = ({ count }: { count: number }) =>
  count === 1 ? "Removed 1 file." : `Removed ${count} files.`;
export const undo = "Undo";
export const dismiss = "Dismiss";
export const lastAction = "Last action";
export const allFiles = "All files";
export const progressOfAll = "Progress of all files";
export const show = "Show";
export const filters = { all: "All", todo: "To do", done: "Done", needs: "Needs you" } as const;
export const keysHint = "Drop more files anywhere. ↑ ↓ to move, X to select, Enter to edit.";
export const noneHere = "No files here.";
export const fromLink = "From a link";
