// Where one is, in the address after `#`: `#/search?q=budget`. It can be shared and the back button works. What stands
// after `#` is not sent, so questions are in no access log.

/** The view and its parameters that an address names. */
export function parse(hash) {
  const [, name = "", query = ""] = /^#?\/?([^?]*)\??(.*)$/.exec(hash) || [];
  return { name: name || "search", parameters: new URLSearchParams(query) };
}

const { only } = document.documentElement.dataset;  // the one view of a page that is a file

/** The address of a view, none for a view that is not here. Empty values are left out, lists are repeated. */
export function link(name, parameters = {}) {
  if (only && name !== only) return undefined;
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each !== undefined && each !== null && each !== "") query.append(key, each);
  }
  const text = query.toString();
  return `#/${name}${text ? `?${text}` : ""}`;
}

/** Go there; `instead` replaces the place one is at, so that the back button skips it. */
export function go(name, parameters = {}, { instead = false } = {}) {
  const to = link(name, parameters);
  if (!to || to === location.hash) return;
  if (instead) {
    history.replaceState(null, "", to);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = to;
}
