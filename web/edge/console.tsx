/** The console of a service: connect, its tasks, and its connections, webhooks and keys. */
export function Console() {
  return <p class="soft">No service is connected.</p>;
}
