import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import * as strings from "../strings.ts";
import { FirstIcon } from "./first-icon.tsx";

/** `index.html` applies the stored theme before the first paint. */
const NAME = "framewright-theme";

const NEXT = { system: "light", light: "dark", dark: "system" } as const;

type Theme = keyof typeof NEXT;

/** A button that switches between the colors of the system, light colors and dark colors. */
export function ThemeButton() {
  const theme = useSignal<Theme>("system");
  useEffect(() => {
    const stored = document.documentElement.dataset.theme;
    if (stored === "light" || stored === "dark") theme.value = stored;
  }, [theme]);
  const change = () => {
    const next = NEXT[theme.value];
    theme.value = next;
    document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem(NAME, next);
    } catch {}
  };
  const label = strings.theme[theme.value];
  return (
    <button type="button" class="quiet icon theme" aria-label={label} title={label} onClick={change}>
      <FirstIcon name={theme.value} />
    </button>
  );
}
