/** A comma-separated list of facts that wraps only between facts, where they fit on a line. */
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
