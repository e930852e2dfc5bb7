"""Who calls a declaration, in the ways of each language that are easily read wrong; each case once was."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.once

CASES = {
    # name of the case: files, the name asked for, its callers
    "go: a function without a name has its own parameters": (
        {
            "go.mod": "module example.org/shop\n\ngo 1.22\n",
            "desk.go": (
                "package shop\n\ntype Order interface{ Close(note string) }\n\ntype Desk struct{}\n\nfunc NewDesk() *Desk { return &Desk{} }\n\n"
                "func (d *Desk) Close(note string) {}\n\nfunc (d *Desk) Each(visit func(Order)) {}\n\n"
                'func evening() {\n\td := NewDesk()\n\td.Each(func(d Order) { d.Close("a") })\n\td.Close("b")\n}\n'
            ),
        },
        {"Desk.Close": ["evening"], "Order.Close": ["evening"], "Desk.Each": ["evening"]},
    ),
    "php: a parameter that is text is made an object under the same name": (
        {
            "Wok.php": "<?php\nnamespace Shop;\nclass Wok {\n  public static function of(string $s): Wok { return new Wok(); }\n  public function toss(): void {}\n}\n",
            "Cook.php": "<?php\nnamespace Shop;\nclass Cook {\n  public function fry(string $pan): void {\n    $pan = Wok::of($pan);\n    $pan->toss();\n  }\n}\n",
        },
        {"Wok.toss": ["Cook.fry"]},
    ),
    "cpp: a method that overrides one of a header has the callers of its definition": (
        {
            "pot.h": "class Pot { public: virtual int boil(int n); };\n",
            "pot.cpp": '#include "pot.h"\nint Pot::boil(int n) { return n; }\n',
            "own.cpp": '#include "pot.h"\nclass Own : public Pot { public: int boil(int n) override { return 1; } };\n',
            "use.cpp": '#include "pot.h"\nint cook(Pot *pot) { return pot->boil(1); }\n',
        },
        {"Own.boil": ["cook"]},
    ),
    "php: a method has the callers of all that it overrides": (
        {
            "a.php": (
                "<?php\nnamespace A;\ninterface Parser { public function parse($token); }\ninterface Named { public function label(); }\n"
                "abstract class Base implements Parser { public function label() { return 1; } }\n"
                "class Plain extends Base { public function parse($token) { return 1; } }\n"
                "class Embed extends Plain implements Named { public function parse($token) { return 2; } public function label() { return 2; } }\n"
            ),
            "b.php": (
                "<?php\nnamespace A;\nclass Cook {\n  public function run(Parser $one) { return $one->parse(1); }\n  public function name(Named $one) { return $one->label(); }\n"
                "  public function base(Base $one) { return $one->label(); }\n}\n"
            ),
        },
        {"Embed.parse": ["Cook.run"], "Plain.parse": ["Cook.run"], "Embed.label": ["Cook.base", "Cook.name"], "Base.label": ["Cook.base"]},
    ),
    "rust: a call of what implements a trait calls the trait's function": (
        {
            "src/lib.rs": (
                "pub trait Host { fn path(n: u8) -> u8; fn size(&self) -> u8; }\npub struct Unix;\npub struct Other;\n"
                "impl Host for Unix { fn path(n: u8) -> u8 { n } fn size(&self) -> u8 { 1 } }\n"
                "impl Host for Other { fn path(n: u8) -> u8 { 2 } fn size(&self) -> u8 { 2 } }\n"
                "pub fn run(u: Unix) -> u8 { Unix::path(1) + u.size() }\n"
            ),
        },
        {"Host.path": ["run"], "Host.size": ["run"], "Other.size": []},
    ),
    "rust: an enum of another file opens its variants to a function": (
        {
            "src/lib.rs": "mod kind;\nmod shown;\nmod word;\npub use crate::kind::Kind;\npub use crate::word::Word;\n",
            "src/word.rs": "pub struct Word;\nimpl Word { pub fn article(&self) -> u8 { 1 } pub fn plural(&self) -> u8 { 2 } }\n",
            "src/kind.rs": "use super::*;\npub enum Kind { Two { first: Word, second: Word }, None }\n",
            "src/shown.rs": (
                "use super::*;\npub fn shown(kind: Kind) -> u8 {\n    use Kind::*;\n    match kind {\n        Two { first, second } => first.plural() + second.article(),\n"
                "        None => 0,\n    }\n}\n"
            ),
        },
        {"Word.article": ["shown"], "Word.plural": ["shown"]},
    ),
    "rust: a loop gives a name that a parameter has to something else": (
        {
            "src/lib.rs": (
                "pub struct Pot;\nimpl Pot { pub fn boil(&self) {} }\npub struct Pan;\nimpl Pan { pub fn boil(&self) {} pub fn toss_all(&self) {} }\n"
                "pub fn cook(pans: &[Pan], done: Vec<Pot>, pot: Pot) {\n    for (n, done) in pans.iter().zip(&done) { done.toss_all(); }\n    for (n, pot) in pans.iter() { pot.boil(); }\n}\n"
            ),
        },
        {"Pan.toss_all": ["cook"], "Pot.boil": []},
    ),
    "csharp: an extension is called where a property has its name": (
        {
            "Chart.cs": (
                "namespace Shop;\npublic class Chart { public int? Width { get; set; } public void Draw() {} }\n"
                "public static class Charts {\n  public static Chart Width(this Chart one, int? width) { one.Width = width; return one; }\n"
                "  public static Chart Most(this Chart one, int most) { return one; }\n}\n"
            ),
            "Use.cs": "namespace Shop;\npublic class Use { void Run() { new Chart().Width(60).Most(3).Draw(); } int? Read(Chart c) { return c.Width; } }\n",
        },
        {"Charts.Width": ["Use.Run"], "Charts.Most": ["Use.Run"], "Chart.Draw": ["Use.Run"]},
    ),
    "typescript: package.json gives modules names of their own": (
        {
            "package.json": '{"name": "shop", "imports": {"#models": {"types": "./dist/models.d.ts", "default": "./src/models/index.ts"}, "#lib/*": "./src/lib/*.js"}}',
            "src/models/index.ts": "export * from './pot.js';\n",
            "src/models/pot.ts": "export class Pot { boil() {} stir() {} }\n",
            "src/lib/pan.ts": "export class Pan { boil() {} }\n",
            "src/use.ts": "import { Pot } from '#models';\nimport { Pan } from '#lib/pan';\nexport function cook(pot: Pot, pan: Pan) { pot.boil(); pan.boil(); }\n",
        },
        {"Pot.boil": ["cook"], "Pan.boil": ["cook"]},
    ),
    "kotlin: a function makes the variable of its name": (
        {"a.kt": "package a\nclass Links {\n  private fun peers() = listOf(1)\n  fun send() {\n    val peers = peers()\n    peers.first()\n  }\n}\nfun most() = 1\nfun use(): Int {\n  val most = most()\n  return most\n}\n"},
        {"Links.peers": ["Links.send"], "most": ["use"]},
    ),
    "go: a function makes the variable of its name": (
        {"go.mod": "module ex.org/m\n\ngo 1.22\n", "a.go": "package m\n\nfunc most() int { return 1 }\n\nfunc use() int {\n\tmost := most()\n\treturn most\n}\n"},
        {"most": ["use"]},
    ),
    "kotlin: a lambda has what it is called on for this": (
        {
            "a.kt": (
                "package a\nclass Other { fun name() = 1\n  fun size() = 2 }\nfun Other.most() = 1\nfun least() = 1\nclass Own {\n  fun name() = 1\n  fun size() = 1\n  fun only() = 1\n"
                "  fun most() = 1\n  fun applied() { Other().apply { name() } }\n  fun within(x: Other) = with(x) { size() + most() }\n  fun ran(x: Other) { x.run { only(); least() } }\n"
                "  fun said(x: Other) { x.apply { this.name() } }\n  fun unknown() { later().apply { size() } }\n}\n"
            ),
        },
        {
            "Other.name": ["Own.applied", "Own.said"], "Own.name": [], "Other.size": ["Own.within"], "Own.size": [], "Other.most": ["Own.within"],
            "Own.most": [], "Own.only": ["Own.ran"], "least": ["Own.ran"],
        },
    ),
    "go: a further result has its type, and a collection of its own its elements": (
        {
            "go.mod": "module ex.org/m\n\ngo 1.22\n",
            "a.go": (
                "package m\n\ntype Item struct{}\n\nfunc (i *Item) Do() {}\n\ntype Other struct{}\n\nfunc (o *Other) Do() {}\n\ntype Items []*Item\n\nfunc (i Items) All() {}\n\n"
                "func both() (*Other, *Item) { return nil, nil }\n\nfunc named() (o, p *Other, i *Item) { return nil, nil, nil }\n\n"
                "func each(items Items) {\n\tfor _, it := range items {\n\t\tit.Do()\n\t}\n\titems.All()\n}\n\nfunc at(items Items) { items[0].Do() }\n\n"
                "func second() {\n\t_, b := both()\n\tb.Do()\n}\n\nfunc third() {\n\t_, b, c := named()\n\tb.Do()\n\tc.Do()\n}\n"
            ),
        },
        {"Item.Do": ["at", "each", "second", "third"], "Other.Do": ["third"], "Items.All": ["each"]},
    ),
    "csharp: a method overrides one of any part of its base": (
        {
            "A.cs": "namespace S;\npublic abstract partial class Border { public static Border None => null; }\n",
            "B.cs": "namespace S;\npublic abstract partial class Border { public virtual int Row(int n) { return 1; } public virtual int Safe => 1; }\n",
            "C.cs": "namespace S;\npublic class Own : Border { public override int Row(int n) { return 2; } public override int Safe => 2; }\n",
            "D.cs": "namespace S;\npublic class Use { int Go(Border b) { return b.Row(1); } int Read(Border b) { return b.Safe; } }\n",
        },
        {"Own.Row": ["Use.Go"]},
    ),
    "java: a constructor does not hide its class": (
        {
            "p/Cake.java": "package p;\npublic class Cake {\n  public Cake() {}\n  public Cake sugar(int g) { return this; }\n  public void bake() {}\n}\n",
            "p/Day.java": "package p;\nclass Day {\n  void run(Cake c) { c.sugar(1).bake(); }\n}\n",
        },
        {"Cake.bake": ["Day.run"]},
    ),
    "java: a call goes to the overload that takes its arguments": (
        {
            "p/Node.java": "package p;\npublic class Node {\n  String words() { return null; }\n}\n",
            "p/Page.java": "package p;\npublic class Page extends Node {\n  Page words(String... all) { return this; }\n  Page words(String one, int at) { return this; }\n}\n",
            "p/Sheet.java": "package p;\npublic class Sheet extends Node {\n  Sheet words(String one) { return this; }\n}\n",
            "p/Use.java": 'package p;\nclass Use {\n  void plain(Sheet s) { s.words(); }\n  void given(Sheet s) { s.words("x"); }\n  void any(Page s) { s.words(); }\n}\n',
        },
        {"Node.words": ["Use.plain"], "Sheet.words": ["Use.given"], "Page.words": ["Use.any"]},
    ),
    "java: a call through an interface may mean each method that implements it": (
        {
            "p/Pan.java": "package p;\npublic interface Pan {\n  Pan heat(int c);\n}\n",
            "p/Wok.java": "package p;\npublic class Wok implements Pan {\n  public Pan heat(int c) { return this; }\n}\n",
            "p/Cook.java": "package p;\nclass Cook {\n  void fry(Pan pan) { pan.heat(200); }\n}\n",
        },
        {"Wok.heat": ["Cook.fry"], "Pan.heat": ["Cook.fry"]},
    ),
    "java: a cast says the type": (
        {
            "p/Wok.java": "package p;\npublic class Wok {\n  public void toss() {}\n}\n",
            "p/Cook.java": "package p;\nclass Cook {\n  void fry(Object pan) { ((Wok) pan).toss(); }\n}\n",
        },
        {"Wok.toss": ["Cook.fry"]},
    ),
    "java: a starred static import brings the members of a class": (
        {
            "p/Stove.java": "package p;\npublic class Stove {\n  public static Stove stove() { return null; }\n  public void light() {}\n}\n",
            "q/Cook.java": "package q;\nimport static p.Stove.*;\nclass Cook {\n  void begin() { stove().light(); }\n}\n",
        },
        {"Stove.stove": ["Cook.begin"], "Stove.light": ["Cook.begin"]},
    ),
    "java: a type is spelled from the top": (
        {
            "p/Wok.java": "package p;\npublic class Wok {\n  public void toss() {}\n}\n",
            "q/Cook.java": "package q;\nimport z.Wok;\nclass Cook {\n  void fry(p.Wok pan) { pan.toss(); }\n}\n",
        },
        {"Wok.toss": ["Cook.fry"]},
    ),
    "go: new and assertions say the type": (
        {
            "go.mod": "module example.org/shop\n\ngo 1.22\n",
            "desk.go": (
                "package shop\n\ntype Desk struct{}\n\nfunc (d *Desk) Lock() *Desk { return d }\n\nfunc (d *Desk) Turn() {}\n\n"
                "func made() { new(Desk).Lock().Turn() }\n\nfunc kept() {\n\td := new(Desk)\n\td.Turn()\n}\n\n"
                "func told(x any) { x.(*Desk).Turn() }\n"
            ),
        },
        {"Desk.Lock": ["made"], "Desk.Turn": ["kept", "made", "told"]},
    ),
    "go: make says the type": (
        {
            "go.mod": "module example.org/shop\n\ngo 1.22\n",
            "desk.go": (
                "package shop\n\ntype Desk struct{}\n\nfunc (d *Desk) Turn() {}\n\ntype Names map[string]bool\n\n"
                'func (n Names) Note(name string) {}\n\nfunc kept() {\n\tnames := make(Names, 3)\n\tnames.Note("a")\n}\n\n'
                'func written() {\n\tvar names = make(Names)\n\tnames.Note("a")\n}\n\n'
                "func listed() {\n\tdesks := make([]*Desk, 3)\n\tfor _, each := range desks {\n\t\teach.Turn()\n\t}\n}\n"
            ),
        },
        {"Names.Note": ["kept", "written"], "Desk.Turn": ["listed"], "Names": ["kept", "written"]},
    ),
    "typescript: a cast says the type": (
        {
            "wok.ts": "export class Wok {\n  toss(): void {}\n}\n",
            "cook.ts": 'import { Wok } from "./wok";\nexport function fry(pan: unknown) {\n  (pan as Wok).toss();\n}\n',
        },
        {"Wok.toss": ["fry"]},
    ),
    "cpp: a variable made with arguments looks like a function": (
        {
            "dice.h": "class Dice {\n public:\n  explicit Dice(int seed) {}\n  int Roll() { return 1; }\n};\n",
            "game.cc": '#include "dice.h"\nint seed();\nint play() {\n  Dice dice(seed());\n  return dice.Roll() + Dice(2).Roll();\n}\n',
        },
        {"Dice.Roll": ["play"]},
    ),
    "cpp: a constructor is defined apart from its class": (
        {
            "dice.h": "class Dice {\n public:\n  explicit Dice(int seed);\n};\n",
            "dice.cc": '#include "dice.h"\nDice::Dice(int seed) {}\n',
            "game.cc": '#include "dice.h"\nvoid play() { Dice* dice = new Dice(3); }\n',
        },
        {"Dice.Dice": ["play"]},
    ),
    "cpp: a constructor that is defined apart does not hide its class": (
        {
            "dice.h": "class Dice {\n public:\n  Dice();\n  Dice* Next() { return this; }\n  void Roll();\n};\n",
            "dice.cc": '#include "dice.h"\nDice::Dice() {}\nvoid Dice::Roll() {}\n',
            "game.cc": '#include "dice.h"\nvoid play(Dice& dice) { dice.Next()->Roll(); }\n',
        },
        {"Dice.Roll": ["play"]},
    ),
    "cpp: each block has its own variables": (
        {
            "game.cc": (
                "struct Dice { void Roll() {} };\nstruct Coin { void Toss() {} };\nCoin coin();\n"
                "void play(int n) {\n  {\n    Dice* it = 0;\n    it->Roll();\n  }\n"
                "  if (n) {\n    auto it = coin();\n    it.Toss();\n  }\n  for (Dice* one = 0; one; ++one) one->Roll();\n"
                "  for (Coin one; n;) { one.Toss(); }\n}\n"
                "void stop(Coin* it) {\n  { Dice it; it.Roll(); }\n  it->Toss();\n}\n"
            ),
        },
        {"Dice.Roll": ["play", "stop"], "Coin.Toss": ["play", "stop"]},
    ),
    "cpp: namespaces are opened by macros, and stand in each other": (
        {
            "base.h": "#define GAME_BEGIN_NAMESPACE \\\n  namespace game { \\\n  namespace dice {\nGAME_BEGIN_NAMESPACE\nint roll();\n} }\n",
            "coin.h": '#include "base.h"\nGAME_BEGIN_NAMESPACE\nint toss();\nclass Coin { public: static Coin* One(); void Turn(); };\n} }\n',
            "other.h": "namespace far { int toss(int); struct S { int dice; int game; }; }\n",
            "play.cc": (
                '#include "base.h"\n#include "coin.h"\nnamespace game {\n'
                "void play() { dice::roll(); game::dice::toss(); game::dice::Coin::One()->Turn(); }\n"
                "void stop() { std::toss(); far::toss(1); }\n}\n"
            ),
        },
        {"roll": ["play"], "coin.toss": ["play"], "Coin.One": ["play"], "Coin.Turn": ["play"], "other.toss": ["stop"]},
    ),
    "cpp: an alias is the type behind it, and braces and initialisers make instances": (
        {
            "dice.h": (
                "namespace game {\nclass Dice { public: Dice(); explicit Dice(int); void Roll(); };\nusing Cube = Dice;\n"
                "typedef Cube Die;\ntemplate <class T> class Bag { public: T* Pick(); };\nusing Bags = Bag<Dice>;\n}\n"
            ),
            "play.cc": (
                '#include "dice.h"\nvoid take(game::Dice);\n'
                "void play(game::Die& die, game::Bags bags) { die.Roll(); bags.Pick(); }\nvoid make() { take(game::Dice{3}); }\n"
                "struct Loaded : game::Dice { Loaded() : Dice(6), left(0) {} int left; };\n"
            ),
        },
        {"Dice.Roll": ["play"], "Bag.Pick": ["play"], "Dice": ["Loaded.Loaded", "make"]},
    ),
    "cpp: overloads in several headers are one, and a namespace's function is not the library's": (
        {
            "a.h": "namespace say { void print(int); void pipe(); }\n",
            "b.h": '#include "a.h"\nnamespace say { void print(char); }\n',
            "c.h": '#include "b.h"\n',
            "play.cc": '#include "c.h"\nvoid play() { say::print(1); say::pipe(); }\nvoid stop() { pipe(); }\n',
        },
        {"print": ["play"], "a.pipe": ["play"]},
    ),
    "cpp: macros before and after a function's head say nothing": (
        {
            "dice.h": (
                "class Dice {\n public:\n  GAME_CONSTEXPR GAME_INLINE Dice(int n) {}\n  static GAME_CONSTEXPR Dice Fair() { return Dice(6); }\n"
                "  GAME_API void Roll() const GAME_NOEXCEPT {}\n  int Last() const GAME_DELETED;\n  int Each(int (Dice::*f)()) { return (this->*f)(); }\n};\nGAME_INLINE int count() GAME_NOEXCEPT { return 1; }\n"
            ),
            "play.cc": '#include "dice.h"\nvoid play() { Dice::Fair().Roll(); count(); }\n',
        },
        {"Dice.Fair": ["play"], "Dice.Roll": ["play"], "count": ["play"]},
    ),
    "cpp: functions that macros write have their own variables, and classes in namespaces their macros": (
        {
            "dice.h": "namespace game {\n  class GAME_CLASS Dice\n  {\n  public:\n    void Roll();\n  };\n  struct Coin { void Toss(); };\n}\n",
            "play.cc": (
                '#include "dice.h"\nusing namespace game;\n'
                "PLAY(one) {\n  Dice it;\n  it.Roll();\n}\nPLAY(two) {\n  Coin it;\n  it.Toss();\n}\nvoid PLAY_IT(a, b) { Coin it; it.Toss(); }\nvoid PLAY_IT(c) { Dice it; it.Roll(); }\nvoid three(Dice& it) { it.Roll(); }\n"
            ),
        },
        {"Dice.Roll": ["PLAY", "PLAY_IT", "three"], "Coin.Toss": ["PLAY", "PLAY_IT"]},
    ),
    "rust: a bound says the type, and a pattern binds a name": (
        {
            "src/lib.rs": (
                "pub trait Visit { fn leaf(&mut self); }\npub struct Cat;\nimpl Cat { pub fn purr(&self) {} }\n"
                "pub enum Pet { Own(Cat), None }\npub fn walk<V: Visit>(visitor: &mut V) { visitor.leaf(); }\n"
            ),
        },
        {"Visit.leaf": ["walk"]},
    ),
    "rust: what an async function gives is awaited, and what a future gives is its own": (
        {
            "src/lib.rs": (
                "#[derive(Clone)]\npub struct Gear;\nimpl Gear { pub fn turn(&self) {}  pub async fn oil(self) -> Gear { self } }\n"
                "pub struct Work;\nimpl Work { pub fn halt(&self) {} }\nimpl std::future::Future for Work { fn poll(self) {} }\n"
                "async fn make() -> Gear { Gear }\nasync fn bolt() -> Result<Gear, ()> { Ok(Gear) }\nfn work() -> Work { Work }\n"
                "async fn a() { let g = make().await; g.turn(); }\nasync fn b() { make().await.oil().await.turn(); }\n"
                "async fn c() { bolt().await?.turn(); }\nasync fn d() { if let Ok(g) = bolt().await { g.turn(); } }\n"
                "async fn e() { work().await.halt(); }\nasync fn f() { let w = work().await; w.halt(); }\n"
            ),
        },
        {"Gear.turn": list("abcd"), "Gear.oil": ["b"], "Work.halt": []},
    ),
    "rust: a long receiver is read to its end, and one that is too long tells no type": (
        {
            "src/lib.rs": (
                "pub struct Cook;\npub struct Dish;\nimpl Cook {\n  pub fn new<F>(f: F) -> Cook { Cook }\n  pub fn halt(&self) {}\n"
                "  pub fn serve(&self) -> Dish { Dish }\n}\nimpl Dish { pub fn halt(&self) {} }\n"
                f"fn a() {{ Cook::new(|| {{ {'season(1); ' * 60}}}).serve().halt(); }}\n"
                f"fn b() {{ let d = Cook::new(|| {{ {'season(1); ' * 60}say(\"1)\"); }}).serve();\n  d.halt(); }}\n"
                f"fn c() {{ let d = Cook::new(|| {{ {'season(1); ' * 300}}}).serve();\n  d.halt(); }}\n"
            ),
        },
        {"Dish.halt": ["a", "b"], "Cook.halt": [], "Cook.serve": ["a", "b"]},
    ),
    "java: the bound of a type parameter says the type": (
        {
            "p/Wok.java": "package p;\npublic class Wok {\n  public void toss() {}\n}\n",
            "p/Cook.java": "package p;\nclass Cook<T extends Wok> {\n  void fry(T pan) { pan.toss(); }\n}\n",
        },
        {"Wok.toss": ["Cook.fry"]},
    ),
    "python: a variable may be called parent": (
        {
            "tree.py": (
                "class Node:\n    def put(self): ...\n\n\nclass Leaf(Node):\n    pass\n\n\nclass Basket:\n    def put(self): ...\n\n\n"
                "class Fruit(Leaf):\n    def fall(self, parent: Basket, base: Basket):\n        parent.put()\n        base.put()\n"
            ),
        },
        {"Basket.put": ["Fruit.fall"], "Node.put": []},
    ),
    "c: a header is included through others": (
        {
            "src/dict.h": "#ifndef D\n#define D\nint find(int k);\n#endif\n",
            "src/dict.c": '#include "dict.h"\nint find(int k) { return k; }\n',
            "src/server.h": '#include "all.h"\nint serve(int k);\n',
            "src/all.h": '#include "dict.h"\n#include "server.h"\n',
            "src/server.c": '#include "server.h"\nint serve(int k) { return find(k); }\n',
            "deps/dict.h": "static int find(int k);\n",
            "deps/dict.c": '#include "dict.h"\nstatic int find(int k) { return k; }\nint use(void) { return find(1); }\n',
        },
        {"find": ["serve", "use"]},
    ),
    "php: parent is the base": (
        {
            "a.php": (
                "<?php\nclass Node {\n    public function put() {}\n}\nclass Leaf extends Node {\n"
                "    public function put() { parent::put(); }\n}\n"
            ),
        },
        {"Node.put": ["Leaf.put"]},
    ),
    "csharp: base is the base": (
        {
            "a.cs": (
                "class Node {\n  public virtual void Put() {}\n}\nclass Leaf : Node {\n"
                "  public override void Put() { base.Put(); }\n}\n"
            ),
        },
        {"Node.Put": ["Leaf.Put"]},
    ),
    "csharp: a class in parts has the fields of all of them": (
        {
            "Pool.A.cs": "namespace P;\npublic abstract partial class Pool {\n  private int size;\n}\n",
            "Pool.cs": (
                "namespace P;\npublic abstract partial class Pool {\n  public static Pool Shared { get; } = Make();\n"
                "  public Box Get() { return null; }\n}\npublic class Box { public Lid Top { get; } }\n"
                "public class Lid { public bool TryGetValue(string key) { return true; } }\n"
                "public class Other { public bool TryGetValue(string key) { return true; } }\n"
            ),
            "Use.cs": "namespace P;\nclass Use {\n  void Run() { var box = Pool.Shared.Get(); box.Top.TryGetValue(k); }\n}\n",
        },
        {"Pool.Get": ["Use.Run"], "Lid.TryGetValue": ["Use.Run"], "Other.TryGetValue": []},
    ),
    "csharp: a project opens namespaces for all of its files": (
        {
            "Lib/A.cs": "namespace A;\npublic class Box { public KeyA Shut() { return null; } }\npublic class KeyA { public void Turn() {} }\n",
            "Lib/B.cs": "namespace B;\npublic class Box { public KeyB Shut() { return null; } }\npublic class KeyB { public void Turn() {} }\n",
            "Lib/C.cs": "namespace C;\npublic class Box { public KeyC Shut() { return null; } }\npublic class KeyC { public void Turn() {} }\n",
            "One/One.csproj": '<Project>\n  <ItemGroup>\n    <Using Include="A" />\n  </ItemGroup>\n</Project>\n',
            "One/Deep/Use.cs": "namespace U;\nclass One {\n  void Run(Box box) { box.Shut().Turn(); }\n}\n",
            "Two/Two.csproj": "<Project />\n",
            "Two/Set/GlobalUsings.cs": "global using System;\nglobal using global::B;\n",
            "Two/Use.cs": "namespace U;\nclass Two {\n  void Run(Box box) { box.Shut().Turn(); }\n}\n",
        },
        {"KeyA.Turn": ["One.Run"], "KeyB.Turn": ["Two.Run"], "KeyC.Turn": []},
    ),
    "csharp: a comment stands within a chain": (
        {"a.cs": "class Pot {\n  public Pot Stir(int a) { return this; }\n  public void Cook() {\n    new Pot()\n      // slowly\n      .Stir(1) /* then */\n      .Stir(2);\n  }\n}\nclass Pan {\n  public Pan Stir(int a) { return this; }\n}\n"},
        {"Pot.Stir": ["Pot.Cook"], "Pan.Stir": []},
    ),
    "go: a type of its own that is no struct has methods": (
        {
            "go.mod": "module ex.com/m\n",
            "set/set.go": (
                "package set\n\ntype IDs map[int]struct{}\n\nfunc NewIDs() IDs { return nil }\n\nfunc (s IDs) Insert(id int) {}\n\n"
                "type Names []string\n\nfunc (s Names) Insert(id int) {}\n\ntype Fn func(a int) error\n\nfunc (f Fn) Insert(id int) {}\n"
            ),
            "cmd/use.go": (
                'package cmd\n\nimport "ex.com/m/set"\n\nfunc One() {\n\tids := set.NewIDs()\n\tids.Insert(1)\n}\n\n'
                "func Two(names set.Names) {\n\tnames.Insert(1)\n}\n\ntype Box struct{ fn set.Fn }\n\nfunc (b *Box) Three() {\n\tb.fn.Insert(1)\n}\n"
            ),
        },
        {"IDs.Insert": ["One"], "Names.Insert": ["Two"], "Fn.Insert": ["Box.Three"]},
    ),
    "go: arrays and maps hold elements": (
        {
            "a.go": (
                "package a\n\ntype Lid struct{}\n\nfunc (l *Lid) get() int { return 1 }\n\ntype Other struct{}\n\nfunc (o *Other) get() int { return 1 }\n\n"
                "type Box struct {\n\tsome [Count]Lid\n\tnamed map[string]*Lid\n}\n\nfunc (b *Box) One() int { return b.some[1].get() }\n\n"
                'func (b *Box) Two() int { return b.named["a"].get() }\n\nfunc (b *Box) Three() {\n\tfor _, lid := range b.named {\n\t\tlid.get()\n\t}\n}\n'
            ),
        },
        {"Lid.get": ["Box.One", "Box.Three", "Box.Two"], "Other.get": []},
    ),
    "javascript: a constant holds functions": (
        {
            "a.js": "const adapter = isNode && function adapter() {\n  wrap(() => {\n    const settle = () => 1;\n    wrap(() => {\n      settle();\n    });\n  });\n};\n",
            "b.js": "import { open } from './c';\nexport const Form = memo((given) => {\n  const save = () => open(given);\n  return save(1);\n});\n",
            "c.js": "export const open = debounce(() => close(), 3);\nfunction close() {}\n",
        },
        {"settle": ["adapter"], "save": ["Form"], "open": ["Form.save"], "close": ["open"]},
    ),
    "javascript: a function writes out an object": (
        {
            "a.js": (
                "export function createStore() {\n  function dispatch() {}\n  const settle = () => 1;\n  return { dispatch, on: settle };\n}\n"
                "export const useForm = () => {\n  const open = () => 1;\n  return ({ open });\n};\n"
            ),
            "b.js": (
                "import { createStore, useForm } from './a';\nconst store = createStore();\nexport function one() { store.dispatch(); store.on(); }\n"
                "export function two() {\n  const { open } = useForm();\n  return open();\n}\nexport function three(other) { other.dispatch(); }\n"
            ),
        },
        {"createStore.dispatch": ["one", "three"], "createStore.settle": ["one"], "useForm.open": ["two"]},
    ),
    "go: an embedded type is a field of its name": (
        {
            "go.mod": "module ex.com/m\n",
            "box/box.go": "package box\n\ntype Box struct{}\n\nfunc (b *Box) Settle() {}\n",
            "a.go": (
                'package m\n\nimport "ex.com/m/box"\n\ntype Lid struct{}\n\nfunc (l *Lid) Settle() {}\n\ntype Store struct {\n\t*box.Box\n\tLid\n}\n\n'
                "func (s *Store) One() { s.Box.Settle() }\n\nfunc Two() {\n\ts := &Store{}\n\ts.Lid.Settle()\n}\n"
            ),
        },
        {"Box.Settle": ["Store.One"], "Lid.Settle": ["Two"]},
    ),
    "go: a variable is named after the package that it is made by": (
        {
            "go.mod": "module ex.com/m\n",
            "store/store.go": "package store\n\ntype Store struct{}\n\nfunc New() *Store { return nil }\n\nfunc (s *Store) Settle() {}\n",
            "other.go": "package m\n\ntype Other struct{}\n\nfunc (o *Other) Settle() {}\n",
            "use.go": (
                'package m\n\nimport "ex.com/m/store"\n\nfunc Made() *store.Store {\n\tstore := store.New()\n\tstore.Settle()\n\treturn store\n}\n\n'
                "func Use() {\n\tmade := Made()\n\tmade.Settle()\n}\n"
            ),
        },
        {"Store.Settle": ["Made", "Use"], "New": ["Made"], "Other.Settle": []},
    ),
    "rust: a trait extends a class of another crate": (
        {
            "p/Cargo.toml": '[package]\nname = "p"\n',
            "p/src/lib.rs": "pub mod ast;\npub mod engine;\n",
            "p/src/ast.rs": "pub struct Call { pub head: u32 }\n",
            "p/src/engine.rs": "pub struct Call<'a> { inner: &'a u8 }\n",
            "e/Cargo.toml": '[package]\nname = "e"\n',
            "e/src/lib.rs": (
                "use p::engine::Call;\npub struct Flag {}\nimpl Flag { pub fn raise(&self) {} }\n"
                "pub trait Ext { fn flag(&self) -> Flag; }\nimpl Ext for Call<'_> {\n    fn flag(&self) -> Flag { Flag {} }\n}\n"
            ),
            "c/Cargo.toml": '[package]\nname = "c"\n',
            "c/src/lib.rs": "use e::Ext;\nuse p::engine::Call;\nfn run(call: &Call) { call.flag().raise(); }\nfn other(call: &p::ast::Call) { call.flag().raise(); }\n",
        },
        {"Call.flag": ["run"], "Flag.raise": ["run"]},
    ),
    "java: a variable does not hide a method": (
        {"p/Desk.java": 'package p;\nclass Desk {\n  String reader(String s) { return s; }\n  void open() { String reader = reader("x"); }\n}\n'},
        {"Desk.reader": ["Desk.open"]},
    ),
    "php: a name goes on through an imported namespace": (
        {
            "src/Leaf.php": "<?php\nnamespace App\\Tree;\nclass Leaf { public function fall(): string { return 'x'; } }\n",
            "src/one.php": "<?php\nnamespace App;\nuse App\\Tree;\nfunction one() { $leaf = new Tree\\Leaf(); return $leaf->fall(); }\n",
            "src/two.php": "<?php\nnamespace App;\nfunction two() { $leaf = new Tree\\Leaf(); return $leaf->fall(); }\n",
            "src/three.php": "<?php\nnamespace Other;\nfunction three() { $leaf = new \\App\\Tree\\Leaf(); return $leaf->fall(); }\n",
        },
        {"Leaf.fall": ["one", "three", "two"]},
    ),
    "php: a trait's method comes before the interface's": (
        {
            "t.php": (
                "<?php\nnamespace App;\ninterface Prints { public function sheet(); }\ntrait Printing { public function sheet() { return 1; } }\n"
                "class Press implements Prints { use Printing; public function run() { return $this->sheet(); } }\n"
            )
        },
        {"Printing.sheet": ["Press.run"]},
    ),
    "ruby: a class opened again keeps its base": (
        {
            "lib/base.rb": "module P\n  class Base\n    def warn_once(text); text; end\n  end\nend\n",
            "lib/main.rb": "module P\n  class Reader < Base\n    def one; warn_once('a'); end\n  end\nend\n",
            "lib/more.rb": "module P\n  class Reader\n    def two; warn_once('b'); end\n  end\nend\n",
        },
        {"P.Base.warn_once": ["P.Reader.one", "P.Reader.two"]},
    ),
    "rust: arguments of macros are read": (
        {
            "Cargo.toml": '[package]\nname = "m"\n',
            "src/lib.rs": (
                "pub struct Scale;\nimpl Scale { pub fn weigh(&self) -> u8 { 1 } }\nfn only_here() -> u8 { 1 }\n"
                "pub fn check(s: Scale) { assert_eq!(only_here(), s.weigh()); }\n#[cfg(all(test, not(loom)))]\nfn all() {}\n"
            ),
        },
        {"only_here": ["check"], "Scale.weigh": ["check"], "all": []},
    ),
    "rust: members of a namesake in another module are not its own": (
        {
            "Cargo.toml": '[package]\nname = "m"\n',
            "src/lib.rs": "mod a;\nmod b;\n",
            "src/a.rs": "pub struct Setup { pub a: u8 }\npub fn make() -> u8 { Setup::fresh() }\n",
            "src/b.rs": "pub struct Setup { pub b: u8 }\nimpl Setup { pub fn fresh() -> u8 { 1 } }\npub fn own() -> u8 { Setup::fresh() }\n",
        },
        {"Setup.fresh": ["own"]},
    ),
    "c++: annotations of fields do not hide their types": (
        {
            "db.h": (
                "#pragma once\n#define GUARDED_BY(x)\n#define EXPORT\nclass EXPORT Status { public: bool fine() const { return true; } };\n"
                "class Lock {};\nclass Log { public: void Put(int x); };\nclass Base {\n public:\n  void Run();\n private:\n  Lock lock_;\n"
                "  Status status_ GUARDED_BY(lock_);\n  Log* const log_ GUARDED_BY(lock_);\n};\n"
            ),
            "db.cc": '#include "db.h"\nvoid Log::Put(int x) {}\nvoid Base::Run() {\n  if (status_.fine()) log_->Put(1);\n}\n',
        },
        {"Status.fine": ["Base.Run"], "Log.Put": ["Base.Run"]},
    ),
    "javascript: members of a default object are called": (
        {
            "utils.js": "function isList(x) { return Array.isArray(x) }\nconst each = (o, f) => { f(o) }\nexport default { isList, every: each, late() { return 1 } }\n",
            "use.js": "import utils from './utils.js'\nexport function go(a) { if (utils.isList(a)) utils.every(a, utils.late()) }\n",
        },
        {"isList": ["go"], "each": ["go"], "late": ["go"]},
    ),
    "javascript: a default export may be an instance": (
        {
            "registry.js": "class Registry { add(item) { return item } }\nexport default new Registry()\n",
            "use.js": "import registry from './registry.js'\nexport function go(a) { registry.add(a) }\n",
        },
        {"Registry.add": ["go"]},
    ),
    "javascript: a constant holds functions that stand elsewhere": (
        {
            "tools.js": "function cut(x) { return x }\nconst tools = { cut, paste: glue.stick, fold() { return 1 } }\nexport { tools }\nconst glue = { stick() { return 2 } }\n",
            "use.js": "import { tools } from './tools.js'\nexport function go(a) { tools.cut(a); tools.fold() }\n",
        },
        {"cut": ["go"], "tools.fold": ["go"]},
    ),
    "javascript: functions without a name have their own variables": (
        {
            "lamp.js": "export class Lamp { light() {} }\nexport class Fire { light() {} }\n",
            "test.js": (
                "import { Lamp, Fire } from './lamp.js'\ntest('a', () => { const it = new Lamp(); it.light() })\n"
                "test('b', function () { const it = new Fire(); it.light() })\n"
            ),
        },
        {"Lamp.light": [""], "Fire.light": [""]},
    ),
    "javascript: a function that is a class returns what it returns": (
        {
            "maker.js": (
                "function Gadget() {}\nGadget.prototype.spin = function spin() {}\n"
                "function Maker() { return new Gadget() }\nMaker.prototype.spin = function spin() {}\n"
                "function Held() { if (!(this instanceof Held)) return new Held() }\nHeld.prototype.spin = function spin() {}\n"
                "function Top(size) { size.check(() => size.width) }\nTop.prototype.spin = function spin() {}\n"
                "function bare() { Maker().spin() }\nfunction held() { Held().spin() }\n"
                "module.exports = Top\n"
            ),
            "use.js": "const Top = require('./maker')\nfunction made() { new Top(4).spin() }\n",
        },
        {"Gadget.spin": ["bare"], "Maker.spin": [], "Held.spin": ["held"], "Top.spin": ["made"]},
    ),
    "javascript: a variable is the exports": (
        {
            "one.js": "var it = exports\nit.open = function (x) { return x }\nit.all = function () { return it.open(1) }\n",
            "two.js": "const it = module.exports = {}\nit.close = function (x) { return x }\n",
            "three.js": "const it = exports = module.exports = function make() {}\nit.turn = function (x) { return x }\n",
            "four.js": "var Held = exports.Held = function () {}\nHeld.keep = function (x) { return x }\n",
            "use.js": (
                "const one = require('./one'), { close } = require('./two'), make = require('./three'), four = require('./four')\n"
                "function used() { one.open(2); close(3); make.turn(4); four.keep(5) }\n"
            ),
        },
        {"it.open": ["it.all", "used"], "it.close": ["used"], "it.turn": ["used"], "Held.keep": []},
    ),
    "javascript: what a module exports takes in others": (
        {
            "base.js": "exports.open = function (x) { return x }\n",
            "own.js": "const base = require('./base')\nmodule.exports = { ...base, close: shut }\nfunction shut() {}\n",
            "made.js": "const base = require('./base')\nmodule.exports = Object.assign(make, { turn: spin }, base)\nfunction make() {}\nfunction spin() {}\n",
            "all.js": "module.exports = { ...require('./base'), ...made() }\n",
            "use.js": (
                "const own = require('./own'), made = require('./made'), all = require('./all')\n"
                "function a() { own.open(1); own.close() }\nfunction b() { made.open(1); made.turn(); made() }\nfunction c() { all.open(1) }\n"
            ),
        },
        {"open": ["a", "b", "c"], "shut": ["a"], "spin": ["b"], "make": ["b"]},
    ),
    "javascript: a module's own name comes before those that it hands on": (
        {
            "core.js": "export const run = (x) => x\nexport const rest = (x) => x\n",
            "node.js": "import * as core from './core.js'\nexport * from './core.js'\nexport const run = (x) => core.run(x)\n",
            "use.js": "import { run, rest } from './node.js'\nfunction used() { run(1); rest(2) }\n",
        },
        {"core.js:1": ["run"], "node.js:3": ["used"], "rest": ["used"]},
    ),
    "typescript: a constant beside an interface of its name": (
        {
            "node.ts": (
                "export interface Leaf { kind: string }\ntype Makes = Readonly<{ grow(n: number): Leaf }>\n"
                "export const Leaf: Makes = freeze<Makes>({\n  grow(n) { return { kind: 'leaf' } },\n})\n"
            ),
            "use.ts": "import { Leaf } from './node'\nexport function plant() { return Leaf.grow(1) }\n",
        },
        {"Leaf.grow": ["plant"]},
    ),
    "java: a field of a method's name does not hide it": (
        {
            "p/Tree.java": "package p;\nclass Tree {\n  int leaves() { return 1; }\n}\n",
            "p/Oak.java": "package p;\nclass Oak extends Tree {\n  int leaves;\n  int all() { return leaves(); }\n}\n",
            "p/Use.java": "package p;\nclass Use {\n  int run(Oak oak) { return oak.leaves(); }\n}\n",
        },
        {"Tree.leaves": ["Oak.all", "Use.run"]},
    ),
    "rust: options, results, patterns and iterators hold what they hold": (
        {
            "Cargo.toml": '[package]\nname = "m"\n',
            "src/lib.rs": (
                "pub struct Gear;\nimpl Gear { pub fn turn(&self) {} }\npub struct Box2 { one: Option<Gear>, all: Vec<Gear> }\nimpl Box2 {\n"
                "  fn a(&self) { if let Some(g) = &self.one { g.turn(); } }\n  fn b(&self) { match self.one { Some(ref g) => g.turn(), None => () } }\n"
                "  fn c(&self) { self.one.as_ref().unwrap().turn(); }\n  fn d(&mut self) { self.all.pop().unwrap().turn(); }\n"
                "  fn e(&self) { self.all.iter().for_each(|g| g.turn()); }\n  fn f(&self) { for (_, g) in self.all.iter().enumerate() { g.turn(); } }\n}\n"
            ),
        },
        {"Gear.turn": [f"Box2.{name}" for name in "abcdef"]},
    ),
    "rust: a program's root is where Cargo.toml says, and crates have other names": (
        {
            "Cargo.toml": '[package]\nname = "tool"\n\n[[bin]]\nname = "tool"\npath = "core/start.rs"\n',
            "core/start.rs": "mod flags;\nfn main() { flags::read_all(); }\n",
            "core/flags.rs": "pub fn read_all() { crate::deep::help_all(); }\n",
            "core/deep.rs": "pub fn help_all() {}\n",
            "front/Cargo.toml": '[package]\nname = "front"\n',
            "front/src/lib.rs": "pub extern crate wide_paint as paint;\npub fn draw() { paint::stroke_all(); }\n",
            "paint/Cargo.toml": '[package]\nname = "wide-paint"\n',
            "paint/src/lib.rs": "pub fn stroke_all() {}\n",
        },
        {"read_all": ["main"], "help_all": ["read_all"], "stroke_all": ["draw"]},
    ),
    "c: what the C library has is not the repository's": (
        {
            "tests/fake.c": "void close(int x) {}\n",
            "src/run.c": "#include <unistd.h>\nvoid run(void) { close(1); }\n",
        },
        {"close": []},
    ),
    "python: a fixture is named, not called": (
        {
            "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef shop():\n    return 1\n\n\ndef other():\n    return 2\n",
            "tests/test_shop.py": "def test_open(shop, other):\n    assert shop\n",
        },
        {"shop": [], "other": []},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_callers_are_those_that_the_language_means(repo, engine, case):
    """Callers are told with their own names, and nobody else is."""
    files, asked = CASES[case]
    codebase = engine(repo("callers", files)).codebase
    codebase.index()
    for name, callers in asked.items():
        answer = codebase.callers(name)
        called = sorted(each.name for each in answer.found if each.relation == "called_by")
        assert (name, called) == (name, callers)


def test_a_namespace_of_a_definition_is_no_class(repo, engine):
    """What `ASF::Facts` means is told where a method of `ASF::File` is defined, too."""
    files = {
        "facts.h": "namespace T { namespace ASF { class Facts { public: bool isSecret() const; }; } }\n",
        "facts.cpp": '#include "facts.h"\nusing namespace T;\nbool ASF::Facts::isSecret() const { return true; }\nint ASF::most() { return 1; }\n',
        "file.h": '#include "facts.h"\nnamespace T { namespace ASF { class File { public: Facts *facts() const; }; int most(); } }\n',
        "file.cpp": '#include "file.h"\nusing namespace T;\nASF::Facts *ASF::File::facts() const { return nullptr; }\n',
        "use.cpp": '#include "file.h"\nusing namespace T;\nbool cook() { ASF::File f; return f.facts()->isSecret(); }\n',
    }
    codebase = engine(repo("spaces", files)).codebase
    assert [each.name for each in codebase.callers("isSecret", below=("facts.cpp",)).found] == ["cook"]


@pytest.mark.parametrize("path", ["src/mp4/pot.h", "src/mp4/pot.cpp"])
def test_a_function_has_the_callers_of_its_declaration_and_of_its_definition(repo, engine, path):
    """Which of the two is asked about makes no difference; a namesake in another namespace has its own."""
    files = {
        "src/mp4/pot.h": "namespace T { namespace MP4 { class Pot { public: int boil(int n); }; } }\n",
        "src/mp4/pot.cpp": '#include "pot.h"\nusing namespace T;\nint MP4::Pot::boil(int n) { return n; }\n',
        "src/asf/jug.h": "namespace T { namespace ASF { class Pot { public: int boil(int n); }; } }\n",
        "src/asf/jug.cpp": '#include "jug.h"\nusing namespace T;\nint ASF::Pot::boil(int n) { return n; }\n',
        "src/use.cpp": '#include "mp4/pot.h"\nint cook() { T::MP4::Pot pot; return pot.boil(1); }\n',
        "src/other.cpp": '#include "asf/jug.h"\nint fry() { T::ASF::Pot pot; return pot.boil(1); }\n',
    }
    codebase = engine(repo("apart", files)).codebase
    assert [each.name for each in codebase.callers("boil", below=(path,)).found] == ["cook"]


@pytest.mark.parametrize("path", ["one/a.kt", "two/a.kt"])
def test_a_function_of_a_package_has_the_callers_of_its_twin_in_another_module(repo, engine, path):
    """Which module a build takes it from is not said in an import."""
    files = {f"{name}/a.kt": "package friendly\nfun check(n: Int) {}\n" for name in ("one", "two")}
    files["use/b.kt"] = "package use\nimport friendly.check\nfun go() { check(1) }\n"
    codebase = engine(repo("twins", files)).codebase
    assert [each.name for each in codebase.callers("check", below=(path,)).found if each.name] == ["go"]


def test_what_extends_a_class_refers_to_it(repo, engine):
    """A class that another extends is not said to have nobody."""
    files = {
        "a.ts": "interface Named {}\ninterface Sized extends Named {}\nclass Own implements Sized {}\nclass Two extends Own {}\n"
    }
    codebase = engine(repo("extends", files)).codebase
    found = {name: [(e.name, e.relation) for e in codebase.callers(name).found] for name in ("Named", "Sized", "Own")}
    assert found == {
        "Named": [("Sized", "implemented_by")],
        "Sized": [("Own", "implemented_by")],
        "Own": [("Two", "inherited_by")],
    }


def test_a_class_that_is_opened_again_replaces_a_method_and_keeps_its_former_self(repo, engine):
    """In Ruby callers reach the method that was put in place, and this one reaches the former."""
    files = {
        "lib/desk.rb": "class Desk\n  def close(at)\n  end\nend\n",
        "lib/locked.rb": "class Desk\n  alias plain_close close\n\n  def close(at)\n    plain_close(at)\n  end\nend\n",
        "lib/shop.rb": "def evening\n  Desk.new.close(18)\nend\n",
    }
    codebase = engine(repo("reopened", files)).codebase
    codebase.index()
    for path, caller in (("lib/desk.rb", "Desk.close"), ("lib/locked.rb", "evening")):
        assert [each.name for each in codebase.callers("Desk.close", below=(path,)).found] == [caller]


@pytest.mark.parametrize("path", ["a/own_darwin.go", "a/own_linux.go", "a/own_other.go"])
def test_a_function_that_other_builds_have_too_has_the_callers_of_each(repo, engine, path):
    """Of Go's functions of one name in a package a build takes one, so a call may run any of them."""
    files = {f"a/own_{system}.go": "package a\n\nfunc Own() {}\n" for system in ("darwin", "linux", "other")}
    files |= {"a/use.go": "package a\n\nfunc Use() { Own() }\n", "b/own.go": "package b\n\nfunc Own() {}\n"}
    codebase = engine(repo("builds", files)).codebase
    codebase.index()
    assert [each.name for each in codebase.callers("Own", below=(path,)).found] == ["Use"]
    assert codebase.callers("Own", below=("b/own.go",)).verdict == "none"


