"""Lambdas whose `this` a function of the repository gives, extensions of type parameters, functions in other places."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.once


def _users(codebase, *names):
    return [[each.name for each in codebase.callers(name).found] for name in names]


def test_a_lambda_of_kotlin_is_read_with_what_the_called_function_gives_it(repo, engine):
    """The receiver of its type is `this` in it, its parameters are `it` or have names; a library's function gives nothing."""
    files = {
        "dsl.kt": "class Row {\n  fun cell() {}\n}\nclass Table {\n  fun head() {}\n  fun row(init: Row.() -> Unit) = Row().init()\n}\n"
        "class Other {\n  fun head() {}\n  fun cell() {}\n  fun fill() {}\n}\nclass Item {\n  fun fill() {}\n  fun empty() {}\n}\n"
        "fun table(name: String, block: Table.() -> Unit): Table = Table().apply { block() }\n"
        "fun each(block: suspend (Item, Int) -> Unit) {}\nfun one(block: (Item) -> Unit) {}\n",
        "use.kt": 'class Page {\n  fun own() {}\n  fun draw() = table("a") {\n    this.head()\n    row { cell() }\n    own()\n  }\n'
        "  fun load() {\n    one { it.fill() }\n    each { item, n -> item.empty() }\n    listOf(1).forEach { own() }\n  }\n}\n",
    }
    code = engine(repo("app", files)).codebase
    assert _users(code, "Table.head", "Row.cell") == [["Page.draw"], ["Page.draw"]]
    assert _users(code, "Item.fill", "Item.empty") == [["Page.load"], ["Page.load"]]
    assert _users(code, "Page.own") == [["Page.draw", "Page.load"]]
    assert code.callers("Other.head").verdict == "none"


def test_an_extension_of_a_type_parameter_is_called_on_any_value(repo, engine):
    """On what the parameter has to be, and it gives its receiver where it says so."""
    text = (
        "public interface IThing { }\npublic class Pot : IThing { public void Boil() {} }\npublic class Pan { public void Boil() {} }\n"
        "public class Box { }\npublic class Box<T> { }\npublic static class Ext {\n  public static T Also<T>(this T x) => x;\n"
        "  public static T Stir<T>(this T x, int n) where T : class, IThing => x;\n  public static void Open(this Box x) {}\n}\n"
        "public static class More {\n  public static void Open<T>(this Box<T> x) {}\n}\nclass Use {\n"
        "  void One(Pot a) { a.Also().Stir(1).Boil(); }\n  void Two(Box a) { a.Open(); }\n  void Three(Box<int> a) { a.Open(); }\n}\n"
    )
    code = engine(repo("app", {"a.cs": text})).codebase
    assert _users(code, "Ext.Also", "Ext.Stir", "Pot.Boil") == [["Use.One"], ["Use.One"], ["Use.One"]]
    assert _users(code, "Ext.Open", "More.Open") == [["Use.Two"], ["Use.Three"]]
    assert code.callers("Pan.Boil").verdict == "none"


def test_a_method_that_begins_a_field_of_csharp_is_referred_to(repo, engine):
    text = (
        "delegate int Op(int a);\nclass W {\n  Op op = Add;\n  Op Other { get; } = Less;\n"
        "  Op Pick(int x) => x switch { 1 => More, _ => null };\n  static int Add(int a) => a;\n  static int Less(int a) => a;\n"
        "  static int More(int a) => a;\n}\n"
    )
    code = engine(repo("app", {"a.cs": text})).codebase
    assert _users(code, "W.Add", "W.Less", "W.More") == [["W"], ["W"], ["W.Pick"]]


def test_what_is_declared_global_stands_in_no_function(repo, engine):
    """Each ambient declaration is one of its own; where it is imported its function is elsewhere, and calls are named."""
    files = {
        "globals.d.ts": "declare global {\n  function setup(): void;\n  interface Window { fetchIt(): void }\n}\n"
        'declare module "virtual:x" {\n  export function boil(): void;\n}\nexport {};\n',
        "use.ts": 'import { boil } from "virtual:x";\nsetup();\nwindow.fetchIt();\nboil();\n',
    }
    code = engine(repo("app", files)).codebase
    assert [place.path for place in code.callers("boil").uncovered] == ["use.ts"]
    assert _users(code, "setup", "Window.fetchIt") == [[""], [""]]
