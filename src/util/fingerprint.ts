/** Returns 53 bits of plain data as text: the same for equal data in the same order. Not for secrets. */
export function fingerprint(data: object): string {
  let [one, two] = [0xdeadbeef, 0x41c6ce57];
  for (const letter of JSON.stringify(data)) {
    const code = letter.codePointAt(0) ?? 0;
    one = Math.imul(one ^ code, 2654435761);
    two = Math.imul(two ^ code, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909);
  two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return (4294967296 * (2097151 & two) + (one >>> 0)).toString(36);
}