@pytest.mark.parametrize("path", ["sys/src/linux.rs", "sys/src/macos.rs"])
def test_a_function_of_one_system_has_the_callers_of_its_twins(repo, engine, path):
    """Files that are named for systems declare the same function: a call may run any of them."""
    files = {
        "sys/Cargo.toml": '[package]\nname = "sys"\n',
        "sys/src/lib.rs": '#[cfg(target_os = "linux")]\nmod linux;\n#[cfg(target_os = "macos")]\nmod macos;\n'
                          '#[cfg(target_os = "linux")]\npub use self::linux::*;\n#[cfg(target_os = "macos")]\npub use self::macos::*;\n',
        "sys/src/linux.rs": "pub fn collect_all(n: u8) {}\n",
        "sys/src/macos.rs": "pub fn collect_all(n: u8) {}\n",
        "app/Cargo.toml": '[package]\nname = "app"\n',
        "app/src/lib.rs": "pub fn run() { sys::collect_all(1); }\n",
    }  # fmt: skip
    codebase = engine(repo("systems", files)).codebase
    codebase.index()
    assert [
        each.name for each in codebase.callers("collect_all", below=(path,)).found if each.relation == "called_by"
    ] == ["run"]


def test_a_header_declares_what_a_file_of_another_name_defines(repo, engine):
    files = {
        "text.h": "#pragma once\nint settle_up(const char* s);\n",
        "rune.cc": '#include "text.h"\nint settle_up(const char* s) { return 1; }\n',
        "use.cc": '#include "text.h"\nint use() { return settle_up("a"); }\n',
    }
    codebase = engine(repo("headers", files)).codebase
    for path in ("text.h", "rune.cc"):
        assert "use" in [each.name for each in codebase.callers("settle_up", below=[path]).found]


