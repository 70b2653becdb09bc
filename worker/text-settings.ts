/** Reads a setting that is a whole number of at least `least`; throws an Error that names it, for any other text. */
export function countSetting(
  name: string,
  text: string | undefined,
  fallback: number,
  least: number,
): number {
  if (!text) return fallback;
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new Error(`${name} must be a whole number of at least ${least}.`);
}

/** Reads NATIVE_ENCODER_URL: comma-separated http or https URLs, given back without a slash at the end; throws an Error for any other text. */
export function parseUrls(text: string | undefined): string[] {
  const urls = (text ?? "").split(",").map((url) => url.trim());
  return urls
    .filter((url) => url !== "")
    .map((url) => {
      const parsed = URL.parse(url);
      if (/^https?:$/.test(parsed?.protocol ?? "") && !/[?#]/.test(url)) return url.replace(/\/+$/, "");
      throw new Error("NATIVE_ENCODER_URL must be comma-separated http or https URLs.");
    });
}
