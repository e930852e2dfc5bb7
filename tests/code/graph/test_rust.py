"""Calls in Rust whose receiver's type follows from the language's own rules: who calls whom, and how that is known."""

from __future__ import annotations

import pytest

from vademecum.code.graph.terms import Relation, Tier

pytestmark = pytest.mark.once

_TWO = "pub struct Two;\nimpl Two { pub fn settle(&self) {} pub fn rest(&self) {} pub fn last(&self) {} }\n"  # another type with the same methods
_ONE = (
    "pub struct One { pub size: u8 }\n"
    "impl One { pub fn settle(&self) {} pub fn rest(&self) {} pub fn last(&self) {} pub fn made() -> One { One { size: 1 } } }\n"
)
_BOTH = _ONE + _TWO
CASES = {
    # name of the case: files, who calls, what is called there and how that is known
    "an `impl` of an imported type, where another module has one of its name": (
        {
            "src/lib.rs": "pub mod area;\npub mod file;\n",
            "src/area/mod.rs": "pub struct Zone;\nimpl Zone { pub fn rest(&self) {} }\n",
            "src/file/mod.rs": "mod query;\npub struct Zone { at: u8 }\n",
            "src/file/query.rs": "use super::Zone;\nimpl Zone { pub fn go(&self) { self.settle(); } fn settle(&self) {} }\n",
        },
        "Zone.go",
        {"Zone.settle exact"},
    ),
    "a constant of a type, and one of the file": (
        {"src/lib.rs": _BOTH + "impl One { pub const FIRST: One = One { size: 1 }; }\nconst LAST: One = One::FIRST;\nfn go() { One::FIRST.settle(); LAST.rest(); let x = One::FIRST; x.last(); }\n"},
        "go",
        {"One.settle typed", "One.rest typed", "One.last typed"},
    ),
    "a variant of an enum": (
        {"src/lib.rs": _TWO + "pub enum Day { Mon, Other(u8), Named { at: u8 } }\nimpl Day { fn settle(&self) {} fn rest(&self) {} fn last(&self) {} }\n"
                       "fn go() { Day::Mon.settle(); Day::Other(1).rest(); Day::Named { at: 1 }.last(); }\n"},
        "go",
        {"Day.Other exact", "Day.Named exact", "Day.settle typed", "Day.rest typed", "Day.last typed"},
    ),
    "a variable that is made a variant": (
        {"src/lib.rs": _TWO + "pub enum Day { Mon, Other(u8), Named { at: u8 } }\nimpl Day { fn settle(&self) {} fn rest(&self) {} fn last(&self) {} }\n"
                       "fn go() { let a = Day::Mon; a.settle(); let b = Day::Other(1); b.rest(); let c = Day::Named { at: 1 }; c.last(); }\n"},
        "go",
        {"Day.Other exact", "Day.Named exact", "Day.settle typed", "Day.rest typed", "Day.last typed"},
    ),
    "a method of another file, where the type has a field of its name": (
        {"src/lib.rs": "mod a;\npub struct Zone { at: Two }\n" + _TWO, "src/a.rs": "use crate::Zone;\nimpl Zone { fn at(&self) -> u8 { 1 } pub fn go(&self) { self.at(); self.at.settle(); } }\n"},
        "Zone.go",
        {"Zone.at exact", "Two.settle typed"},
    ),
    "what holds a type that has traits from elsewhere": (
        {"src/lib.rs": _BOTH + "impl std::ops::Neg for One { fn neg(self) -> One { self } }\nfn may() -> Option<One> { None }\n"
                       'fn go(all: Vec<One>) { may().expect("one").settle(); all.last().unwrap().clone().rest(); }\n'},
        "go",
        {"may exact", "One.settle typed", "One.rest typed"},
    ),
    "variants that a function takes from an enum, and a struct of a variant's name": (
        {"src/lib.rs": _ONE + "pub struct Rule;\nimpl Rule { fn settle(&self) {} }\nenum Kind { Rule(One), Other }\n"
                       "fn go(kind: Kind) { use self::Kind::*; match kind { Rule(ref x) => x.settle(), Other => {} } }\n"},
        "go",
        {"One.settle typed"},
    ),
    "what `let` with `else` takes out by reference": (
        {"src/lib.rs": _BOTH + "struct Held { one: Option<One> }\nfn go(held: &Held) { let Some(ref one) = held.one else { return; }; one.settle(); }\n"},
        "go",
        {"One.settle typed"},
    ),
    "a constant that a block makes": (
        {"src/lib.rs": _BOTH + "impl Two { const FIRST: u8 = { let one = One::made(); assert!(one.settle() > 1); 1 }; const LAST: u8 = { let one = Two; one.settle(); 2 }; }\n"},
        "Two",
        {"One.made exact", "One.settle typed", "Two.settle typed"},
    ),
    "a struct that is written out": (
        {"src/lib.rs": _BOTH + "fn go() { One { size: 1 }.settle(); let x = One { size: 2 }; x.rest(); let y = One { size: 3 }.last(); }\n"},
        "go",
        {"One exact", "One.settle typed", "One.rest typed", "One.last typed"},
    ),
    "what the parts of a `match` and an `if` give": (
        {"src/lib.rs": _BOTH + "enum Kind { A { one: One }, B(One), C }\n"
                       "fn go(kind: Kind) { let x = match kind { Kind::A { one } => one, Kind::B(one) => one, Kind::C => return };\n x.settle();\n"
                       " let y = if x.size > 1 { x.last(); One::made() } else { panic!() };\n y.rest(); }\n"},
        "go",
        {"One.settle typed", "One.rest typed", "One.last typed", "One.made exact"},
    ),
    "what a `match` gives that makes its name another": (
        {"src/lib.rs": _BOTH + "impl One { fn checked(&self) -> Result<One, u8> { Ok(One::made()) } fn turned(&self) -> Two { Two } }\n"
                       "fn go(one: One) { let end = match one.checked() { Ok(end) => end.turned(), Err(_) => return }; end.settle(); }\n"},
        "go",
        {"One.checked typed", "One.turned typed", "Two.settle typed"},
    ),
    "a name that is bound again": (
        {"src/lib.rs": _BOTH + "impl One { fn turned(&self) -> Two { Two } fn count(&self) -> u8 { 1 } }\n"
                       "fn go(one: One, many: One) { one.settle(); let one = one.turned(); one.rest(); let many = 1 + many.count(); many.last(); }\n"},
        "go",
        {"One.settle typed", "One.turned typed", "Two.rest typed", "One.count typed"},
    ),
    "a name that is bound again to what a `let` with `else` takes out": (
        {"src/lib.rs": _BOTH + "impl One { fn turned(&self) -> Option<Two> { None } }\n"
                       "fn go(one: One) { one.settle(); let Some(one) = one.turned() else { one.last(); return; }; one.rest(); }\n"},
        "go",
        {"One.settle typed", "One.turned typed", "Two.rest typed", "One.last typed"},
    ),
    "one name in several conditions and loops": (
        {"src/lib.rs": _BOTH + "impl One { fn turned(&self) -> Option<Two> { None } }\n"
                       "fn go(x: One, ones: &[One], twos: &[Two]) { if let Some(x) = x.turned() { x.settle(); } else { x.settle(); } while let Some(x) = x.turned() { x.rest(); }\n"
                       " for one in ones { one.last(); } for one in twos { one.last(); } }\n"},
        "go",
        {"One.turned typed", "One.settle typed", "Two.settle typed", "Two.rest typed", "One.last typed", "Two.last typed"},
    ),
    "a condition that goes on with what it took out": (
        {"src/lib.rs": _BOTH + "impl One { fn turned(&self) -> Option<Two> { None } fn is_big(&self) -> bool { true } }\nimpl Two { fn is_big(&self) -> bool { true } }\n"
                       "fn go(x: One) { if let Some(x) = x.turned() && x.is_big() { x.settle(); } x.is_big(); }\n"},
        "go",
        {"One.turned typed", "Two.settle typed", "Two.is_big typed", "One.is_big typed"},
    ),
    "a pair that is taken apart": (
        {"src/lib.rs": _BOTH + "impl One { fn both(&self) -> (One, Two) { (One::made(), Two) } fn may(&self) -> Result<(Two, One), u8> { Err(1) } }\n"
                       "fn go(one: One) -> Result<(), u8> { let (a, b) = one.both(); a.settle(); b.rest(); let (c, mut d) = one.may()?; c.last(); d.last(); Ok(()) }\n"},
        "go",
        {"One.both typed", "One.may typed", "One.settle typed", "Two.rest typed", "Two.last typed", "One.last typed"},
    ),
    "a pair of a library's, which may hold anything": (
        {"src/lib.rs": "pub struct One;\nimpl One { pub fn settle_all(&self) {} }\nfn go(ones: &[One]) { let (last, rest) = ones.split_last().unwrap(); last.settle_all(); }\n"},
        "go",
        {"One.settle_all unique"},
    ),
    "a pair that is written out and taken apart": (
        {"src/lib.rs": _BOTH + "fn go() { let (a, b) = (One::made(), Two); a.settle(); b.rest(); }\n"},
        "go",
        {"One.made exact", "One.settle typed", "Two.rest typed"},
    ),
    "a method by the name of its trait": (
        {"src/lib.rs": "use std::fmt;\nstruct One;\nimpl fmt::Display for One { fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { Ok(()) } }\n"
                       "impl fmt::Debug for One { fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { fmt::Display::fmt(self, f) } }\n"
                       "struct Two { one: One }\nimpl fmt::Display for Two { fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { fmt::Display::fmt(&self.one, f)?; core::fmt::Debug::fmt(&self.one, f) } }\n"},
        "Two.fmt",
        {"<One as fmt::Display>.fmt typed", "<One as fmt::Debug>.fmt typed"},
    ),
    "a method by the name of its trait, of a type with one of that name": (
        {"src/lib.rs": "use std::fmt;\nstruct One;\nimpl fmt::Display for One { fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { Ok(()) } }\n"
                       "fn go(one: &One, f: &mut fmt::Formatter) { fmt::Display::fmt(one, f); fmt::Debug::fmt(one, f); }\n"},
        "go",
        {"One.fmt typed"},
    ),
    "a module of the file, from another": (
        {"src/lib.rs": "pub mod check { pub fn wide() {} }\npub mod add { pub fn wide() { super::check::wide(); } }\n"},
        "add.wide",
        {"check.wide exact"},
    ),
    "a type that a trait names after its bound": (
        {"src/lib.rs": "pub trait Bits: Copy { fn settle(self); }\nstruct Two;\nimpl Two { fn settle(&self) {} }\n"
                       "pub trait Bounds { type Bits: Bits; const MIN: Self::Bits; fn go(n: Self::Bits) { n.settle(); Self::MIN.settle(); } }\n"},
        "Bounds.go",
        {"Bits.settle typed"},
    ),
    "values of a map": (
        {"src/lib.rs": _BOTH + "use std::collections::HashMap;\nfn go(all: HashMap<String, One>) { for (key, one) in &all { one.settle(); } for (_, one) in all.iter() { one.rest(); } for x in all.values() { x.last(); } }\n"},
        "go",
        {"One.settle typed", "One.rest typed", "One.last typed"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_call_in_rust_leads_to_what_is_meant(case, repo, engine):
    files, source, expected = CASES[case]
    graph = engine(repo("app", files)).codebase.graph()
    nodes = {node.id: node.qualified for node in graph.every()}
    calls = [edge for edge in graph.every_edge(tuple(Tier)) if edge.relation is Relation.CALLS]
    assert {f"{nodes[edge.target]} {edge.tier}" for edge in calls if nodes[edge.source] == source} == expected