@pytest.mark.parametrize("body", ["put(1)", "when (n) { 1 -> put(1) }"])
def test_an_extension_that_a_lambda_may_call_is_not_said_to_have_no_callers(repo, engine, body):
    """In Kotlin a lambda may have a receiver of its own, whose extension a bare name means; its arrow joins no names."""
    text = (
        "package a\nimport x.Builder\nimport x.Extender\nclass Use {\n  private fun Builder.put(n: Int) {}\n  private fun Extender.put(n: Int) {}\n"
        f"  private fun Builder.all(n: Int) {{ Extender().apply {{ {body} }} }}\n}}\n"
    )
    answer = engine(repo("extensions", {"a.kt": text})).codebase.callers("Use.Extender.put")
    assert (answer.verdict, [each.lines for each in answer.uncovered]) == ("unknown", [(7,)])


def test_a_walk_goes_on_from_a_constructor_to_whoever_makes_the_class(repo, engine):
    """Code calls a class to run its constructor, or that of a base; whoever only names the class does not."""
    files = {
        "shop/url.py": "def tidy(text):\n    return text.strip()\n\n\nclass Url:\n    def __init__(self, text):\n        self.text = tidy(text)\n\n\nclass Short(Url):\n    pass\n",
        "shop/get.py": "from shop.url import Short, Url\n\n\ndef get(text):\n    return Url(text)\n\n\ndef get_short(text):\n    return Short(text)\n",
        "tests/test_get.py": "from shop.get import get\n\n\ndef test_get():\n    assert get('a')\n",
        "shop/show.py": "from shop.url import Url\n\n\ndef show(url: Url):\n    return url\n",
        "tests/test_other.py": "def test_other():\n    assert 1\n",
    }
    codebase = engine(repo("urls", files)).codebase
    codebase.index()
    reached = {each.name: each.distance for each in codebase.callers("tidy", 3).found if each.name}
    assert reached == {"Url.__init__": 1, "get": 2, "get_short": 2, "test_get": 3}
    assert [test.path for test in codebase.impact("tidy", 1).tests] == ["tests/test_get.py"]


