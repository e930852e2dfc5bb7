/** The panel's page. All it shows comes later, as messages; nothing of an answer is ever part of it. */

export interface PanelParts {
  readonly cspSource: string;
  readonly nonce: string;
  readonly script: string; // addresses
  readonly style: string;
}

const KINDS = [
  ["all", "all files"],
  ["code", "code"],
  ["test", "tests"],
  ["doc", "documents"],
  ["config", "configuration"],
] as const;

export function panelHtml({ cspSource, nonce, script, style }: PanelParts): string {
  const policy = `default-src 'none'; style-src ${cspSource}; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  const kinds = KINDS.map(([value, shown]) => `<option value="${value}">${shown}</option>`).join("");
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${attribute(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>vademecum</title>
<link rel="stylesheet" href="${attribute(style)}">
</head>
<body>
<main>
<div role="search" class="ask">
<input id="question" type="text" autocomplete="off" spellcheck="false" aria-label="Search this repository" placeholder="A question, or a name" maxlength="4000">
<div class="filters">
<select id="kind" aria-label="Kind of file">${kinds}</select>
<select id="language" aria-label="Language"><option value="">all languages</option></select>
</div>
</div>
<p id="headline" role="status" aria-live="polite"></p>
<p id="note"></p>
<ol id="results" aria-label="Results"></ol>
</main>
<script nonce="${attribute(nonce)}" src="${attribute(script)}"></script>
</body>
</html>`;
}

function attribute(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
