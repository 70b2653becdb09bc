// The first load includes these.

export const dropToAdd = "Drop to add them";
export const serviceNotConnected = ({ service }: { service: string | null }) =>
  `This is on ${service}, which is not connected. Connect it under Edge first.`;
export const notFinished = "This file is not finished.";
export const fileNotAllowed = "The file may not be read.";
export const differentFile = ({ name }: { name: string }) => `This is not the same file as ${name}.`;
export const pageFailed = "Something went wrong in this page.";
export const pastedFile = "Pasted file";
export const newsOfQueue = "News of the queue";
export const addMedia = "Add media";
export const invitation = "Drop files anywhere on this page";
export const chooseFiles = "Choose files";
export const addFiles = "Add files";
export const pasteHint = "Or paste files and addresses.";
export const addressOfFile = "Address of a file on the web";
export const addressPlaceholder = "https://… address of a file";
export const add = "Add";
export const invalidAddress =
  "An address starts with https:// or http://, as in https://example.com/clip.mp4.";
