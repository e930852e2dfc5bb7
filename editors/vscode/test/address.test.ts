import assert from "node:assert/strict";
import { test } from "node:test";

import { AddressError, chosenServer, isLoopback } from "../src/address";

const HERE = "http://127.0.0.1:8765";
const settled = (byUser?: string, byWorkspace?: string) => ({ byDefault: HERE, byUser, byWorkspace });

test("only this machine counts as loopback, however it is written", () => {
  for (const host of ["localhost", "[::1]", "127.0.0.1", "127.8.9.10"]) assert.equal(isLoopback(host), true, host);
  for (const host of ["127.0.0.1.example.org", "localhost.example.org", "10.0.0.1", "0.0.0.0", "[::]", ""]) {
    assert.equal(isLoopback(host), false, host);
  }
});

test("a number that means 127.0.0.1 is read as the address it is", () => {
  assert.equal(chosenServer(settled(undefined, "http://2130706433:9000")), "http://127.0.0.1:9000");
});

test("a workspace may choose a port, not a machine", () => {
  assert.equal(chosenServer(settled()), HERE);
  assert.equal(chosenServer(settled(undefined, "http://localhost:9000/")), "http://localhost:9000");
  for (const elsewhere of ["http://example.org", "http://127.0.0.1@example.org", "https://10.0.0.7:8765", "http://127.0.0.1.nip.example"]) {
    assert.throws(() => chosenServer(settled(undefined, elsewhere)), AddressError, elsewhere);
  }
  assert.throws(() => chosenServer(settled(undefined, "http://example.org")), /user settings/);
});

test("the user may choose a machine, and a workspace may then say the same", () => {
  assert.equal(chosenServer(settled("https://vade.example.org/team/")), "https://vade.example.org/team");
  assert.equal(chosenServer(settled("https://vade.example.org", "https://vade.example.org/")), "https://vade.example.org");
  assert.throws(() => chosenServer(settled("https://vade.example.org", "https://other.example.org")), AddressError);
});

test("what is no address is named, and a password has no place in it", () => {
  assert.throws(() => chosenServer(settled("8765")), /no address|http:\/\//);
  assert.throws(() => chosenServer(settled("file:///etc/passwd")), /http:\/\//);
  assert.throws(() => chosenServer(settled("http://me:secret@127.0.0.1:8765")), (error: Error) => !error.message.includes("secret"));
});
