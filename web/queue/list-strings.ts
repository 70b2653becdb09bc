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
export const settingsForAll = ({ count }: { count: number }) =>
  count === 1 ? "Settings for 1 file" : `Settings for all ${count} files`;
export const settings = "Settings for all";
export const otherSettingsStay = "Each file keeps the settings that you do not change here.";
export const noChange = "No change";
export const size = "Picture size";
export const originalSize = "Original size";
export const sizeLimit = "File size limit (MB)";
export const sound = "Sound";
export const keepSound = "Keep the sound";
export const muteSound = "Remove the sound";
export const changeFiles = ({ count }: { count: number }) =>
  count === 0 ? "Change" : count === 1 ? "Change 1 file" : `Change ${count} files`;
export const changed = ({ count }: { count: number }) =>
  count === 1 ? "Changed 1 file." : `Changed ${count} files.`;
export const names = "Names";
export const pattern = "Pattern";
export const patternHint = "Files with the same name are numbered, so none is overwritten.";
export const patternFields = { name: "Name", n: "Number", size: "Size", date: "Date" } as const;
export const examples = "Examples";
export const moreFiles = ({ count }: { count: number }) => (count === 1 ? "and 1 more" : `and ${count} more`);
export const nameFiles = ({ count }: { count: number }) =>
  count === 1 ? "Name 1 file" : `Name ${count} files`;
export const named = ({ count }: { count: number }) =>
  count === 1 ? "Named 1 file." : `Named ${count} files.`;
export const unnamed = "file";
export const chooseAgain = ({ name }: { name: string }) =>
  `The page was reloaded and no longer has ${name}. Choose it again in the editor.`;
export const join = "Join into one";
export const joined = ({ count, name }: { count: number; name: string }) =>
  `Joined ${count} files into one, with the settings of ${name}.`;
export const movedTo = ({ name, place, count }: { name: string; place: number; count: number }) =>
  `${name} is now ${place} of ${count}.`;
export const order = "Order";
export const fromLink = "From a link";
