/** The files that were chosen in the page. */
export function chosenFiles(): File[] {
  const { files } = document.querySelector<HTMLInputElement>("#files") ?? { files: null };
  return [...(files ?? [])];
}

/** The first of them; throws when there is none. */
export function chosenFile(): File {
  const [file] = chosenFiles();
  if (!file) throw new Error("No file was chosen.");
  return file;
}

/** Resolves with the time at which the visitor clicks. */
export function nextClick(): Promise<number> {
  return new Promise((resolve) => {
    const button = document.querySelector<HTMLButtonElement>("#start");
    button?.addEventListener("click", () => resolve(performance.now()), { once: true });
  });
}
