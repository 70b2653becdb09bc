/**
 * Names tracks for a player's menu, each unlike the others: by its title, its language in that language, or its number. Languages
 * are canonical, undefined where they are unknown.
 */
export function nameTracks(
  tracks: readonly { title?: string | undefined; language?: string | undefined }[],
): string[] {
  const taken = new Set<string>();
  return tracks.map(({ title = "", language }, index) => {
    const name = quotable(title) || quotable(nameOf(language)) || `Track ${index + 1}`;
    let own = name;
    for (let count = 2; taken.has(own); count++) own = `${name} ${count}`;
    taken.add(own);
    return own;
  });
}

// Quotes and line breaks, Unicode's too in players, would end an attribute of a playlist; XML cannot have the last two.
function quotable(name: string): string {
  return name.replaceAll(/["\p{Cc}\p{Zl}\p{Zp}\ufffe\uffff]/gu, "");
}

function nameOf(language: string | undefined): string {
  if (language === undefined) return "";
  return new Intl.DisplayNames([language], { type: "language" }).of(language) ?? language;
}
