// Put the extension into one file, and with --tests each test into one, over the stand-in for VS Code.
import { rmSync } from "node:fs";
import { build } from "esbuild";

const how = { bundle: true, platform: "node", format: "cjs", target: "node20", logLevel: "warning" };

await build({ ...how, entryPoints: ["src/extension.ts"], external: ["vscode"], outfile: "dist/extension.js" });
if (process.argv.includes("--tests")) {
  rmSync("out", { recursive: true, force: true }); // a test that was deleted is not run
  await build({ ...how, entryPoints: ["test/*.test.ts"], alias: { vscode: "./test/vscode.ts" }, outdir: "out", sourcemap: true });
}
