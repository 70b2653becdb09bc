/** Returns the files selected in the page. */
export function chosenFiles(): File[] {
  const { files } = document.querySelector<HTMLInputElement>("#files") ?? { files: null };
  return [...(files ?? [])];
}

/** Returns the first selected file; throws when there is none. */
export function chosenFile(): File {
  const [file] = chosenFiles();
  if (!file) throw new Error("No file was chosen.");
  return file;
}

/** Resolves to the time of the visitor's next click. */
export function nextClick(): Promise<number> {
  return new Promise((resolve) => {
    const button = document.querySelector<HTMLButtonElement>("#start");
    button?.addEventListener("click", () => resolve(performance.now()), { once: true });
  });
}
