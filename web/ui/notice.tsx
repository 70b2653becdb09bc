import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";

const SIGNS = { info: "info", good: "check", warn: "fault", bad: "fault" } as const satisfies Record<
  string,
  IconName
>;

/** A message in a box; an error is announced. */
export function Notice({
  tone = "info",
  children,
}: {
  tone?: keyof typeof SIGNS;
  children: ComponentChildren;
}) {
  return (
    <div class={`notice ${tone}`} role={tone === "bad" ? "alert" : undefined}>
      <Icon name={SIGNS[tone]} />
      <div>{children}</div>
    </div>
  );
}
