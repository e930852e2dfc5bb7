import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { Client, ServerError } from "../src/client";
import { lensesOf, notesOf, questionOf } from "../src/notes";
import { BUDGET, COMMAND, Served } from "./served";

let served: Served;
let client: Client;

before(async () => {
  served = await Served.start();
  client = new Client(served.url);
});
after(() => served.close());

test("what is served, not yet indexed, indexed, searched and opened", async () => {
  assert.deepEqual(await client.repos(), [{ name: "handbook", root: served.root }]);
  assert.equal((await client.status())[0]?.indexed_at, 0);
  await served.index();
  const [status] = await client.status();
  assert.ok(status && status.indexed_at > 0 && status.fresh && status.files >= 4);
  const answer = await client.search("how is the token budget split", { k: 3, repos: ["handbook"], snippetLines: 4 });
  assert.notEqual(answer.verdict, "not_found");
  assert.equal(answer.evidence[0]?.path, "src/budget.py");
  const tests = await client.search("split the budget", { kind: "test" });
  assert.deepEqual([...new Set(tests.evidence.map((each) => each.path))], ["tests/test_budget.py"]);
  const prose = await client.search("token budget", { languages: ["markdown"] });
  assert.deepEqual([...new Set(prose.evidence.map((each) => each.language))], ["markdown"]);
  assert.match((await client.open("src/budget.py:1-2", "handbook")).snippet, /^class Budget/);
});

test("callers and a context are those of the server", async () => {
  const callers = await client.callers("Budget.split", "handbook");
  assert.ok(callers.found.some((link) => link.name === "spend_all"));
  assert.equal((await client.callers("no/such name?")).verdict, "not_found");
  const context = await client.context("split the budget three ways".repeat(300), 500);
  assert.equal(context.budget, 500);
});

test("a fact stands beside its symbol, drifts with its code, and is told when the code is gone", async () => {
  await served.say("We decided that `Budget.split` rounds down because tokens are whole.", 1_770_000_000);
  await served.say("We decided that spend_all() ignores the reserve because it is the last call.", 1_770_000_100);
  const shown = async (text: string) => {
    const recalled = await client.recall(questionOf("src/budget.py", text), 200, "handbook");
    return lensesOf("src/budget.py", text, notesOf(recalled)).map((lens) => `${lens.line} ${lens.title}`);
  };
  assert.deepEqual(await shown(BUDGET), ["6 1 note on Budget.split: 1 current", "11 1 note on spend_all: 1 current"]);
  const edited = BUDGET.replace("int(self.total * share)", "round(self.total * share)").replace(/\n\ndef spend_all[^]*$/, "\n");
  served.write("src/budget.py", edited);
  await served.index();
  assert.deepEqual(await shown(edited), ["0 1 note on spend_all: 1 orphaned", "6 1 note on Budget.split: 1 drifted"]);
  served.write("src/budget.py", BUDGET);
  await served.index();
});

test("what is wrong with a call is told in the server's words", async () => {
  await assert.rejects(client.search("x", { kind: "nonsense" }), (error: ServerError) => error.status === 400 && /nonsense.*is not one of/.test(error.message));
  await assert.rejects(client.open("src/none.py"), (error: ServerError) => error.status === 404 && /none\.py/.test(error.message));
});

test("nothing there, somebody else, silence and another place are told apart", async () => {
  await assert.rejects(new Client("http://127.0.0.1:9").repos(), (error: ServerError) => error.status === 0 && /nothing answers at .*vade serve/.test(error.message));
  await answering((_, response) => response.end("<p>hello"), (url) => assert.rejects(new Client(url).repos(), /is not a vademecum server/));
  await answering((_, response) => response.end('{"repos": 1}'), (url) => assert.rejects(new Client(url).repos(), /is not a vademecum server/));
  await answering(() => undefined, (url) => assert.rejects(new Client(url, "", 100).repos(), /did not answer within 0.1 s/));
  let asked = 0;
  await answering(
    (request, response) => (request.url === "/stolen" ? asked++ : 0, response.writeHead(302, { Location: "/stolen" }).end()),
    (url) => assert.rejects(new Client(url, "key").repos(), ServerError),
  );
  assert.equal(asked, 0);
  const stop = new AbortController();
  stop.abort();
  await assert.rejects(client.repos(stop.signal), { name: "AbortError" });
});

test("a server with keys asks for one, and knows its own", async () => {
  const [program = "", ...rest] = COMMAND;
  const made = execFileSync(program, [...rest, "serve", "--new-key", "editor"], { encoding: "utf8" });
  const key = /shown this once: (\S+)/.exec(made)?.[1] ?? "";
  const entry = /VADE_SERVER__KEYS: (\S+)/.exec(made)?.[1] ?? "";
  const closed = await Served.start({ VADE_SERVER__KEYS: entry });
  try {
    await assert.rejects(new Client(closed.url).repos(), /asks for a key: run “vademecum: Set Key of Server”/);
    await assert.rejects(new Client(closed.url, "wrong").repos(), /does not know this key/);
    assert.equal((await new Client(closed.url, key).repos())[0]?.name, "handbook");
  } finally {
    await closed.close();
  }
  assert.equal(closed.serving.running, false);
});

async function answering(listener: RequestListener, check: (url: string) => Promise<unknown>): Promise<void> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await check(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
