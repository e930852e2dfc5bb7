"""Edges where it is easily told wrong: each case was once an edge to what is not meant, or one that was missing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from vademecum.code.graph.terms import Tier

pytestmark = pytest.mark.once

UNIQUE = {
    # name of the case: files, who calls, what is called there and how that is known
    "overridden": (
        {
            "base.py": "class Field:\n    def settle(self): ...\n\n\nclass Number(Field):\n    def settle(self): ...\n",
            "use.py": "def use(thing):\n    thing.settle()\n",
        },
        "use.py:use",
        {"base.py:Field.settle guess"},
    ),
    "a field of that name elsewhere": (
        {
            "base.py": "class Task:\n    def elapsed_now(self): ...\n\n\nclass Clock:\n    elapsed_now = make()\n",
            "use.py": "def use(thing):\n    thing.elapsed_now()\n",
        },
        "use.py:use",
        {"base.py:Task.elapsed_now guess"},
    ),
    "a field that holds no function": (
        {
            "base.py": "class Group:\n    def register(self): ...\n    def command_of(self): ...\n\n\nclass Context:\n    command_of: Group\n",
            "use.py": "def use(thing):\n    thing.command_of()\n",
        },
        "use.py:use",
        {"base.py:Group.command_of unique"},
    ),
    "the receiver has it, made of who knows what": (
        {
            "task.py": "class Task:\n    def elapsed_now(self): ...\n",
            "use.py": "class Bar:\n    def __init__(self, clock):\n        self.elapsed_now = clock or print\n\n    def use(self):\n        self.elapsed_now()\n",
        },
        "use.py:Bar.use",
        {"task.py:Task.elapsed_now guess"},
    ),
    "the receiver has members from elsewhere": (
        {
            "task.py": "class Task:\n    def from_environ(self): ...\n",
            "use.py": "import lib\n\n\nclass Builder(lib.Builder): ...\n\n\ndef use():\n    Builder.from_environ()\n",
        },
        "use.py:use",
        {"task.py:Task.from_environ guess"},
    ),
    "a class that stands twice in a file": (
        {"a.ts": "test('a', () => { class Own { reconcile() {} } })\ntest('b', () => { class Own { reconcile() {} } })\n",
         "b.ts": "export function use(thing) { thing.reconcile() }\n"},
        "b.ts:use",
        {"a.ts:<1>.Own.reconcile guess", "a.ts:<2>.Own.reconcile guess"},
    ),
    "a property of an interface": (
        {"a.ts": "export interface System { relayAll: (to: string) => void }\n", "b.ts": "export function use(thing) { thing.relayAll('x') }\n"},
        "b.ts:use",
        {"a.ts:System.relayAll unique"},
    ),
}  # fmt: skip
# Functions that are handed to others: kept, returned, among options.
HANDLERS = {
    "types.ts": "export class Context { text() {} }\nexport class Text { text() {} }\n"
    "export type Handler = (c: Context) => void;\nexport interface Options { failed?: (c: Text) => void }\n"
    "export function limit(size: number, options: Options) {}\n",
    "use.ts": "import { Handler, limit } from './types';\nexport const a: Handler = (c) => c.text();\n"
    "export const b = (): Handler => {\n  return async function (c) { c.text(); };\n};\n"
    "export function use() {\n  limit(1, { failed: (c) => c.text() });\n  a; b;\n}\n",
}
SCRIPT = {
    "a barrel is read past what its modules only import": (
        {
            "internal.ts": "export * from './core';\nexport * from './spy';\n",
            "core.ts": "import { isSpying } from './internal';\nexport function work() { isSpying(); }\n",
            "spy.ts": "export function isSpying() {}\n",
        },
        "core.ts:work",
        {"spy.ts:isSpying exact"},
    ),
    "a long list of exports": (
        {
            "all.ts": "export {\n" + "".join(f"  nameNumber{n}, // {n}\n" for n in range(60)) + "  last,\n} from './own';\n",
            "own.ts": "export function last() {}\n",
            "use.ts": "import { last } from './all';\nexport function use() { last(); }\n",
        },
        "use.ts:use",
        {"own.ts:last exact"},
    ),
    "a module that hands on another one": (
        {"index.js": "module.exports = require('./lib/app');\n",
         "lib/app.js": "exports = module.exports = makeApp;\nfunction makeApp() {}\nmakeApp.settle = function () {};\n",
         "test/use.js": "const app = require('../');\nfunction use() { app(); app.settle(); }\n"},
        "test/use.js:use",
        {"lib/app.js:makeApp exact", "lib/app.js:makeApp.settle exact"},
    ),
    "what the grammar does not know hides nothing": (
        {"kinds.ts": "export type * from './other';\nexport interface Pair<in A, out B> {\n  left(a: A): B\n}\n"
                     "export interface Maker {\n  (name: string): void\n  // and with a kind\n  <K>(\n    kind: K\n  ): K[]\n"
                     "  <K extends string>(kind: K, more: K): K\n}\nexport function make(m: Maker) {\n  m('a');\n}\n",
         "other.ts": "export type Other = string;\n",
         "use.ts": "import { make } from './kinds';\nconst turn =\n  <T>(one: T) => one;\nfunction use() { make(turn(null)); }\n"},
        "use.ts:use",
        {"kinds.ts:make exact", "use.ts:turn exact"},
    ),
    "a callback is handed what the function that takes it declares": (
        {"app.ts": "import type { Handler, Taker } from './types';\nexport class App {\n  get!: Taker;\n"
                   "  use(path: string, ...all: [string, Handler]): this { return this; }\n"
                   "  all(...all: Handler[]): this { return this; }\n  each(visit: (one: number) => void) {}\n"
                   "  plain(visit: Function) {}\n}\n"
                   "export const wrap = (name: string, run: (run: App) => void) => run;\n",
         "types.ts": "import type { App } from './app';\nexport class Context { text() {} }\nexport class Next { go() {} }\n"
                     "export class Text { text() {} go() {} }\nexport type Plain = (c: Context, next: Next) => void;\n"
                     "export type Checked<T = any> = (c: Context) => Promise<T>;\nexport type Handler = Plain | Checked;\n"
                     "export interface Taker {\n  (path: string, handler: Handler): App;\n  (handler: Handler): App;\n}\n",
         "use.ts": "import { App, wrap } from './app';\nexport function use(app: App) {\n  app.get('/', (c) => c.text());\n"
                   "  app.get(async function (c, next) { next.go(); });\n  wrap('a', run => run.all(() => 1, (c) => c.text()));\n"
                   "  app.use('/', 'b', (c, { go }) => c.text()).use('/', 'c', (_, next) => next.go());\n}\n"
                   "export function not(app: App) {\n  app.each((c) => c.text());\n  app.plain((c) => c.text());\n}\n"},
        "use.ts:use",
        {"types.ts:Context.text typed", "types.ts:Next.go typed", "app.ts:App.use typed", "app.ts:wrap exact",
         "app.ts:App.all typed", "app.ts:App.get typed"},
    ),
    "a callback among options is handed what their type says": (
        HANDLERS,
        "use.ts:use",
        {"types.ts:limit exact", "types.ts:Text.text typed"},
    ),
    "a function that is returned is handed what the type says": (
        HANDLERS,
        "use.ts:b",
        {"types.ts:Context.text typed"},
    ),
    "a function that is kept is handed what the type says": (
        HANDLERS,
        "use.ts:a",
        {"types.ts:Context.text typed"},
    ),
    "a getter is read like a field": (
        {"a.js": "class Ask {\n  header() {}\n}\nclass Other {\n  header() {}\n}\nexport class Context {\n"
                 "  get ask() { return new Ask(); }\n  ask2() { return new Ask(); }\n  get odd() { return this.#f(1); }\n}\n",
         "use.js": "import { Context } from './a';\nfunction use() {\n  const c = new Context();\n  c.ask.header();\n"
                   "  c.ask2.header();\n  c.odd();\n}\n"},
        "use.js:use",
        {"a.js:Context exact", "a.js:Ask.header typed", "a.js:Other.header guess", "a.js:Context.odd typed"},
    ),
    "members that calls make, of an object that is all a module exports": (
        {"errors.js": "const make = require('elsewhere');\nconst kinds = {\n  TooLate: make('late'),\n  Lost: make('lost', 404)\n};\n"
                      "module.exports = kinds;\nmodule.exports.show = function () {};\n",
         "use.js": "const { TooLate, show } = require('./errors');\nconst errors = require('./errors');\n"
                   "function use() {\n  if (show()) throw new TooLate();\n  throw errors.Lost();\n}\n"},
        "use.js:use",
        {"errors.js:kinds.TooLate typed", "errors.js:kinds.Lost typed", "errors.js:show exact"},
    ),
    "modules that hand on each other": (
        {"a.js": "module.exports = require('./b');\n", "b.js": "module.exports = require('./a');\n",
         "use.js": "const a = require('./a');\nfunction use() { a.run(); }\n"},
        "use.js:use",
        set(),
    ),
    "a class that is all a module exports, by the main file of its package": (
        {"package.json": '{"main": "lib/app.js"}', "lib/app.js": "module.exports = class App {\n  settle() {}\n};\n",
         "test/use.js": "const Renamed = require('..');\nfunction use() { new Renamed().settle(); }\n"},
        "test/use.js:use",
        {"lib/app.js:App exact", "lib/app.js:App.settle typed"},
    ),
    "a function without a name is the file that exports it": (
        {"a.js": "module.exports = (one) => one;\n", "b.js": "export default one => one;\n",
         "use.js": "import b from './b';\nconst a = require('./a');\nfunction use() { a(1); b(1); }\n"},
        "use.js:use",
        {"a.js exact", "b.js exact"},
    ),
    "a function without a name that an assignment of its own exports": (
        {"a.js": "exports = module.exports = function (one) { return one; };\nmodule.exports.settle = function () {};\n",
         "b.js": "export default function (one) { return one; }\n", "c.js": "module.exports = function* () {};\n",
         "d.js": "export default function* () {}\n",
         "use.js": "import b from './b';\nimport d from './d';\nconst a = require('./a'), c = require('./c');\n"
                   "function use() { a(1); a.settle(); b(1); c(); d(); }\n"},
        "use.js:use",
        {"a.js exact", "a.js:settle exact", "b.js exact", "c.js exact", "d.js exact"},
    ),
    "a module that is no function": (
        {"a.js": "exports.a = function () {};\n", "b.js": "export default () => 1;\nexport const c = 1;\n",
         "d.js": "function one() {}\nmodule.exports = { a: one };\n",
         "e.js": "const f = require('./f');\nfunction own() { f(); }\n", "f.js": "const e = require('./e');\n",
         "use.js": "import * as ns from './b';\nconst o = require('./a'), list = require('./d'), e = require('./e');\n"
                   "function use() { o(); ns(); list(); e(); }\n"},
        "use.js:use",
        set(),
    ),
    "modules that require each other": (
        {"e.js": "const f = require('./f');\nfunction own() { f(); }\n", "f.js": "const e = require('./e');\n"},
        "e.js:own",
        set(),
    ),
    "an export that holds nobody knows what": (
        {"a.js": "exports.etag = generated({ weak: false });\n", "use.js": "const a = require('./a');\nfunction use() { a.etag(1); }\n"},
        "use.js:use",
        {"a.js:etag typed"},
    ),
    "a function that is a class": (
        {"view.js": "module.exports = View;\nfunction View(name) { this.name = name; this.lookUp(name); }\n"
                    "View.prototype.lookUp = function (name) { this.settle(); };\nView.prototype.settle = function () {};\n",
         "use.js": "const View = require('./view');\nfunction use() { const view = new View('a'); view.lookUp('b'); }\n"},
        "use.js:use",
        {"view.js:View exact", "view.js:View.lookUp typed"},
    ),
    "itself in a function that is a class": (
        {"view.js": "function View(name) { this.lookUp(name); }\n"
                    "View.prototype.lookUp = function (name) { this.settle(); };\nView.prototype.settle = function () {};\n"},
        "view.js:View.lookUp",
        {"view.js:View.settle exact"},
    ),
    "a long list in CommonJS": (
        {
            "all.js": "function last() {}\nmodule.exports = {\n" + "".join(f"  nameNumber{n}: {n},\n" for n in range(60)) + "  last,\n};\n",
            "use.js": "const { last } = require('./all');\nfunction use() { last(); }\n",
        },
        "use.js:use",
        {"all.js:last exact"},
    ),
    "what a constant holds is called": (
        {"a.ts": "export const choose = memo(pick);\n", "use.ts": "import { choose } from './a';\nexport function use() { choose(); }\n"},
        "use.ts:use",
        {"a.ts:choose typed"},
    ),
    "a namespace": (
        {"a.ts": "export namespace util {\n  export const check = () => 1;\n  export function join() {}\n}\n",
         "use.ts": "import { util } from './a';\nexport function use() { util.check(); util.join(); }\n"},
        "use.ts:use",
        {"a.ts:util.check exact", "a.ts:util.join exact"},
    ),
    "a constant that shares its name with an interface": (
        {"a.ts": "export interface Maker { init(): void }\nexport interface Text { size: number }\nexport const Text: Maker = make();\n",
         "use.ts": "import { Text } from './a';\nexport function use() { Text.init(); }\n"},
        "use.ts:use",
        {"a.ts:Maker.init typed"},
    ),
    "another name of a type": (
        {"a.ts": "export interface System<T> { relay(): void }\nexport type AnySystem = System<any>;\n",
         "use.ts": "import { AnySystem } from './a';\nexport function use(system: AnySystem) { system.relay(); }\n"},
        "use.ts:use",
        {"a.ts:System.relay typed"},
    ),
    "another name of itself": (
        {"a.ts": "export type Loop = Loop[];\nexport function use(loop: Loop) { loop.relay(); }\n"},
        "a.ts:use",
        set(),
    ),
    "the bound of a type parameter": (
        {"a.ts": "export class System { relay() {} }\nexport class Other { relay() {} }\n",
         "use.ts": "import { System } from './a';\nexport function use<T extends System>(system: T) { system.relay(); }\n"},
        "use.ts:use",
        {"a.ts:System.relay typed"},
    ),
    "a type parameter without one is no class from elsewhere": (
        {"a.ts": "export class System { relayAll() {} }\n", "use.ts": "export function use<T>(system: T) { system.relayAll(); }\n"},
        "use.ts:use",
        {"a.ts:System.relayAll unique"},
    ),
    "what is put into a function is not seen inside of it": (
        {"emit.ts": "export function emit() {}\n",
         "use.ts": "import { emit } from './emit';\nexport function outer() {\n  const queue = function (a) {};\n  queue.emit = () => { queue(emit()); };\n}\n"},
        "use.ts:outer.queue.emit",
        {"emit.ts:emit exact", "use.ts:outer.queue exact"},
    ),
    "a member taken out of an object": (
        {"a.ts": "export class Options { merge() {} }\nexport class Request { options: Options; get() {} }\n",
         "use.ts": "import { Request } from './a';\n"
                   "export function use(request: Request) { const { options, options: { merge: again } } = request; options.merge(); again(); }\n"},
        "use.ts:use",
        {"a.ts:Options.merge typed"},
    ),
    "a member taken out of a parameter": (
        {"a.ts": "export class Store { settle() {} }\nexport interface Box { store: Store }\n",
         "use.ts": "import { Box, Store } from './a';\nexport function use({ store }: Box, { other }: { other: Store }) { store.settle(); }\n"
                   "export function more({ other }: { other: Store }) { other.settle(); }\n"},
        "use.ts:use",
        {"a.ts:Store.settle typed"},
    ),
    "a member of a type that is written out in a parameter": (
        {"use.ts": "class Store { settle() {} }\nexport function use({ other }: { other: Store }) { other.settle(); }\n"},
        "use.ts:use",
        {"use.ts:Store.settle typed"},
    ),
    "a name taken out of an object is not the file's": (
        {"use.js": "function settle() {}\nfunction use({ settle }) { settle(); }\nfunction more(given) { const [settle] = given; settle(); }\n"},
        "use.js:use",
        set(),
    ),
    "a type that lists its members": (
        {"a.ts": "export type Base = { relay(): void };\nexport type Got<T> = Base & { extend: (one: T) => Got<T>; other: Base };\n",
         "use.ts": "import { Got } from './a';\nexport function use(got: Got<string>) { got.extend('a').other.relay(); got.relay(); }\n"},
        "use.ts:use",
        {"a.ts:Got.extend typed", "a.ts:Base.relay typed"},
    ),
    "a member of a type within a function is none of its variables": (
        {"use.ts": "class Store { settle() {} }\nexport function use(given: { store: Store }) { store.settle(); }\n"},
        "use.ts:use",
        set(),
    ),
    "a variable that a function within is assigned": (
        {"use.js": "class Store { settle() {} }\nfunction use() {\n  let store;\n  before(() => { store = new Store(); });\n  it(() => { store.settle(); });\n}\n"},
        "use.js:use",
        {"use.js:Store exact", "use.js:Store.settle typed"},
    ),
    "a variable without a value hides a function": (
        {"use.js": "function settle() {}\nfunction use() { let settle; it(() => { settle(); }); }\n"},
        "use.js:use",
        set(),
    ),
    "one of two values": (
        {"use.js": "class Store { settle() {} }\nfunction use(flag) {\n  const one = kept || new Store();\n  const two = flag ? new Store() : null;\n"
                   "  const three = new Store() || {};\n  two.settle();\n}\nlet kept = new Store();\n"
                   "function more() { const one = kept ?? new Store(); one.settle(); }\n"},
        "use.js:more",
        {"use.js:Store exact", "use.js:Store.settle typed"},
    ),
    "the result of an arrow function": (
        {"use.js": "class Store { settle() {} }\nconst make = () => new Store();\nfunction use() { make().settle(); }\n"},
        "use.js:use",
        {"use.js:make exact", "use.js:Store.settle typed"},
    ),
    "what CommonJS exports one by one, imported as a whole": (
        {"a.cjs": "exports.settle = function () {};\n", "use.js": "import a from './a.cjs';\nfunction use() { a.settle(); }\n"},
        "use.js:use",
        {"a.cjs:settle exact"},
    ),
    "a default import at run time": (
        {"a.js": "export default function settle() {}\n",
         "use.js": "async function use() { const one = (await import('./a.js')).default; one(); }\n"},
        "use.js:use",
        {"a.js:settle exact"},
    ),
    "what is exported beside a whole": (
        {"a.js": "function Request() {}\nmodule.exports = Request;\nmodule.exports.build = makeOne;\nfunction makeOne() { exports.settle(); }\n"
                 "exports.settle = function () {};\n",
         "use.js": "const Request = require('./a');\nfunction use() { Request.build(); }\n"},
        "use.js:use",
        {"a.js:makeOne exact"},
    ),
    "what the own file exports": (
        {"a.js": "exports.settle = function () {};\nfunction use() { exports.settle(); }\n"},
        "a.js:use",
        {"a.js:settle exact"},
    ),
    "a field of a function that is a class": (
        {"a.js": "class Suite { settle() {} }\nfunction Mocha() { const other = 1; this.suite = new Suite(); }\n"
                 "Mocha.prototype.use = function () { this.suite.settle(); this.other.settle(); };\n"},
        "a.js:Mocha.use",
        {"a.js:Suite.settle typed"},
    ),
    "an imported name, and a function in a callback": (
        {"a.js": "export function settle() {}\n",
         "use.js": "import { settle } from './a';\nit(() => { function settle() {} });\nfunction use() { settle(); }\n"},
        "use.js:use",
        set(),
    ),
    "an interface that two functions of a file declare": (
        {"use.ts": "it(() => { interface Weapon { settle(): void } });\n"
                   "it(() => { interface Weapon { settle(): number } });\nfunction use(one: Weapon) { one.settle(); }\n"},
        "use.ts:use",
        set(),
    ),
    "a default export that is an interface, or begins like a word for one": (
        {"a.ts": "export default interface Store { settle(): void }\n", "b.ts": "const classOf = () => 1;\nexport default classOf;\n",
         "use.ts": "import Store from './a';\nimport classOf from './b';\n"
                   "export function use(store: Store) { store.settle(); classOf(); }\n"},
        "use.ts:use",
        {"a.ts:Store.settle typed", "b.ts:classOf exact"},
    ),
    "a member of what may be missing": (
        {"a.ts": "export class Store { settle() {} next(): Store { return this; } }\n",
         "use.ts": "import { Store } from './a';\nexport function use(one: Store | null, two: Store) { one?.settle(); two!.next?.().settle(); }\n"},
        "use.ts:use",
        {"a.ts:Store.settle typed", "a.ts:Store.next typed"},
    ),
    "a variable of a function without a name, in a function that it declares": (
        {"a.ts": "export class Store { settle() {} }\n",
         "use.ts": "import { Store } from './a';\nexport const decorate = (): any => (target: any) => {\n  const store = new Store();\n"
                   "  let other: any;\n  function again() { other = new Store(); }\n"
                   "  target.value = function () { store.settle(); };\n  return () => other.settle();\n};\n"},
        "use.ts:decorate.target.value",
        {"a.ts:Store.settle typed"},
    ),
    "a class that several functions without a name declare, each its own": (
        {"a.ts": "describe('all', () => {\n  it('a', () => {\n    class Blade { cut() {} }\n    class Ninja { constructor(private blade: Blade) {}\n"
                 "      fight() { this.blade.cut(); } }\n  });\n  it('b', () => {\n    class Blade { cut() {} sharpen() {} }\n"
                 "    class Ninja { @inject() blade!: Blade;\n      fight() { this.blade.cut(); [1].map(() => this.blade.sharpen()); } }\n"
                 "    const one: Ninja = made();\n    one.fight();\n  });\n});\n"},
        "a.ts:<1>.<3>.Ninja.fight",
        {"a.ts:<1>.<3>.Blade.cut typed", "a.ts:<1>.<3>.Blade.sharpen typed"},
    ),
    "code that runs, and a declaration beside it": (
        {"package.json": '{"main": "lib.js", "types": "lib.d.ts"}', "lib.js": "module.exports = function settle() {};\n",
         "lib.d.ts": "declare function settle(): void;\nexport default settle;\n",
         "test/use.js": "const settle = require('..');\nfunction use() { settle(); }\n"},
        "test/use.js:use",
        {"lib.js:settle exact"},
    ),
    "the result of a property that is a function, and of what may be called": (
        {"use.ts": "class Reply { settle() {} refresh() {} }\ntype Ky = { (url: string): Reply; get: <T>(url: T) => Promise<Reply> };\n"
                   "async function use(ky: Ky) { (await ky.get('a')).settle(); ky('b').refresh(); }\n"},
        "use.ts:use",
        {"use.ts:Ky.get typed", "use.ts:Reply.settle typed", "use.ts:Reply.refresh typed"},
    ),
    "a constant that stands for a class from elsewhere": (
        {"use.js": "const lib = require('lib');\nconst Route = lib.Route;\nfunction use() { new Route(); }\n"},
        "use.js:use",
        {"use.js:Route typed"},
    ),
    "a member of one of several classes of a name": (
        {"a.ts": "test('a', () => { class Store { addUp() {} }; const one = new Store(); one.addUp(); })\n"
                 "test('b', () => { class Store { addUp() {} } })\n"},
        "a.ts",
        {"a.ts:<1>.Store exact", "a.ts:<1>.Store.addUp typed"},
    ),
}  # fmt: skip
OTHERS = {
    "a member of what may be missing, in PHP": (
        {"a.php": "<?php\nclass Store { function settle() {} }\nfunction use_it(?Store $one) { $one?->settle(); }\n"},
        "a.php:use_it",
        {"a.php:Store.settle typed"},
    ),
    "one name for instances of several classes": (
        {
            "base.py": "class Field:\n    def settle(self): ...\n\n\nclass Number(Field): ...\n\n\nclass Text(Field):\n    def settle(self): ...\n",
            "use.py": "from base import Number, Text\n\n\ndef use():\n    field = Number()\n    field = Text()\n    field.settle()\n",
        },
        "use.py:use",
        {"base.py:Number exact", "base.py:Text exact", "base.py:Field.settle typed"},
    ),
}
# Python reads the body of a class, and a module, from top to bottom.
MARKS = "def checked(level):\n    return level\n\n\ndef again(times):\n    return times\n"
BELOW = {
    "a decorator named like the method it decorates": (
        {"marks.py": MARKS,
         "use.py": "from marks import checked\n\n\nclass Form:\n    @checked(1)\n    def checked(self): ...\n"},
        "use.py:Form",
        {"marks.py:checked exact"},
    ),
    "a decorator named like a method further down": (
        {"use.py": f"{MARKS}\n\nclass Form:\n    @checked(1)\n    def first(self): ...\n\n    def checked(self): ...\n"},
        "use.py:Form",
        {"use.py:checked exact"},
    ),
    "a decorator that is a function above it in the class": (
        {"use.py": f"{MARKS}\n\nclass Form:\n    @checked(1)\n    def checked(level): ...\n\n    @checked(2)\n    def last(self): ...\n"},
        "use.py:Form",
        {"use.py:checked exact", "use.py:Form.checked exact"},
    ),
    "a class in a function": (
        {"use.py": "def make(checked):\n    class Form:\n        @checked(1)\n        def checked(self): ...\n"},
        "use.py:make.Form",
        set(),
    ),
    "a decorator named like the function it decorates": (
        {"marks.py": MARKS, "use.py": "from marks import again\n\n\n@again(2)\ndef again(self): ...\n"},
        "use.py",
        {"marks.py:again exact"},
    ),
    "a name from nowhere above the function that has it": (
        {"use.py": "@cache(2)\ndef cache(self): ...\n"},
        "use.py",
        set(),
    ),
}  # fmt: skip

# What the preprocessor of C may leave out is not sure to be there.
WINDOWS = "#ifdef _WIN32\n# define unlink _unlink\nvoid drop_all(void) {}\n#endif\n"
CONDITIONS = {
    "another name of a function of the C library, on one system": (
        {"use.c": f"{WINDOWS}void use(void) {{ unlink(); drop_all(); }}\n"},
        "use.c:use",
        {"use.c:drop_all exact"},
    ),
    "a function of the C library for one system": (
        {"old.h": "#ifndef OLD_H\n#define OLD_H\nint settle(int a);\n#if OLD\nint snprintf(char *a);\n#endif\n#endif\n",
         "old.c": '#include "old.h"\nint snprintf(char *a) { return 0; }\n',
         "use.c": '#include "old.h"\nvoid use(void) { snprintf(0); settle(1); }\n'},
        "use.c:use",
        {"old.h:settle exact"},
    ),
    "one body a system": (
        {"loop.h": "int run_all(void);\n", "linux/loop.c": "int run_all(void) { return 1; }\n",
         "use.c": '#include "loop.h"\nvoid use(void) { run_all(); }\n', "win/loop.c": "int run_all(void) { return 2; }\n"},
        "use.c:use",
        {"loop.h:run_all exact"},
    ),
    "a body of its own for one system": (
        {"loop.h": "int run_all(void);\n", "loop.c": "int run_all(void) { return 1; }\n",
         "use.c": '#include "loop.h"\n#ifdef SOLO\nint run_all(void) { return 2; }\n#endif\nvoid use(void) { run_all(); }\n'},
        "use.c:use",
        {"loop.h:run_all exact"},
    ),
    "a body in a header, and one for one system": (
        {"alloc.h": "#ifndef _WIN32\nstatic inline void let_go(void) {}\n#else\nvoid let_go(void);\n#endif\n",
         "alloc.c": "#ifdef _WIN32\nvoid let_go(void) {}\n#endif\n",
         "use.c": '#include "all.h"\nvoid use(void) { let_go(); }\n'},
        "use.c:use",
        {"alloc.h:let_go unique"},
    ),
}  # fmt: skip

# What a class of C++ declares is defined elsewhere, behind macros, in a namespace.
CLASSES = {
    "a member that a class declares, and a body apart from it defines, is one": (
        {"store.hpp": "class Store {\npublic:\n  void add_up(int n);\n};\n", "store.cpp": '#include "store.hpp"\nvoid Store::add_up(int n) {}\n',
         "use.cpp": "void use() { store.add_up(1); }\n"},
        "use.cpp:use",
        {"store.cpp:Store.add_up unique"},
    ),
    "members of two classes of a name": (
        {"a.hpp": "namespace a { class Store { void add_up(int n); }; }\n", "b.hpp": "namespace b { class Store { void add_up(int n); }; }\n",
         "use.cpp": "void use() { store.add_up(1); }\n"},
        "use.cpp:use",
        {"a.hpp:Store.add_up guess", "b.hpp:Store.add_up guess"},
    ),
    "a method that the library's classes have": (
        {"store.hpp": "class Store {\npublic:\n  int starts_with(int n) { return n; }\n};\n",
         "use.cpp": "void use() { text.starts_with(1); }\n"},
        "use.cpp:use",
        set(),
    ),
    "a class behind several macros": (
        {"store.hpp": "namespace app {\nclass APP_EXPORT APP_ALIGNED Store {\npublic:\n  void add_up(int n) {}\n};\n}\n"
                      "class APP_EXPORT LONG final {\n  void add_up(int n) {}\n};\n",
         "use.cpp": '#include "store.hpp"\nvoid use(app::Store& one, LONG& two) { one.add_up(1); }\n'},
        "use.cpp:use",
        {"store.hpp:Store.add_up typed"},
    ),
    "what a `using` takes of the library where a system has it": (
        {"text.hpp": "#pragma once\nnamespace app {\n#ifdef OLD\nint stod(int n);\n#else\nusing std::stod;\n#endif\nint own(int n);\n}\n",
         "use.cpp": '#include "text.hpp"\nnamespace app {\nvoid use() { stod(1); own(1); }\n}\n'},
        "use.cpp:use",
        {"text.hpp:own exact"},
    ),
    "a variable whose type is left to its value, and elements": (
        {"store.hpp": "class Item { public: void touch() {} };\nclass Other { public: void touch() {} void add_up() {} };\n"
                      "class Store {\npublic:\n  std::vector<Item> items;\n  void add_up() {}\n  Store* next() { return this; }\n};\n",
         "use.cpp": '#include "store.hpp"\nvoid use(Store& one) {\n  auto* two = one.next();\n  two->add_up();\n'
                    "  for (auto& each : one.items) { each.touch(); }\n}\n"},
        "use.cpp:use",
        {"store.hpp:Store.next typed", "store.hpp:Store.add_up typed", "store.hpp:Item.touch typed"},
    ),
    "parameters of overloads": (
        {"kinds.hpp": "struct Key { int settle() const; };\nstruct Cert { int settle() const; };\n",
         "use.hpp": '#include "kinds.hpp"\nclass Options {\npublic:\n  void use(const Key& one) { one.settle(); }\n'
                    "  void use(const Cert& one, int n) { one.settle(); }\n};\n"},
        "use.hpp:Options.use",
        {"kinds.hpp:Key.settle typed", "kinds.hpp:Cert.settle typed"},
    ),
    "a variable that is made with the result of a function": (
        {"use.cpp": "std::mutex& settle() { static std::mutex one; return one; }\nvoid use() { std::lock_guard<std::mutex> lock(settle()); }\n"},
        "use.cpp:use",
        {"use.cpp:settle exact"},
    ),
    "brackets around a name that a macro of a system has": (
        {"store.hpp": "struct Store {\n  static auto (max)() -> Store { return Store(); }\n  void add_up() {}\n};\n",
         "use.cpp": '#include "store.hpp"\nvoid use() {\n  auto one = Store::max();\n  one.add_up();\n  two((Store::max)());\n}\n'},
        "use.cpp:use",
        {"store.hpp:Store.max exact", "store.hpp:Store.add_up typed"},
    ),
    "a variable in the condition of a loop": (
        {"use.cpp": "namespace {\nvoid walk(const char* p) {\n  for (; const char* found = find(p); ++p) { touch(found - p); }\n}\n"
                    "void settle() {}\n}  // namespace\nvoid use() { settle(); }\n"},
        "use.cpp:use",
        {"use.cpp:settle exact"},
    ),
    "what a header takes into its namespace": (
        {"inner.hpp": "namespace app {\nnamespace detail {\nint settle(int n) { return n; }\n}\n}\n",
         "store.hpp": '#include "inner.hpp"\nnamespace app {\nusing detail::settle;\n}\n',
         "use.cpp": '#include "store.hpp"\nnamespace app {\nvoid use() { settle(1); }\n}\n'},
        "use.cpp:use",
        {"inner.hpp:settle exact"},
    ),
    "what a header takes into its namespace, called by its path": (
        {"inner.hpp": "namespace app {\nnamespace detail {\nint settle(int n) { return n; }\n}\n}\n",
         "store.hpp": '#include "inner.hpp"\nnamespace app {\nusing detail::settle;\n}\n',
         "use.cpp": '#include "store.hpp"\nvoid use() { app::settle(1); }\n'},
        "use.cpp:use",
        {"inner.hpp:settle exact"},
    ),
    "a function in the namespace of what it is given": (
        {"zone.hpp": "namespace app {\nclass Zone {};\nbool load_all(const char* name, Zone* zone);\n}\n",
         "use.cpp": '#include "zone.hpp"\nvoid use() {\n  app::Zone own;\n  load_all("", &own);\n}\n'},
        "use.cpp:use",
        {"zone.hpp:load_all unique"},
    ),
    "values of a map": (
        {"store.hpp": "class Item { public: void touch() {} };\nclass Other { public: void touch() {} };\n"
                      "class Store {\n  std::map<std::string, Item> items;\npublic:\n"
                      "  void use() {\n    items[1].touch();\n    items.size();\n  }\n};\n"},
        "store.hpp:Store.use",
        {"store.hpp:Item.touch typed"},
    ),
    "a test of a fixture": (
        {"fixture.hpp": "class Fixture : public testing::Test {\nprotected:\n  void settle(int n) {}\n};\n",
         "other.hpp": "class Other { void settle(int n) {} };\n",
         "test.cpp": '#include "fixture.hpp"\nint holds() { return 1; }\nTEST_F(Fixture, holds) { settle(holds()); }\nTEST_F(Fixture, fails) {}\n'},
        "test.cpp:Fixture.holds_Test",
        {"fixture.hpp:Fixture.settle exact", "test.cpp:holds exact"},
    ),
    "a field that is a reference": (
        {"store.hpp": "class Item { public: void touch() {} };\nclass Other { public: void touch() {} };\n"
                      "class Store {\n  Item& item;\npublic:\n  void use() { item.touch(); }\n};\n"},
        "store.hpp:Store.use",
        {"store.hpp:Item.touch typed"},
    ),
    "an instance that is shared": (
        {"store.hpp": "namespace app {\nclass Store { public: void add_up(int n) {} };\nclass Other { public: void add_up(int n) {} };\n}\n",
         "use.cpp": '#include "store.hpp"\nvoid use() { auto one = std::make_shared<app::Store>(); one->add_up(1); }\n'},
        "use.cpp:use",
        {"store.hpp:Store.add_up typed"},
    ),
}  # fmt: skip

# A bare name is no member in Go and PHP, and what is before the colon in a struct of Go is a field.
BARE = {
    "go": (
        {
            "a.go": """package a

