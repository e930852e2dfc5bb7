// Numbers, sizes and times as people read them.

const whole = new Intl.NumberFormat("en");
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const month = new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric" });
const minute = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
const IRREGULAR = { repository: "repositories", memory: "memories", query: "queries", category: "categories", history: "histories" };

export const count = (value) => whole.format(value);
export const plural = (value, noun) => `${count(value)} ${value === 1 ? noun : IRREGULAR[noun] || `${noun}s`}`;
export const percent = (share) => `${Math.round(100 * share)}%`;
/** A probability: never 1.00 for what is not certain. */
export const chance = (value) => (value >= 1 ? "1.00" : Math.min(value, 0.99).toFixed(2));
export const date = (seconds) => (seconds ? day.format(seconds * 1000) : "");
export const moment = (seconds) => (seconds ? minute.format(seconds * 1000) : "");
/** A stretch of the past as people name it: "2026-11" is November 2026, "last week" Last week. */
export const stretch = (name) => (/^\d{4}-\d\d$/.test(name) ? month.format(new Date(`${name}-01T12:00:00`)) : name.charAt(0).toUpperCase() + name.slice(1));
export const iso = (seconds) => new Date(seconds * 1000).toISOString();
export const short = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2));

/** A size: 1.4 MB, in powers of 1000. */
export function size(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let left = bytes, unit = 0;
  while (left >= 1000 && unit < units.length - 1) { left /= 1000; unit += 1; }
  return `${unit && left < 10 ? left.toFixed(1) : Math.round(left)} ${units[unit]}`;
}

/** How long ago, in one word or two. */
export function ago(seconds, now = Date.now() / 1000) {
  const past = Math.max(0, now - seconds);
  for (const [length, name] of [[31557600, "year"], [2629800, "month"], [604800, "week"], [86400, "day"], [3600, "hour"], [60, "minute"]]) {
    if (past >= length) return `${plural(Math.floor(past / length), name)} ago`;
  }
  return "just now";
}

/** A path as its folder and its name. */
export function parts(path) {
  const cut = path.lastIndexOf("/") + 1;
  return [path.slice(0, cut), path.slice(cut)];
}
