export interface SavedService {
  base_url: string;
  api_key: string;
}

const NAME = "framewright-edge";

/** Returns the service of the previous visit; null when there is none, or the browser stores nothing. */
export function readService(): SavedService | null {
  try {
    const { base_url, api_key } = JSON.parse(localStorage.getItem(NAME) ?? "{}");
    return typeof base_url === "string" && typeof api_key === "string" ? { base_url, api_key } : null;
  } catch {
    return null;
  }
}

/** Stores a service for the next visit, or forgets it; in a browser that stores nothing it lasts for this visit. */
export function saveService(service: SavedService | null): void {
  try {
    if (service) localStorage.setItem(NAME, JSON.stringify(service));
    else localStorage.removeItem(NAME);
  } catch {
    // A browser may refuse to store anything.
  }
}

/** Calls back when another tab of this browser connects or disconnects. */
export function onServiceSaved(changed: () => void): void {
  addEventListener("storage", ({ key }) => {
    if (key === NAME || key === null) changed();
  });
}
