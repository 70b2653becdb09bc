/**
 * Makes a player release its file at once. One that is only removed from the page keeps loading, possibly from a URL that no
 * longer exists.
 */
export function releasePlayer(player: HTMLMediaElement): void {
  player.removeAttribute("src");
  player.load();
}