type Server struct{ Handler Handler; Addr string }
type Handler func()
type Engine struct{}

const First = 1

func (e *Engine) Addr() string { return "" }

func (e *Engine) Run(addr string) {
	use(Server{Addr: addr, Handler: e.handle}, map[int]string{First: addr}, []string{other}, Addr())
}

var other = ""

func (e *Engine) handle() {}
"""
        },
        "a.go:Engine.Run",
        {"a.go:Server", "a.go:Engine", "a.go:Engine.handle", "a.go:First", "a.go:other"},
    ),
    "php": (
        {
            "Str.php": "<?php\nclass Str {\n  static function trim($v) { return trim(value($v)); }\n  static function value($v) { return self::trim($v); }\n}\n",
            "helpers.php": "<?php\nfunction value($v) { return $v; }\n",
        },
        "Str.php:Str.trim",
        {"helpers.php:value"},
    ),
}  # fmt: skip


def calls_from(engine, source):
    """Return what a declaration calls, each with how that is known."""
    graph = engine.codebase.graph()
    nodes = {node.id: node for node in graph.every()}
    named = {number: f"{n.path}:{n.qualified}" if n.qualified else n.path for number, n in nodes.items()}
    edges = [each for each in graph.every_edge(tuple(Tier)) if str(each.relation) == "calls"]
    return {f"{named[each.target]} {each.tier}" for each in edges if named[each.source] == source}


@pytest.mark.parametrize("case", [*UNIQUE, *SCRIPT, *OTHERS, *BELOW, *CONDITIONS, *CLASSES])
def test_a_call_leads_to_what_is_meant(case, repo, engine):
    """And says how it is known: `unique` only where nothing speaks against it."""
    files, source, expected = (UNIQUE | SCRIPT | OTHERS | BELOW | CONDITIONS | CLASSES)[case]
    assert calls_from(engine(repo("app", files, git=False)), source) == expected


@pytest.mark.parametrize("language", BARE)
def test_a_bare_name_is_no_member_where_members_have_receivers(language, repo, engine):
    files, source, expected = BARE[language]
    graph = engine(repo("app", files, git=False)).codebase.graph()
    named = {node.id: f"{node.path}:{node.qualified}" for node in graph.every()}
    assert {named[edge.target] for edge in graph.every_edge() if named[edge.source] == source} == expected


def test_a_class_that_comes_to_stand_twice_is_noticed_by_those_who_call_it(repo, engine):
    """The second class changes no name and no kind, and yet what others know of the first."""
    files = {
        "a.ts": "export class Own { reconcile() {} }\n",
        "b.ts": "export function use(thing) { thing.reconcile() }\n",
    }
    made = repo("app", files, git=False)
    opened = engine(made)
    assert calls_from(opened, "b.ts:use") == {"a.ts:Own.reconcile unique"}
    made.write("a.ts", files["a.ts"] + "test('b', () => { class Own { reconcile() {} } })\n")
    opened.codebase.index()
    assert calls_from(opened, "b.ts:use") == {"a.ts:Own.reconcile guess", "a.ts:<1>.Own.reconcile guess"}


def test_a_class_that_the_parser_lost_does_not_make_its_methods_calls_those_of_another_library(repo, engine):
    """The class of a name in a namespace of the repository is unknown then, and so is the call."""
    files = {
        "store.hpp": "namespace app {\nclass LOST(\n  more) Store {\n};\n}\n",
        "store.cpp": "namespace app {\nStore::Store() {}\nvoid Store::add_up(int n) {}\nvoid Other::add_up(int n) {}\n}\n",
        "use.cpp": "void use(app::Store& one) { one.add_up(1); }\n",
    }
    answer = engine(repo("app", files, git=False)).codebase.callers("Store.add_up")
    assert (answer.verdict, [each.path for each in answer.uncovered]) == ("unknown", ["use.cpp"])


SHARED = """
class X:
    def act(self): ...


class Y:
    def act(self): ...


class A(X, Y): ...


class B(Y, X): ...


def run(flag):
    thing = A()
    if flag:
        thing = B()
    thing.act()
"""
EDGES = """
import sys
from vademecum.engine import Engine
with Engine.open(sys.argv[1]) as engine:
    graph = engine.codebase.graph()
    names = {node.id: node.qualified for node in graph.every()}
    print(sorted(names[edge.target] for edge in graph.every_edge() if names[edge.source] == "run"))
"""


def test_edges_do_not_depend_on_how_strings_are_hashed(repo, tmp_path):
    """Of two classes that share two bases, what they have in common is told in the order in which it is written."""
    root = repo("shared", {"app.py": SHARED}).path
    said = {
        subprocess.run(
            [sys.executable, "-c", EDGES, str(root)],
            env=os.environ | {"PYTHONHASHSEED": str(seed), "VADE_HOME": str(tmp_path / f"home{seed}")},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in range(6)
    }  # fmt: skip
    assert said == {"['A', 'B', 'X.act']\n"}
