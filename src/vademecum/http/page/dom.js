// Elements from text. Nothing here ever parses markup: what a repository, a transcript or a tool says stays text, and
// characters that would hide or reorder it ("Trojan Source", CVE-2021-42574) are drawn as what they are.

const NAMES = {
  0x00ad: "soft hyphen", 0x061c: "Arabic letter mark", 0x200b: "zero width space", 0x200c: "zero width non-joiner",
  0x200d: "zero width joiner", 0x200e: "left-to-right mark", 0x200f: "right-to-left mark", 0x2028: "line separator",
  0x2029: "paragraph separator", 0x202a: "left-to-right embedding", 0x202b: "right-to-left embedding",
  0x202c: "pop directional formatting", 0x202d: "left-to-right override", 0x202e: "right-to-left override",
  0x2060: "word joiner", 0x2066: "left-to-right isolate", 0x2067: "right-to-left isolate",
  0x2068: "first strong isolate", 0x2069: "pop directional isolate", 0xfeff: "byte order mark",
};
// Tabs and line ends stay; the zero width joiner stays where it joins emoji.
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200c\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/u;
const SPLIT = new RegExp(`(${HIDDEN.source})`, "u");
const SVG = "http://www.w3.org/2000/svg";
const SAID = new Set(["title", "aria-label", "placeholder", "alt"]);

const code = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** Text as nodes, with hidden characters as small labels. */
export function visible(text) {
  const said = String(text);
  if (!HIDDEN.test(said)) return [document.createTextNode(said)];
  return said.split(SPLIT).filter(Boolean).map((part) => {
    if (!HIDDEN.test(part)) return document.createTextNode(part);
    const mark = document.createElement("span");
    mark.className = "hidden-char";
    mark.textContent = code(part);
    mark.title = NAMES[part.codePointAt(0)] || "control character";
    return mark;
  });
}

/** The same for where only plain text can stand: attributes, a document's title. */
export const plain = (text) => String(text).split(SPLIT).map((part) => (HIDDEN.test(part) ? `<${code(part)}>` : part)).join("");

function set(element, attributes) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "data") Object.assign(element.dataset, value);
    else if (key === "style") Object.assign(element.style, value);
    else element.setAttribute(key, value === true ? "" : SAID.has(key) ? plain(value) : value);
  }
}

function fill(element, children, text = visible) {
  for (const child of children.flat(4)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(...(child instanceof Node ? [child] : [text(child)].flat()));
  }
  return element;
}

/** An HTML element: `el("a", { class: "path", href }, "src/", el("b", {}, name))`. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  set(element, attributes);
  return fill(element, children);
}

/** The same in SVG. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  set(element, attributes);
  return fill(element, children, plain);  // a label of HTML would not be drawn in it
}

/** Put `children` where an element's were. */
export function replace(element, ...children) {
  element.replaceChildren();
  return fill(element, children);
}

let last = 0;
/** An id that nothing else has. */
export const fresh = (prefix = "n") => `${prefix}-${(last += 1)}`;

/** What a colour of the stylesheet is now, as a canvas takes it. */
export function colour(name) {
  const probe = document.body.appendChild(el("i", { style: { color: `var(--${name})`, display: "none" } }));
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}
