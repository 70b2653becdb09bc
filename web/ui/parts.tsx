/** A list of facts with commas between them, of which none is torn apart at the end of a line where it has room on one. */
export function Parts({ words }: { words: string }) {
  const parts = words.split(", ");
  return (
    <>
      {parts.map((part, index) => [
        index > 0 && " ",
        <span key={part} class="part">
          {index < parts.length - 1 ? `${part},` : part}
        </span>,
      ])}
    </>
  );
}
