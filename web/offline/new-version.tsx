import { Icon } from "../ui/icon.tsx";
import "./new-version.css";

/** Tells, at the foot of the page and once there is one, of a new version of it, which a reload brings. */
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
