// These load with the first item of the list.

export const notifications = "Notifications";
export const offerNotification = "This takes a while. Notify you when it's done?";
export const notifyMe = "Notify me";
export const noThanks = "No, thanks";
export const itemDone = ({ name }: { name: string }) => `${name} is done`;
export const itemFailed = ({ name }: { name: string }) => `${name} failed`;
export const queue = "Queue";
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
  ` · ${count} running, ${percent} %`;
export const done = ({ count }: { count: number }) => ` · ${count} done`;
export const convertAll = ({ count }: { count: number }) => `Convert all (${count})`;
