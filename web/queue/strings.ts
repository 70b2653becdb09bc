export const dropToAdd = "Drop to add them";
export const serviceNotConnected = ({ service }: { service: string | null }) =>
  `This is on ${service}, which is not connected. Connect it under Edge first.`;
export const notFinished = "This file is not finished.";
export const fileNotAllowed = "The file may not be read.";
export const differentFile = ({ name }: { name: string }) => `This is not the same file as ${name}.`;
export const pageFailed = "Something went wrong in this page.";
export const pastedFile = "Pasted file";
export const notifications = "Notifications";
export const offerNotification = "This takes a while. Notify you when it's done?";
export const notifyMe = "Notify me";
export const noThanks = "No, thanks";
export const newsOfQueue = "News of the queue";
export const itemDone = ({ name }: { name: string }) => `${name} is done`;
export const itemFailed = ({ name }: { name: string }) => `${name} failed`;
export const queue = "Queue";
export const removeFinished = "Remove finished";
export const addMedia = "Add media";
export const invitation = "Drop video, audio and images here";
export const nothingUploaded = "They are converted in this browser. Nothing is uploaded.";
export const chooseFiles = "Choose files";
export const addFiles = "Add files";
export const pasteHint = "You can also paste files or addresses anywhere on this page.";
export const addressOfFile = "Address of a file on the web";
export const addressPlaceholder = "https://… address of a file";
export const add = "Add";
export const invalidAddress =
  "An address starts with https:// or http://, as in https://example.com/clip.mp4.";
export const useVideo = "Make a video small enough for mail";
export const useTrim = "Trim sound and video";
export const useImage = "Turn photos into WebP or AVIF";
export const useStream = "Make an HLS stream for a website";
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