def test_a_literal_has_no_method_of_the_repository(repo, engine):
    """A method's only namesake is no more than a guess for a text."""
    files = {
        "p/Own.java": "package p;\nclass Own {\n  private static String repeatAll(int n) { return null; }\n}\n",
        "p/Use.java": 'package p;\nclass Use {\n  String one() { return "1".repeatAll(3); }\n}\n',
    }
    codebase = engine(repo("literals", files)).codebase
    codebase.index()
    answer = codebase.callers("Own.repeatAll")
    assert (answer.verdict, answer.withheld, answer.found) == ("unknown", 1, ())


def test_a_member_that_its_class_lacks_is_not_taken_for_nobodys(repo, engine):
    """Where a class of the repository has no such member, the call may mean another one: the file is named."""
    files = {
        "a.py": "class Pot:\n    pass\n\n\ndef brew(pot: Pot):\n    pot.pour_slowly()\n",
        "b.py": "class Can:\n    def pour_slowly(self): ...\n",
    }
    codebase = engine(repo("pots", files)).codebase
    codebase.index()
    answer = codebase.callers("Can.pour_slowly")
    assert (answer.verdict, [*map(str, answer.uncovered)]) == ("unknown", ["a.py:6"])


def test_what_a_library_holds_for_the_repository_is_not_taken_for_the_librarys(repo, engine):
    """An entry of a map gives the repository's own class, and what a guess withholds is named with its line."""
    files = {
        "p/Tag.java": "package p;\npublic class Tag {\n  public Tag copied() { return this; }\n}\n",
        "p/Label.java": "package p;\npublic class Label {\n  public Label copied() { return this; }\n}\n",
        "p/Use.java": (
            "package p;\nimport java.util.Map;\nclass Use {\n  void run(Map.Entry<String, Tag> entry) {\n"
            "    entry.getValue().copied();\n  }\n}\n"
        ),
    }
    codebase = engine(repo("tags", files)).codebase
    codebase.index()
    answer = codebase.callers("Tag.copied")
    assert (answer.verdict, [*map(str, answer.uncovered)]) == ("unknown", ["p/Use.java:5"])


