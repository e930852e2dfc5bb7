import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import * as path from "node:path";
import { test } from "node:test";

import { panelHtml } from "../src/panelHtml";

const top = path.join(__dirname, "..");

test("the panel's page lets in its own script and style, and nothing else", () => {
  const html = panelHtml({ cspSource: "https://webview.test", nonce: 'n"1', script: "s.js", style: "s.css" });
  const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(html)?.[1] ?? "";
  assert.match(policy, /default-src 'none'; style-src https:\/\/webview\.test; script-src 'nonce-n&quot;1'/);
  assert.doesNotMatch(policy, /unsafe|\*|connect-src|img-src/);
  assert.doesNotMatch(html, /<script(?! nonce=)|\son\w+=|style="/);
});

test("the panel's script makes no elements of text and asks nobody", () => {
  const script = readFileSync(path.join(top, "media/panel.js"), "utf8");
  assert.doesNotMatch(script, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|fetch\(|XMLHttpRequest|import\(/);
  // the page as tests/editors opens it in a browser, with what VS Code gives a webview
  const html = panelHtml({ cspSource: "file:", nonce: "test", script: "../media/panel.js", style: "../media/panel.css" });
  const given = "window.sent = []; window.acquireVsCodeApi = () => ({ postMessage: (said) => window.sent.push(said), getState: () => null, setState: () => undefined });";
  writeFileSync(path.join(top, "out/panel.html"), html.replace("<script", `<script nonce="test">${given}</script>\n<script`));
});
