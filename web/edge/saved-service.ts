/** A service as this browser remembers it. */
export interface SavedService {
  base_url: string;
  api_key: string;
}

const NAME = "framewright-edge";

/** Gives the service of the visit before; null where there is none, or where the browser keeps nothing. */
export function readService(): SavedService | null {
  try {
    const { base_url, api_key } = JSON.parse(localStorage.getItem(NAME) ?? "{}");
    return typeof base_url === "string" && typeof api_key === "string" ? { base_url, api_key } : null;
  } catch {
    return null;
  }
}

/** Keeps a service for the next visit, or forgets it; a browser that keeps nothing has it for this visit alone. */
export function saveService(service: SavedService | null): void {
  try {
    if (service) localStorage.setItem(NAME, JSON.stringify(service));
    else localStorage.removeItem(NAME);
  } catch {
    // A browser may refuse to keep anything.
  }
}

/** Calls back when another tab of this browser connects or forgets. */
export function onServiceSaved(changed: () => void): void {
  addEventListener("storage", ({ key }) => {
    if (key === NAME || key === null) changed();
  });
}