def test_a_librarys_method_in_capitals_is_no_class(repo, engine):
    """C# names methods in capitals: what `First()` gives may be the repository's."""
    files = {
        "a.cs": "class Tag {\n  public void Copied() {}\n}\nclass Label {\n  public void Copied() {}\n}\n",
        "b.cs": "using System.Linq;\nclass Use {\n  void Run(Other tags) {\n    tags.First().Copied();\n  }\n}\n",
    }
    codebase = engine(repo("tags", files)).codebase
    codebase.index()
    answer = codebase.callers("Tag.Copied")
    assert (answer.verdict, [*map(str, answer.uncovered)]) == ("unknown", ["b.cs:4"])


def test_what_a_librarys_function_gives_may_be_the_repositorys(repo, engine):
    """A call on the result of `call_user_func` is named, not taken for the library's."""
    files = {
        "Mention.php": "<?php\nclass Mention {\n    public function hasUrl() {}\n}\nclass Link {\n    public function hasUrl() {}\n}\n",
        "use.php": "<?php\nfunction show($make) {\n    $result = \\call_user_func($make);\n    $result->hasUrl();\n}\n",
    }
    codebase = engine(repo("mentions", files)).codebase
    codebase.index()
    answer = codebase.callers("Mention.hasUrl")
    assert (answer.verdict, [*map(str, answer.uncovered)]) == ("unknown", ["use.php:4"])


