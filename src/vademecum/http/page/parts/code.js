// Numbered, coloured lines of code, and a whole file of which only what is on the screen exists as elements.

import { el, visible } from "../dom.js";
import { lines } from "../highlight.js";

const LONGEST = 1000;  // characters of a shown line: minified code would hang everything else

function coloured(pieces, marked) {
  let room = LONGEST;
  const shown = [];
  for (const [kind, text] of pieces) {
    if (room <= 0) break;
    const said = text.length > room ? `${text.slice(0, room)}…` : text;
    room -= text.length;
    for (const [part, hit] of split(said, marked)) {
      if (hit) shown.push(el("mark", { class: kind && `t-${kind}` }, part));
      else shown.push(...(kind ? [el("span", { class: `t-${kind}` }, part)] : visible(part)));
    }
  }
  return shown;
}

function split(text, marked) {
  if (!marked) return [[text, false]];
  const found = [];
  let end = 0;
  for (const match of text.matchAll(marked)) {
    if (match.index > end) found.push([text.slice(end, match.index), false]);
    found.push([match[0], true]);
    end = match.index + match[0].length;
  }
  if (end < text.length) found.push([text.slice(end), false]);
  return found;
}

/** What to mark of a question: its words of three letters and more, wherever a word of the code begins with one. */
export function marks(question) {
  const found = [...new Set(question.match(/[\p{L}\p{N}_]{3,}/gu) || [])].filter((word) => !COMMON.has(word.toLowerCase()));
  const escaped = found.slice(0, 20).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return found.length ? new RegExp(`(?<![\\p{L}\\p{N}])(?:${escaped.join("|")})(?![\\p{L}\\p{N}])`, "giu") : null;
}
const COMMON = new Set("the and for are was were how what where when why who which does did with from into that this there here have has not can its one all any out you our get set use used".split(" "));

function row(number, pieces, marked) {
  return el("div", { class: "line" }, el("span", { class: "number", "aria-hidden": "true", data: { n: number } }), el("code", {}, coloured(pieces, marked)));
}

/** A snippet, from line `start` of its file on. `before` is what stands before it. */
export function snippet(text, language, start, { marked = null, label = "", before = "" } = {}) {
  const all = lines(text.replace(/\n$/, ""), language, before);
  const shown = all.map((parts, index) => row(start + index, parts, marked));
  const digits = String(start + all.length).length;
  return el("div", { class: `code digits-${Math.min(6, Math.max(2, digits))}`, tabindex: "0", role: "group", "aria-label": label || "Code" }, shown);
}

const LINE_HEIGHT = 20;  // pixels, as in the stylesheet
const AROUND = 30;  // lines drawn beyond what is seen

/** A whole file. `mark(first, last)` marks lines and shows them from the upper third on; 0 marks none. */
export function file(text, language, { label = "" } = {}) {
  let first = 0, last = 0;
  const all = lines(text.replace(/\n$/, ""), language);
  const digits = Math.min(6, Math.max(2, String(all.length).length));
  const sheet = el("div", { class: "sheet" });
  const widest = Math.min(LONGEST, all.reduce((most, pieces) => Math.max(most, pieces.reduce((sum, piece) => sum + piece[1].length, 0)), 0));
  sheet.style.height = `${all.length * LINE_HEIGHT}px`;
  sheet.style.minWidth = `${widest + digits + 6}ch`;
  const box = el("div", { class: `code file digits-${digits}`, tabindex: "0", role: "region", "aria-label": label, data: { lines: all.length } }, sheet);
  let drawn = "";
  const draw = () => {
    const from = Math.max(0, Math.floor(box.scrollTop / LINE_HEIGHT) - AROUND);
    const to = Math.min(all.length, Math.ceil((box.scrollTop + (box.clientHeight || 800)) / LINE_HEIGHT) + AROUND);
    if (drawn === `${from}-${to}`) return;
    drawn = `${from}-${to}`;
    sheet.replaceChildren(...all.slice(from, to).map((pieces, index) => {
      const number = from + index + 1, line = row(number, pieces, null);
      line.style.transform = `translateY(${(number - 1) * LINE_HEIGHT}px)`;
      line.classList.toggle("chosen", number >= first && number <= last);
      return line;
    }));
  };
  box.addEventListener("scroll", draw, { passive: true });
  const watch = new ResizeObserver(draw);
  watch.observe(box);
  draw();
  return { element: box, count: all.length, mark: (from, to) => { [first, last, drawn] = [from, to, ""]; box.scrollTop = Math.max(0, (from - 1) * LINE_HEIGHT - box.clientHeight / 3); draw(); }, close: () => watch.disconnect() };
}
