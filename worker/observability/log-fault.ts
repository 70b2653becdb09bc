/** Fields of a line that tell where a fault happened, of this service's own making. */
export type FaultFields = Readonly<Record<string, string | number | undefined>>;

/** Writes a fault as a line of JSON, with the stack of what was thrown and of its cause. Of URLs in it only the origin is kept, as the rest may be secret. */
export function logFault(message: string, thrown: unknown, fields: FaultFields = {}): void {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  const told = { level: "error", message, ...fields, error: textOf(thrown) };
  console.error(JSON.stringify(cause === undefined ? told : { ...told, cause: textOf(cause) }));
}

function textOf(thrown: unknown): string {
  const text = thrown instanceof Error ? (thrown.stack ?? String(thrown)) : String(thrown);
  return text.replaceAll(/\b(?:https?|s3):\/\/[^\s"'<>)]*/gi, originOf);
}

function originOf(url: string): string {
  const { protocol, host } = URL.parse(url) ?? { protocol: "", host: "" };
  return `${protocol}//${host}/…`;
}