def test_a_writer_of_ruby_is_named_where_an_assignment_may_mean_it(repo, engine):
    """`one.chain = 1` calls `chain=`."""
    text = "class Link\n  def chain=(value)\n    @chain = value\n  end\nend\n\ndef join(one)\n  one.chain = 1\nend\n"
    other = "class Rope\n  def chain=(value); end\nend\n"
    codebase = engine(repo("links", {"a.rb": text, "b.rb": other})).codebase
    codebase.index()
    answer = codebase.callers("Link.chain=")
    assert (answer.verdict, [*map(str, answer.uncovered)]) == ("unknown", ["a.rb:8"])


def test_a_method_that_a_macro_may_name_alone_is_not_said_to_have_no_callers(repo, engine):
    """`made!(weigh)` may call `weigh`; a variable of that name in a macro does not."""
    text = (
        "struct Scale;\nimpl Scale {\n    fn weigh(&self) {}\n    fn count(&self) {}\n}\n"
        "fn go() {\n    made!(weigh, 1);\n    let count = 1;\n    assert_eq!(count, 1);\n}\n"
    )
    codebase = engine(repo("macros", {"a.rs": text})).codebase
    codebase.index()
    answer = codebase.callers("Scale.weigh")
    assert (answer.verdict, [*map(str, answer.uncovered)]) == ("unknown", ["a.rs:7"])
    assert codebase.callers("Scale.count").verdict == "none"


