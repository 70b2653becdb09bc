import { Icon } from "../ui/icon.tsx";
import "./new-version.css";

/** Announces a new version at the foot of the page, which a reload activates. */
export function NewVersion({ isThere, onReload }: { isThere: { value: boolean }; onReload: () => void }) {
  return (
    <div class="new-version" role="status">
      {isThere.value && (
        <div class="panel">
          <Icon name="refresh" />
          <span>A new version is ready.</span>
          <button type="button" class="primary" onClick={onReload}>
            Reload
          </button>
          <button
            type="button"
            class="quiet icon"
            aria-label="Not now"
            onClick={() => {
              isThere.value = false;
            }}
          >
            <Icon name="cancel" />
          </button>
        </div>
      )}
    </div>
  );
}
