/** Text of repositories and transcripts, made fit to be shown: it may have been written to mislead. */

// Controls but for tab and line feed, marks that reorder or hide: what one sees is then not what is there.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** Show characters that hide or reorder text as what they are: `U+202E`. */
export function visible(text: string): string {
  const lines = text.replace(/\r\n?/g, "\n");
  return lines.replace(HIDDEN, (mark) => `U+${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`);
}

/**
 * Write a text so that Markdown shows it as it is, on one line: no emphasis, link, picture, HTML or formula is made of it, and no
 * heading or list at its beginning. What Markdown leaves alone stays as it is, since a document is read as its source too.
 */
export function plain(text: string): string {
  return visible(text)
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\\`*[\]<>|~$&@]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|(?<=:)\/(?=\/)|(?<=www)\./gi, "\\$&")
    .replace(/^(?:[#+=-]|\d+(?=[.)]))/, (mark) => (/\d/.test(mark) ? `${mark}\\` : `\\${mark}`));
}

/** Write a text as code within a line. */
export function coded(text: string): string {
  const shown = visible(text).replace(/\s+/g, " ");
  const ticks = "`".repeat(Math.max(0, ...[...shown.matchAll(/`+/g)].map((run) => run[0].length)) + 1);
  return ticks.length > 1 ? `${ticks} ${shown} ${ticks}` : `\`${shown}\``;
}

/** Put lines between fences that nothing in them can close. */
export function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${/^[\w+#-]*$/.test(language) ? language : ""}\n${visible(text)}\n${fence}`;
}

/** Return "1 file", "2 files". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
