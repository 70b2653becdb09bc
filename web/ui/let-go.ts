/** Has a player let go of its file at once. What is only taken out of the page goes on loading, and asks for an address that may be gone by then. */
export function letGo(player: HTMLMediaElement): void {
  player.removeAttribute("src");
  player.load();
}
