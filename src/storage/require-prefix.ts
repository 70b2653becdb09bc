/** Throws on an empty prefix, with which a fault elsewhere would clear the whole storage. */
export function requirePrefix(prefix: string): void {
  if (!prefix) throw new Error("Storage is not cleared without a prefix.");
}
