import { useSignal } from "@preact/signals";
import { Icon } from "../../ui/icon.tsx";

/** Copies a text and confirms it; `label` names what is copied. With `words`, the label stands beside the icon. */
export function CopyButton({ text, label, words = false }: { text: string; label: string; words?: boolean }) {
  const said = useSignal<"" | "Copied" | "Select and copy it yourself">("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      said.value = "Copied";
    } catch {
      said.value = "Select and copy it yourself";
    }
    setTimeout(() => {
      said.value = "";
    }, 4000);
  };
  return (
    <>
      <button
        type="button"
        class={words ? "" : "quiet icon"}
        aria-label={words ? undefined : label}
        title={words ? undefined : label}
        onClick={copy}
      >
        <Icon name={said.value === "Copied" ? "check" : "copy"} size={words ? 20 : 16} />
        {words && (said.value || label)}
      </button>
      <span class="visually-hidden" role="status">
        {said.value}
      </span>
    </>
  );
}
