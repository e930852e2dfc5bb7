"""Members whose declared type is a parameter of their class: who is called on what the parameter stands for."""

from __future__ import annotations

import pytest

from vademecum.code.graph.terms import Relation

pytestmark = pytest.mark.once

_FOUND = {"Repository.find typed", "User.ban typed"}
CASES = {
    # files, and for each caller the calls that are known
    "C#: a property and a method of a class with an argument": (
        {
            "src/S.cs": "namespace A;\npublic class Service { public int Share(int a) { return a; } }\n",
            "test/P.cs": "namespace T;\npublic class Provider<TSut> {\n  public TSut Sut { get; private set; }\n"
                         "  public TSut Make() { return default; }\n}\n",
            "test/T.cs": "using A;\nnamespace T;\npublic class Tests {\n"
                         "  public void Run(Provider<Service> provider) {\n    provider.Sut.Share(1);\n  }\n"
                         "  public void Again(Provider<Service> provider) {\n    var made = provider.Make();\n    made.Share(2);\n  }\n}\n",
        },
        {"Tests.Run": {"Service.Share typed"}, "Tests.Again": {"Service.Share typed", "Provider.Make typed"}},
    ),
    "C#: a base's argument, handed on by the class between": (
        {
            "S.cs": "namespace A;\npublic class User { public void ban() { } }\n"
                    "public class Repository<T> {\n  protected T held;\n  public T find(int id) { return held; }\n}\n"
                    "public class Named<K, T> : Repository<T> { }\n"
                    "public class Users : Named<string, User> {\n  public void Go() {\n    find(1).ban();\n    held.ban();\n  }\n}\n"
                    "public class Use {\n  private readonly Users _users;\n  public void Go() {\n    _users.find(2).ban();\n  }\n}\n",
        },
        {"Users.Go": _FOUND, "Use.Go": _FOUND},
    ),
    "Java: a list of what the parameter stands for": (
        {
            "S.java": "package a;\nclass User { void ban() { } }\n"
                      "class Repository<T extends Object> {\n  T find(int id) { return null; }\n  java.util.List<T> all() { return null; }\n}\n"
                      "class Use {\n  void go(Repository<User> users) {\n    users.find(1).ban();\n  }\n"
                      "  void each(Repository<User> users) {\n    for (User user : users.all()) { user.ban(); }\n    for (var user : users.all()) { user.ban(); }\n  }\n}\n",
        },
        {"Use.go": _FOUND, "Use.each": {"Repository.all typed", "User.ban typed"}},
    ),
    "Java: the argument says more than the bound": (
        {
            "S.java": "package a;\ninterface Coder { String encode(String s); }\nclass Sound implements Coder { public String encode(String s) { return s; } }\n"
                      "abstract class CoderTest<T extends Coder> {\n  T coder;\n  T made() { return coder; }\n"
                      '  void own() {\n    made().encode("a");\n  }\n}\n'
                      'class SoundTest extends CoderTest<Sound> {\n  void go() {\n    made().encode("a");\n  }\n'
                      '  void field() {\n    this.coder.encode("a");\n  }\n}\n',
        },
        {
            "CoderTest.own": {"CoderTest.made typed", "Coder.encode typed"},
            "SoundTest.go": {"CoderTest.made typed", "Sound.encode typed"},
            "SoundTest.field": {"Sound.encode typed"},
        },
    ),
    "Kotlin: a class with two parameters": (
        {
            "S.kt": "package a\nclass User { fun ban() {} }\nclass Key { fun turn() {} }\n"
                    "open class Repository<K, V>(val key: K) {\n  fun find(id: Int): V { return TODO() }\n}\n"
                    "class Users : Repository<Key, User>(Key())\n"
                    "fun go(users: Users) {\n  users.find(1).ban()\n  users.key.turn()\n}\n",
        },
        {"go": {*_FOUND, "Key.turn typed"}},
    ),
    "TypeScript: a field that holds a generic class": (
        {
            "s.ts": "export class User { ban() {} }\n"
                    "export class Repository<T> {\n  find(id: number): Promise<T> { return null as any; }\n}\n"
                    "class Use {\n  constructor(private users: Repository<User>) {}\n"
                    "  async go() {\n    const one = await this.users.find(1);\n    one.ban();\n  }\n}\n",
        },
        {"Use.go": _FOUND},
    ),
    "Python: subscripted bases": (
        {
            "s.py": "from typing import Generic, TypeVar\nT = TypeVar('T')\nclass User:\n    def ban(self): ...\n"
                    "class Repository(Generic[T]):\n    def find(self, id) -> T: ...\n"
                    "class Users(Repository[User]):\n    pass\n"
                    "def go(users: Users):\n    users.find(1).ban()\ndef again(users: Repository[User]):\n    users.find(1).ban()\n"
                    "class Modern[K]:\n    def find(self) -> K: ...\ndef third(users: Modern[User]):\n    users.find().ban()\n",
        },
        {"go": _FOUND, "again": _FOUND, "third": {"Modern.find typed", "User.ban typed"}},
    ),
    "Go: a struct with a parameter": (
        {
            "go.mod": "module a\n",
            "s.go": "package a\n\ntype User struct{}\n\nfunc (u *User) ban() {}\n\ntype Repository[T any] struct{ held T }\n\n"
                    "func (r *Repository[T]) find(id int) T { return r.held }\n\n"
                    "func goes(users *Repository[*User]) {\n\tusers.find(1).ban()\n\tusers.held.ban()\n}\n",
        },
        {"goes": _FOUND},
    ),
    "Rust: a struct with a parameter": (
        {
            "Cargo.toml": "[package]\nname = 'a'\n",
            "src/lib.rs": "pub struct User;\nimpl User { pub fn ban(&self) {} }\npub struct Repository<T> { held: T }\n"
                          "impl<T> Repository<T> {\n    pub fn find(&self, id: u8) -> &T { &self.held }\n}\n"
                          "fn goes(users: &Repository<User>) {\n    users.find(1).ban();\n    users.held.ban();\n}\n",
        },
        {"goes": _FOUND},
    ),
    "C++: a class template": (
        {
            "s.cpp": "struct User { void ban() {} };\ntemplate <typename T> struct Repository {\n  T held;\n  T& find(int id) { return held; }\n};\n"
                     "void goes(Repository<User>& users) {\n  users.find(1).ban();\n  users.held.ban();\n}\n",
        },
        {"goes": _FOUND},
    ),
    "C#: a parameter of which nothing is said": (
        {
            "S.cs": "namespace A;\npublic class User { public void ban() { } }\npublic class Other { public void ban() { } }\n"
                    "public class Repository<T> {\n  public T find(int id) { return default; }\n"
                    "  public void Own() {\n    find(1).ban();\n  }\n}\n",
        },
        {"Repository.Own": {"Repository.find typed"}},
    ),
    "C#: extension methods, by what they are called on": (
        {
            "E.cs": "namespace A;\npublic class User { public void ban() { } }\npublic class Key { }\npublic class Boss : User { }\n"
                    "public static class Extensions {\n  public static User Renamed(this User user, string name) { return user; }\n"
                    "  public static void AddUsers(this IServiceCollection services) { }\n"
                    "  public static void Settled(this IEnumerable<User> users) { }\n}\n"
                    "public static class KeyExtensions {\n  public static void Renamed(this Key key) { }\n}\n",
            "U.cs": "using A;\nusing System.Collections.Generic;\nnamespace B;\npublic class Use {\n"
                    '  public void Own(Boss boss) {\n    boss.Renamed("a").ban();\n  }\n'
                    "  public void Outer(IServiceCollection services) {\n    services.AddUsers();\n    services.AddControllers();\n  }\n"
                    "  public void Many(List<User> users) {\n    users.Settled();\n  }\n}\n",
        },
        {
            "Use.Own": {"Extensions.Renamed typed", "User.ban typed"},
            "Use.Outer": {"Extensions.AddUsers typed"},
            "Use.Many": {"Extensions.Settled typed"},
        },
    ),
    "C#: a variable hides a field of a base": (
        {
            "S.cs": "namespace A;\npublic class User { public void ban() { } }\npublic class Other { public void ban() { } }\n"
                    "public class Base<T> { protected T held; }\n"
                    "public class Users : Base<User> {\n  public void Go(Outer outer) {\n    foreach (var (held, more) in outer.All()) { held.ban(); }\n  }\n}\n",
        },
        {"Users.Go": set()},
    ),
    "C#: a name that two blocks declare otherwise": (
        {
            "S.cs": "namespace A;\npublic class User { public void settle() { } }\n"
                    "public class Box<T> { public T Held { get; set; } public void close() { } }\npublic class Lid { public void close() { } }\n"
                    "public class Use {\n  public void Outer(bool one) {\n    if (one) { Guid id = New(); id.settle(); }\n"
                    "    else { Uri id = New(); id.settle(); }\n  }\n"
                    "  public void Own(bool one) {\n    if (one) { Box<User> box = New(); box.close(); }\n"
                    "    else { Box<Uri> box = New(); box.close(); }\n  }\n}\n",
        },
        {"Use.Outer": set(), "Use.Own": {"Box.close typed"}},
    ),
    "C#: what stands for elements, and names that say nothing of their type": (
        {
            "S.cs": "namespace A;\npublic class User { public bool ban() { return true; } public void settle(int x) { } }\n"
                    "public class Use {\n"
                    "  public void Each(List<User> users) {\n    foreach (var user in users) { user.ban(); }\n  }\n"
                    "  public void Linq(List<User> users) {\n    users.Where(x => x.Open).Select(y => y.ban());\n  }\n"
                    "  public void Query(IEnumerable<User> users) {\n    var all = from u in users where u.ban() select u;\n  }\n"
                    "  public void One(Outer outer) {\n    outer.Configure(o => o.settle(1));\n  }\n"
                    "  public void Two(Outer outer) {\n    outer.Configure((a, b) => b.settle(1));\n  }\n"
                    "  public void Three(Outer outer) {\n    foreach (var (k, v) in outer.All()) { v.settle(2); }\n  }\n"
                    "  public void Four(object o) {\n    if (o is { } p) { p.settle(2); }\n  }\n"
                    "  public void Five(object o) {\n    if (o is User { Open: true } p) { p.settle(2); }\n  }\n}\n",
        },
        {
            "Use.Each": {"User.ban typed"},
            "Use.Linq": {"User.ban typed"},
            "Use.Query": {"User.ban typed"},
            "Use.One": {"User.settle unique"},
            "Use.Two": {"User.settle unique"},
            "Use.Three": {"User.settle unique"},
            "Use.Four": {"User.settle unique"},
            "Use.Five": {"User.settle typed"},
        },
    ),
    "Kotlin: what a lambda is given": (
        {
            "S.kt": "package a\nclass User {\n  fun ban() {}\n  fun settle() {}\n}\n"
                    "fun each(users: List<User>) {\n  users.forEach { it.ban() }\n}\n"
                    "fun named(users: List<User>) {\n  users.filter { x -> x.ban() }\n}\n"
                    "fun one(outer: Outer) {\n  outer.configure { it.settle() }\n}\n"
                    "fun two(outer: Outer) {\n  for ((k, v) in outer.all()) { v.settle() }\n}\n"
                    "fun three(user: User?) {\n  user?.let { it.settle() }\n}\nfun four(user: User) {\n  user.also { me -> me.settle() }\n}\n"
                    "fun five(outer: Outer) {\n  val (a, b) = outer.all()\n  a.settle()\n}\n"
                    "fun six(users: List<User>) {\n  users.map { u -> u.name }.forEach { println(it); it.settle() }\n}\n",
        },
        {"each": {"User.ban typed"}, "named": {"User.ban typed"}, "one": {"User.settle unique"}, "two": {"User.settle unique"}, "three": {"User.settle typed"}, "four": {"User.settle typed"},
         "five": {"User.settle unique"}, "six": set()},
    ),
    "Kotlin: extensions in a class, of types that may be null": (
        {
            "a.kt": "package a\nclass User { fun ban() {} }\nclass Sync {\n    private fun Uri?.flags(): User = User()\n    private fun String?.shout(): User = User()\n"
                    "    private fun User.settle(): User = this\n    fun one(text: String, more: Uri) {\n        text.shout().ban()\n        more.flags().ban()\n    }\n"
                    "    fun two(user: User?) { user.settle().ban() }\n}\n",
            "b.kt": "package a\nclass Other { fun ban() {} }\n",
        },
        {"Sync.one": {"Sync.Uri.flags typed", "Sync.String.shout typed", "User.ban typed"}, "Sync.two": {"Sync.User.settle typed", "User.ban typed"}},
    ),
    "Kotlin: an extension of a type from elsewhere, in one package": (
        {
            "a.kt": "package a\nfun String.shout(): String = this\nclass User { fun ban() {} }\nfun User.settle(): User = this\n",
            "b.kt": 'package a\nfun go(text: String, user: User) {\n    text.shout()\n    "a".shout()\n    user.settle().ban()\n}\n',
        },
        {"go": {"String.shout typed", "User.settle typed", "User.ban typed"}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_call_on_what_a_type_parameter_stands_for_is_known(case, repo, engine):
    files, expected = CASES[case]
    graph = engine(repo("app", files)).codebase.graph()
    nodes = {node.id: node.qualified for node in graph.every()}
    calls = [edge for edge in graph.every_edge() if edge.relation is Relation.CALLS]
    found = {
        name: {f"{nodes[edge.target]} {edge.tier}" for edge in calls if nodes[edge.source] == name} for name in expected
    }
    assert {name: {each.replace("exact", "typed") for each in edges} for name, edges in found.items()} == expected
