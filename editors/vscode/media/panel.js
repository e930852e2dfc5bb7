// The panel: a field, filters and a list. What an answer says is text; nothing here makes elements of text.
"use strict";
(() => {
  const vscode = acquireVsCodeApi();
  const at = (id) => document.getElementById(id);
  const question = at("question"), kind = at("kind"), language = at("language");
  const headline = at("headline"), note = at("note"), results = at("results");
  let number = 0; // of the listing shown
  let wanted = ""; // a language chosen before the list of languages came

  const ask = () => {
    remember();
    if (question.value.trim()) {
      vscode.postMessage({ type: "search", question: question.value, kind: kind.value, language: language.value });
    }
  };
  const remember = () => vscode.setState({ question: question.value, kind: kind.value, language: language.value });
  const rows = () => [...results.querySelectorAll(".row")];

  const say = (text, more = "", failed = false) => {
    headline.textContent = text;
    headline.classList.toggle("failed", failed);
    note.textContent = more;
  };

  const part = (tag, name, text) => {
    const element = document.createElement(tag);
    element.className = name;
    element.textContent = text;
    return element;
  };

  const rowOf = (row, index) => {
    const item = document.createElement("li");
    const button = part("button", "row", "");
    button.type = "button";
    button.tabIndex = index === 0 ? 0 : -1;
    button.dataset.index = String(index);
    const detail = part("span", "detail", [row.title, row.detail].filter(Boolean).join(" · "));
    if (row.freshness) detail.append(" · ", part("span", "aged", row.freshness));
    button.append(part("span", "place", row.place), detail);
    if (row.snippet) button.append(part("pre", "", row.snippet));
    item.append(button);
    return item;
  };

  const open = (button, beside) =>
    vscode.postMessage({ type: "open", listing: number, row: Number(button.dataset.index), beside });

  const go = (index) => {
    const all = rows();
    const next = all[Math.max(0, Math.min(index, all.length - 1))];
    if (!next) return;
    for (const each of all) each.tabIndex = each === next ? 0 : -1;
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  };

  question.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "Enter") ask();
    else if (event.key === "ArrowDown") go(0);
    else return;
    event.preventDefault();
  });
  for (const filter of [kind, language]) filter.addEventListener("change", ask);

  results.addEventListener("click", (event) => {
    const button = event.target.closest(".row");
    if (button) open(button, event.ctrlKey || event.metaKey);
  });
  results.addEventListener("keydown", (event) => {
    const button = event.target.closest(".row");
    if (!button || event.altKey) return;
    const index = Number(button.dataset.index);
    const to = { ArrowDown: index + 1, j: index + 1, ArrowUp: index - 1, k: index - 1, Home: 0, End: Infinity }[event.key];
    if (event.key === "Enter") open(button, event.ctrlKey || event.metaKey);
    else if (event.key === "Escape" || event.key === "/" || (to === -1)) question.focus();
    else if (to !== undefined && !event.ctrlKey && !event.metaKey) go(to);
    else return;
    event.preventDefault();
  });

  window.addEventListener("message", ({ data }) => {
    switch (data.type) {
      case "busy":
        results.setAttribute("aria-busy", "true");
        say("Searching…");
        break;
      case "listing":
        number = data.number;
        results.removeAttribute("aria-busy");
        say(data.listing.headline, data.listing.note);
        headline.dataset.verdict = data.listing.verdict;
        results.replaceChildren(...data.listing.rows.map(rowOf));
        break;
      case "failed":
        results.removeAttribute("aria-busy");
        results.replaceChildren();
        say(data.message, "", true);
        break;
      case "languages": {
        const chosen = language.value || wanted;
        const options = data.languages.map((name) => Object.assign(document.createElement("option"), { value: name, textContent: name }));
        language.replaceChildren(language.options[0], ...options);
        language.value = data.languages.includes(chosen) ? chosen : "";
        break;
      }
      case "ask":
        if (data.question) question.value = data.question;
        window.focus();
        question.focus();
        question.select();
        if (data.run) ask();
        break;
    }
  });

  // the frame may be given the focus before or after its field asked for it
  window.addEventListener("focus", () => {
    if (document.activeElement === document.body) question.focus();
  });

  const before = vscode.getState();
  if (before) {
    question.value = before.question;
    kind.value = before.kind;
    wanted = before.language;
  }
  vscode.postMessage({ type: "ready" });
})();
