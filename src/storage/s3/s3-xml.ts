/** An element of an XML response: its decoded text and child elements. */
export interface XmlElement {
  name: string;
  /** The element's own text; empty when it has children. */
  text: string;
  children: XmlElement[];
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
/** The longest text that is parsed: more than a list of a thousand long keys. */
export const MOST_XML = 8_000_000;
const MAX_DEPTH = 16;
// A declaration or comment, an end tag, a start tag with ignored attributes, or text.
const TOKEN =
  /<\?[^?]*\?>|<!--[^-]*-->|<\/([^\s<>/]+)\s*>|<([^\s<>/!?]+)((?:\s+[^\s<>/="']+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy;

/**
 * Parses the XML of a response: elements and text, without entities or references to other documents. Throws an Error for
 * anything else.
 */
export function readXml(text: string): XmlElement {
  if (text.length > MOST_XML) throw new Error("The XML is too long.");
  const top: XmlElement = { name: "", text: "", children: [] };
  const open: XmlElement[] = [top];
  let at = 0;
  for (const [token, end, start, , empty, words] of text.trim().matchAll(TOKEN)) {
    at += token.length;
    const inner = open.at(-1) ?? top;
    if (words !== undefined) inner.text += decode(words);
    else if (end !== undefined) {
      if (inner.name !== end || open.length === 1)
        throw new Error("The XML closes an element that is not open.");
      if (inner.children.length > 0) inner.text = "";
      open.pop();
    } else if (start !== undefined) {
      const element: XmlElement = { name: start, text: "", children: [] };
      inner.children.push(element);
      if (empty === "") open.push(element);
      if (open.length > MAX_DEPTH) throw new Error("The XML is nested too deeply.");
    }
  }
  const [root] = top.children;
  if (at !== text.trim().length || open.length > 1 || top.children.length !== 1 || !root || top.text.trim()) {
    throw new Error("This is not the XML of a response.");
  }
  return root;
}

/** Returns the text of the first child of a name; empty when there is none. */
export function textOf(element: XmlElement, name: string): string {
  return element.children.find((child) => child.name === name)?.text ?? "";
}

export function childrenOf(element: XmlElement, name: string): XmlElement[] {
  return element.children.filter((child) => child.name === name);
}

export function xmlText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function decode(text: string): string {
  return text.replaceAll(/&([^;&\s]{1,10});|&/g, (whole, name: string | undefined) => {
    const number = /^#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}))$/.exec(name ?? "");
    const code = number ? Number.parseInt(number[1] ?? number[2] ?? "", number[1] ? 16 : 10) : null;
    if (code !== null && code <= 0x10ffff) return String.fromCodePoint(code);
    const known = Object.hasOwn(ENTITIES, name ?? "") ? ENTITIES[name ?? ""] : undefined;
    if (known === undefined) throw new Error(`The XML has an unknown entity ${whole}.`);
    return known;
  });
}
