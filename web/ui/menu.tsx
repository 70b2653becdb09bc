import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./icon.tsx";
import "./menu.css";

const MARGIN = 8;
const TYPING_MS = 700;

/**
 * A button that opens a menu of {@link MenuItem}s beside it; on a phone, a sheet at the bottom. Arrow keys move, letters find an item, and
 * Escape or a press outside closes it. The items render only while it is open.
 */
export function Menu({
  label,
  title,
  button,
  buttonClass,
  children,
}: {
  /** The accessible name of the button. */
  label: string;
  /** The heading of the menu. */
  title: string;
  button: ComponentChildren;
  buttonClass: string;
  children: () => ComponentChildren;
}) {
  const id = useId();
  const opener = useRef<HTMLButtonElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const typing = useRef({ text: "", at: 0 });
  useEffect(() => {
    const element = menu.current;
    if (!isOpen || !element || !opener.current) return;
    place(element, opener.current.getBoundingClientRect());
    const items = itemsOf(element);
    const [first] = items;
    (items.find((item) => item.ariaChecked === "true") ?? first)?.focus();
    const follow = ({ target }: Event) => {
      const isInside = target instanceof Node && element.contains(target);
      if (!isInside && opener.current) place(element, opener.current.getBoundingClientRect());
    };
    addEventListener("scroll", follow, { capture: true, passive: true });
    return () => removeEventListener("scroll", follow, { capture: true });
  }, [isOpen]);
  const move = (event: KeyboardEvent) => {
    const items = menu.current ? itemsOf(menu.current) : [];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const to = {
      ArrowDown: (at + 1) % items.length,
      ArrowUp: (at - 1 + items.length) % items.length,
      Home: 0,
      End: items.length - 1,
    }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      items[to]?.focus();
    } else if (event.key.length === 1 && event.key !== " ") {
      const now = performance.now();
      const before = now - typing.current.at < TYPING_MS ? typing.current.text : "";
      typing.current = { text: before + event.key.toLowerCase(), at: now };
      items.find((item) => item.textContent?.trim().toLowerCase().startsWith(typing.current.text))?.focus();
    }
    // The list has keys of its own.
    event.stopPropagation();
  };
  return (
    <>
      <button
        ref={opener}
        type="button"
        class={buttonClass}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        popovertarget={id}
      >
        {button}
      </button>
      <div
        ref={menu}
        id={id}
        class="menu"
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-label={title}
        onBeforeToggle={({ newState }) => {
          // Closing removes the items, and the browser cannot return the focus from a removed element.
          if (newState === "closed" && menu.current?.contains(document.activeElement))
            opener.current?.focus();
          setOpen(newState === "open");
        }}
        onKeyDown={move}
      >
        {isOpen && (
          <>
            <p aria-hidden="true">{title}</p>
            {children()}
          </>
        )}
      </div>
    </>
  );
}

const ACTION = { role: "menuitem" } as const;

/** An action of a {@link Menu}; with `checked`, one of several choices. */
export function MenuItem({
  icon,
  checked,
  note,
  end,
  onChoose,
  children,
}: {
  icon?: IconName;
  checked?: boolean;
  /** A few words after the name. */
  note?: string | undefined;
  /** A fact at the end of the line, such as a size. */
  end?: ComponentChildren;
  onChoose: () => void;
  children: ComponentChildren;
}) {
  return (
    <button
      type="button"
      {...(checked === undefined ? ACTION : { role: "menuitemradio", "aria-checked": checked })}
      tabIndex={-1}
      onClick={({ currentTarget }) => {
        currentTarget.closest<HTMLElement>("[popover]")?.hidePopover();
        onChoose();
      }}
    >
      {icon && <Icon name={icon} />}
      {checked !== undefined && <span class="mark">{checked && <Icon name="check" size={15} />}</span>}
      <b>{children}</b>
      {note && <small class="soft">{note}</small>}
      {end && <span class="end numbers">{end}</span>}
    </button>
  );
}

function itemsOf(menu: HTMLElement): HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>('[role^="menuitem"]')];
}

/** Places a menu below its button, or above it where there is more room; a phone's style sheet overrides this. */
function place(menu: HTMLElement, button: DOMRect): void {
  const { offsetWidth: width, scrollHeight: height } = menu;
  const below = innerHeight - button.bottom - MARGIN;
  const above = button.top - MARGIN;
  const isBelow = height <= below || below >= above;
  const left = button.left + width > innerWidth - MARGIN ? button.right - width : button.left;
  menu.style.setProperty("--left", `${Math.max(MARGIN, left)}px`);
  menu.style.setProperty("--top", isBelow ? `${button.bottom + 4}px` : "auto");
  menu.style.setProperty("--bottom", isBelow ? "auto" : `${innerHeight - button.top + 4}px`);
  menu.style.setProperty("--room", `${(isBelow ? below : above) - 4}px`);
}