def test_a_guessed_caller_of_a_method_may_call_one_that_overrides_it(repo, engine):
    """What may be a call of a base's method is no proof that nobody calls the method that overrides it."""
    text = "class Base\n  def settle?; 1; end\nend\nclass Col < Base\n  def settle?; 2; end\nend\nclass Two\n  def settle?; 2; end\nend\n"
    use = "Two.new.settle?\ntest 'a' do\n  x = load('a')\n  x.settle?\nend\n"
    codebase = engine(repo("bases", {"a.rb": text, "use.rb": use})).codebase
    codebase.index()
    answer = codebase.callers("Col.settle?")
    assert (answer.verdict, [*map(str, answer.uncovered)]) == ("unknown", ["use.rb:4"])


def test_a_method_that_is_overridden_may_call_the_one_that_overrides_it(repo, engine):
    """Who calls a method includes the method of its base."""
    text = "class Base {\n  static Base get(int n) { return Sub.get(n); }\n}\nclass Sub extends Base {\n  static Base get(int n) { return null; }\n}\n"
    codebase = engine(repo("bases", {"Base.java": text})).codebase
    assert [each.name for each in codebase.callers("Sub.get").found] == ["Base.get"]
    assert "Base.get" in {each.name for each in codebase.impact("Sub.get").found}


