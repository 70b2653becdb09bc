import { z } from "zod";

/** The facts of a setting for messages and documentation. */
export interface SettingFacts {
  /** The meaning of the setting, in Markdown. */
  meaning: string;
  /** The values that it accepts: the end of "NAME must be …". */
  accepts: string;
  unit?: "seconds" | "bytes";
  /** The value may hold a secret, so no message shows it. */
  hidden?: true;
}

/** The facts of each setting, kept for the schema inside `optional()` or `prefault()`. */
export const FACTS = z.registry<SettingFacts>();

/** Describes the behavior of a setting without a default while it is not set. */
export const UNSET = z.registry<{ meaning: string }>();

/** A whole number. */
export const whole = (meaning: string, min: number, max = Number.MAX_SAFE_INTEGER) =>
  integer(min, max).register(FACTS, { meaning, accepts: `a whole number ${between(min, max)}` });

/** A whole number of seconds. */
export const seconds = (meaning: string, min: number, max: number) =>
  integer(min, max).register(FACTS, {
    meaning,
    accepts: `a whole number of seconds ${between(min, max)}`,
    unit: "seconds",
  });

/** A number of seconds that may have a fraction. */
export const fineSeconds = (meaning: string, min: number, max: number) =>
  z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max))
    .register(FACTS, {
      meaning,
      accepts: `a number of seconds ${between(min, max)}`,
      unit: "seconds",
    });

/** A number of bytes: digits, with or without a unit. */
export const size = (meaning: string, min: string, max: string) =>
  z
    .string()
    .transform(parseSize)
    .pipe(z.int().min(parseSize(min)).max(parseSize(max)))
    .register(FACTS, {
      meaning,
      accepts: `a number of bytes, or a size such as 500 MB or 2 GiB, from ${min} to ${max}`,
      unit: "bytes",
    });

/** `true` or `false`. */
export const flag = (meaning: string) =>
  z
    .enum(["true", "false"])
    .transform((text) => text === "true")
    .register(FACTS, { meaning, accepts: "true or false" });

/** One word of a fixed set. */
export const choice = <const T extends readonly [string, ...string[]]>(meaning: string, words: T) =>
  z.enum(words).register(FACTS, { meaning, accepts: words.join(" or ") });

/** Any text. */
export const text = (meaning: string, accepts: string) => z.string().register(FACTS, { meaning, accepts });

/** A text that must stay secret. */
export const secret = (meaning: string) =>
  z.string().register(FACTS, { meaning, accepts: "a secret", hidden: true });

/** Comma-separated keys that requests carry as bearer tokens, all of them accepted. */
export const bearerKeys = (meaning: string, min: number) =>
  z
    .string()
    .transform(split)
    .pipe(
      z.array(
        z
          .string()
          .min(min)
          .regex(/^[!-~]+$/),
      ),
    )
    .register(FACTS, {
      meaning,
      accepts: `comma-separated keys of at least ${min} printable characters without spaces`,
      hidden: true,
    });

/** A base URL; parsed, it has no slash at the end. A password in it is refused, but must not end up in a log either. */
export const baseUrl = (meaning: string) =>
  url().register(FACTS, {
    meaning,
    accepts: "an http or https URL without a query or a password",
    hidden: true,
  });

/** Comma-separated base URLs. */
export const baseUrls = (meaning: string) =>
  list(url()).register(FACTS, {
    meaning,
    accepts: "comma-separated http or https URLs without a query or a password",
    hidden: true,
  });

/** Comma-separated origins, as browsers write them. */
export const origins = (meaning: string) =>
  list(z.string().refine(isOrigin)).register(FACTS, {
    meaning,
    accepts: "comma-separated origins such as https://media.example, without a path",
  });

/** Comma-separated origins of pages; `*` stands for any, `loopback` for those of this machine. */
export const pageOrigins = (meaning: string) =>
  list(z.string().refine((text) => text === "*" || text === "loopback" || isOrigin(text))).register(FACTS, {
    meaning,
    accepts: "*, or comma-separated loopback and origins such as https://shop.example",
  });

/** Comma-separated hosts, in the form that `URL` returns. */
export const hosts = (meaning: string) =>
  list(z.string().transform(parseHost).pipe(z.string())).register(FACTS, {
    meaning,
    accepts: "comma-separated hosts such as nas.local or 10.0.0.7:9000",
  });

/** Comma-separated API keys. */
export const apiKeys = (meaning: string) =>
  list(
    z
      .string()
      .transform(parseKey)
      .pipe(z.object({ key: z.string(), project: z.string().nullable() })),
  ).register(FACTS, { meaning, accepts: "comma-separated KEY or PROJECT:KEY", hidden: true });

/** Comma-separated secrets of which the newest is used and the others are still accepted. */
export const secrets = (meaning: string, min: number) =>
  z
    .string()
    // A blank entry is refused: it may stand for an older secret that is not set.
    .transform(split)
    .pipe(z.array(z.string().min(min)))
    .register(FACTS, {
      meaning,
      accepts: `comma-separated secrets of at least ${min} characters, the newest first`,
      hidden: true,
    });

/** An API key in the settings. */
export interface ListedKey {
  key: string;
  /** The project of the key; null if it is derived from the key. */
  project: string | null;
}

const url = () => z.string().transform(parseBaseUrl).pipe(z.string());

function integer(min: number, max: number) {
  return z.string().regex(/^\d+$/).transform(Number).pipe(z.int().min(min).max(max));
}

function list<T extends z.ZodType<unknown, string>>(entry: T) {
  return z
    .string()
    .transform((text) => split(text).filter((each) => each !== ""))
    .pipe(z.array(entry).min(1));
}

function split(text: string): string[] {
  return text.split(",").map((each) => each.trim());
}

function between(min: number, max: number): string {
  return max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
}

// Returns NaN for a malformed size, which fails every bound.
function parseSize(text: string): number {
  const [, digits, unit = ""] = /^(\d+(?:\.\d+)?) ?(b|[kmgt]i?b)?$/i.exec(text) ?? [];
  const power = " kmgt".indexOf(unit.toLowerCase().charAt(0) || " ");
  const bytes = Number(digits) * (/i/i.test(unit) ? 1024 : 1000) ** Math.max(0, power);
  return power > 0 ? Math.round(bytes) : bytes;
}

function parseBaseUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) return undefined;
  return /[?#]/.test(text) ? undefined : text.replace(/\/+$/, "");
}

function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.parse(text)?.origin === text;
}

function parseHost(text: string): string | undefined {
  const [, port = ""] = /(:\d+)$/.exec(text) ?? [];
  const { hostname } = (/[/\\?#@*\s]/.test(text) ? null : URL.parse(`http://${text}`)) ?? {};
  return hostname ? hostname + port : undefined;
}

function parseKey(text: string): ListedKey | undefined {
  const [, project = null, key, alone] = /^(?:([\w-]{1,64}):([!-~]+)|([!-9;-~]+))$/.exec(text) ?? [];
  const secret = key ?? alone;
  return secret === undefined ? undefined : { key: secret, project };
}