HIDDEN = {
    # file, text, the method asked for, a part of the reason
    "python": ("a.py", "class Bag:\n    def __len__(self):\n        return 1\n", "Bag.__len__", "the language"),
    "ruby": ("a.rb", "class Bag\n  def method_missing(name)\n  end\nend\n", "Bag.method_missing", "the language"),
    "ruby, where another has the name": (
        "a.rb",
        (
            "class One\n  def settle; end\nend\nmodule Two\n  def settle; end\nend\nOne.prepend(Two)\n"
            "class Use\n  def go\n    one = One.new\n    one.settle\n  end\nend\n"
        ),
        "Two.settle",
        "One.settle is called, and no type",
    ),
    "rust": ("a.rs", "struct Bag;\nimpl Drop for Bag {\n    fn drop(&mut self) {}\n}\n", "Bag.drop", "the language"),
    "dart": (
        "a.dart",
        "class Page extends Widget {\n  @override\n  int paintAll() => 1;\n}\n",
        "Page.paintAll",
        "marked @override",
    ),
    "zig": ("a.zig", "export fn boil_all() void {}\n", "boil_all", "marked export fn"),
    "zig's program": ("a.zig", "pub fn main() void {}\n", "main", "the language"),
    "library": (
        "a.py",
        (
            "from http.server import BaseHTTPRequestHandler\n\n\nclass Own(BaseHTTPRequestHandler):\n    pass\n\n\n"
            "class Desk(Own):\n    def do_GET(self):\n        pass\n"
        ),
        "Desk.do_GET",
        "extends BaseHTTPRequestHandler",
    ),
}


@pytest.mark.parametrize("case", HIDDEN)
def test_code_that_is_not_here_may_be_the_caller(repo, engine, case):
    """Nobody is said to call a method only where neither the language nor a library may do so."""
    path, text, name, reason = HIDDEN[case]
    codebase = engine(repo("hidden", {path: text})).codebase
    codebase.index()
    answer = codebase.callers(name)
    assert (answer.verdict, answer.uncovered) == ("unknown", ())
    assert reason in answer.reason


def test_a_test_names_its_fixtures_as_parameters(repo, engine):
    """A fixture's users are the tests and fixtures with a parameter of its name."""
    files = CASES["python: a fixture is named, not called"][0]
    codebase = engine(repo("fixtures", files)).codebase
    codebase.index()
    assert [each.name for each in codebase.callers("shop").found] == ["test_open"]
    assert codebase.callers("other").found == ()
