"""Calls whose receiver is not written, or whose type follows from what is: who calls whom, and how that is known."""

from __future__ import annotations

import pytest

from vademecum.code.graph.terms import Relation, Tier

pytestmark = pytest.mark.once

RUBY = {
    # name of the case: files, who calls, what is called there and how that is known
    "a class's own part in a block of a method": (
        {"a.rb": "class A\n  def go\n    Module.new do\n      class << self\n        def rest; B.settle; end\n      end\n    end\n    B.settle\n  end\nend\n"
                 "class B\n  def self.settle; end\nend\n"},
        "A.go",
        {"B.settle exact"},
    ),
    "a name without brackets, wherever a value may stand": (
        {
            "a.rb": "class Store\n  def doctype; 1; end\n  def limit; 2; end\n  def made; 3; end\n  def sure?; 4; end\n"
                    "  def read(limit)\n    kept = made\n    [doctype, limit, kept]\n    doctype.to_s if sure?\n  end\nend\n",
        },
        "Store.read",
        {"Store.made exact", "Store.doctype exact", "Store.sure? exact"},
    ),
    "a method of a class itself, which it is extended by": (
        {"a.rb": "module Shop\n  def self.included(base)\n    base.extend Made\n  end\n  def settle; end\n  module Made\n    def settle; end\n    def all; settle; end\n  end\nend\n"
                 "module Rest\n  def rest; end\nend\nmodule Other\n  def rest; end\nend\nclass Own\n  include Shop\n  include Rest\n  extend Other\nend\n",
         "b.rb": "class Use\n  def go\n    Own.settle\n    Own.rest\n  end\n  def one(x)\n    own = Own.new\n    own.settle\n    own.rest\n  end\nend\n"},
        "Use.go",
        {"Shop.Made.settle exact", "Other.rest exact"},
    ),
    "a method of instances, which a class includes": (
        {"a.rb": "module Rest\n  def rest; end\nend\nmodule Other\n  def rest; end\nend\nclass Own\n  include Rest\n  extend Other\nend\n",
         "b.rb": "class Use\n  def go\n    own = Own.new\n    own.rest\n  end\nend\n"},
        "Use.go",
        {"Own exact", "Rest.rest typed"},
    ),
    "what a concern gives a class": (
        {"a.rb": "module Shop\n  extend ActiveSupport::Concern\n  def settle; end\n  module ClassMethods\n    def settle; end\n  end\nend\nclass Own\n  include Shop\nend\n",
         "b.rb": "class Use\n  def go\n    Own.settle\n  end\nend\n"},
        "Use.go",
        {"Shop.ClassMethods.settle exact"},
    ),
    "a class without a name that includes a module": (
        {"a.rb": "module Shop\n  def self.included(base)\n    base.extend Made\n  end\n  def self.settle; end\n  def rest; end\n  module Made\n    def settle; end\n  end\nend\n"
                 "module Other\n  def rest; end\n  def settle; end\nend\n",
         "b.rb": "class Use\n  def one\n    Class.new { include Shop }\n  end\n  def go\n    one.settle\n    two = Class.new.send(:include, Shop)\n    x = two.new\n    x.rest\n  end\nend\n"},
        "Use.go",
        {"Use.one exact", "Shop typed", "Shop.Made.settle typed", "Shop.rest typed"},
    ),
    "methods that a list of names makes": (
        {"a.rb": "module Shell\n  NAMES = [:settle, :rest].freeze\n  NAMES.each do |name|\n    module_eval <<~CODE\n      def #{name}(*all)\n        basic.#{name}(*all)\n      end\n    CODE\n  end\nend\n"
                 "class Basic\n  def settle; end\nend\n",
         "b.rb": "class Use\n  include Shell\n  def go\n    settle\n  end\nend\n"},
        "Use.go",
        {"Shell.settle exact"},
    ),
    "a method that every object has": (
        {"a.rb": "class ZipEntry\n  def to_s; end\n  def settle; end\nend\n",
         "b.rb": "class Use\n  def go(zip_entry)\n    zip_entry.to_s\n    zip_entry.settle\n    ZipEntry\n  end\nend\n"},
        "Use.go",
        {"ZipEntry.settle unique"},
    ),
    "a local variable of a method's name": (
        {
            "a.rb": "class Store\n  def one; 1; end\n  def two; 1; end\n  def three; 1; end\n  def four; 1; end\n  def five; 1; end\n"
                    "  def read(all)\n    one ||= 2\n    for two in all do p(two) end\n    all.each { |(three, x), y| p(one, three) }\n"
                    "    ->(four) { p(four) }\n    begin\n      p(1)\n    rescue IOError => five\n      p(five)\n    end\n  end\nend\n",
        },
        "Store.read",
        set(),
    ),
    "a method that a module from elsewhere is given": (
        {
            "test/helper.rb": "module Minitest\n  module Assertions\n    def assert_settled_template(text); text; end\n  end\nend\n",
            "test/a_test.rb": "class ATest < Minitest::Test\n  def test_it\n    assert_settled_template('a')\n  end\nend\n",
        },
        "ATest.test_it",
        {"Minitest.Assertions.assert_settled_template unique"},
    ),
    "a method that several may mean": (
        {
            "a.rb": "module One\n  def settle_it; 1; end\nend\nmodule Two\n  def settle_it; 1; end\nend\n",
            "b.rb": "class Use < Out::Side\n  def go\n    settle_it\n  end\nend\n",
        },
        "Use.go",
        {"One.settle_it guess", "Two.settle_it guess"},
    ),
    "a method that Ruby has too": (
        {"a.rb": "module One\n  def sprintf(x); 1; end\nend\n", "b.rb": "class Use < Out::Side\n  def go\n    sprintf('a')\n  end\nend\n"},
        "Use.go",
        set(),
    ),
    "an assignment that calls": (
        {
            "a.rb": "class Store\n  def limit=(x); @limit = x; end\n  attr_accessor :free\nend\n",
            "b.rb": "class Use\n  def go\n    store = Store.new\n    store.limit = 3\n    self.own = 4\n  end\n  def own=(x); end\nend\n",
        },
        "Use.go",
        {"Store exact", "Store.limit= typed", "Use.own= exact"},
    ),
    "what a method gives without a word": (
        {
            "a.rb": "module Tool\n  class App\n    def settle; 1; end\n  end\n  class << self\n    def application\n      @application ||= Tool::App.new\n"
                    "    end\n    def either(x)\n      return App.new if x\n      [x]\n    end\n  end\nend\n",
            "b.rb": "class One\n  def go; 1; end\n  def settle; 1; end\nend\nclass Use\n  def setup\n    @app = Tool.application\n  end\n"
                    "  def go\n    @app.settle\n    Tool.either(1).settle\n  end\nend\n",
        },
        "Use.go",
        {"Tool.App.settle typed", "One.settle guess", "Tool.either exact"},
    ),
    "a call without brackets": (
        {
            "a.rb": "class Store\n  def settle; 1; end\n  def self.open_at(path)\n    new path\n  end\nend\nclass Two\n  def settle; 2; end\nend\n",
            "b.rb": "class Use\n  def go\n    store = Store.new 'a', 1\n    store.settle\n    Store.open_at('b') do |x| 1 end\n  end\nend\n",
        },
        "Use.go",
        {"Store exact", "Store.settle typed", "Store.open_at exact"},
    ),
    "a class of that name in another module": (
        {
            "a.rb": "module P\n  class Node\n    def go; settle; end\n  end\nend\n",
            "b.rb": "module P\n  module Light\n    class Node\n      def settle; 1; end\n    end\n  end\nend\n",
            "c.rb": "class Other\n  def settle; 2; end\nend\n",
        },
        "P.Node.go",
        {"P.Light.Node.settle guess", "Other.settle guess"},
    ),
    "an instance and its class": (
        {
            "a.rb": "class Store\n  def self.build\n    made = new\n    made.settle\n    made\n  end\n  def settle; self.class.build; end\nend\n"
                    "class Two\n  def settle; 2; end\n  def build; 2; end\n  def go; Store.build.settle; end\nend\n",
        },
        "Store.settle",
        {"Store.build exact"},
    ),
    "a class inside of the one it extends": (
        {"a.rb": "class Outer\n  def settle; 1; end\n  class Inner < self\n    def go; settle; end\n  end\nend\nclass Two\n  def settle; 2; end\nend\n"},
        "Outer.Inner.go",
        {"Outer.settle exact"},
    ),
    "a module that another class is given": (
        {"a.rb": "module Hook\n  def settle_it; 1; end\nend\nmodule All\n  Other.prepend(Hook)\n  def settle_them; 1; end\nend\n",
         "b.rb": "class Use < Out\n  def go; settle_them; settle_it; end\nend\n"},
        "Use.go",
        {"All.settle_them unique", "Hook.settle_it unique"},
    ),
    "a text has what the repository gives texts": (
        {"a.rb": "class String\n  def path_mapped; 1; end\n  def upcase; 1; end\nend\n",
         "b.rb": "class Use\n  def go\n    'a'.path_mapped\n    'a'.upcase\n  end\nend\n"},
        "Use.go",
        {"String.path_mapped typed", "String.upcase typed"},
    ),
    "a symbol that is called": (
        {"a.rb": "class Store\n  def settled_text; 1; end\nend\n", "b.rb": "class Use\n  def go(xs)\n    xs.map(&:settled_text)\n  end\nend\n"},
        "Use.go",
        {"Store.settled_text unique"},
    ),
    "a module that stands in the class that includes it": (
        {"a.rb": "class Store\n  module Helpers\n    def settle; 1; end\n  end\n  include Helpers\nend\nclass Two\n  def settle; 1; end\nend\n"
                 "class Use\n  def go\n    Store.new.settle\n  end\nend\n"},
        "Use.go",
        {"Store exact", "Store.Helpers.settle exact"},
    ),
    "what methods give that end in a condition, or clean up": (
        {"a.rb": "class One\n  def settle; 1; end\n  def rest; 1; end\nend\nclass Two\n  def settle; 1; end\n  def rest; 1; end\nend\n"
                 "class Use\n  def one(x)\n    One.new\n  ensure\n    x.close\n  end\n  def two(x)\n    if x\n      Two.new\n    else\n      nil\n    end\n  end\n"
                 "  def go\n    one(1).settle\n    two(1).rest\n  end\nend\n"},
        "Use.go",
        {"Use.one exact", "Use.two exact", "One.settle typed", "Two.rest typed"},
    ),
    "a method of a class that gives what one of its name gives": (
        {"a.rb": "class One\n  def self.parse(x)\n    new.parse(x)\n  end\n  def parse(x)\n    @x = x\n    self\n  end\n  def settle; 1; end\nend\n"
                 "class Two\n  def settle; 1; end\nend\nclass Use\n  def go\n    One.parse(1).settle\n  end\nend\n"},
        "Use.go",
        {"One.parse exact", "One.settle typed"},
    ),
    "a parameter with a default, and a variable with several values of a class": (
        {"a.rb": "class One\n  def settle; 1; end\n  def rest; 1; end\nend\nclass Two\n  def settle; 1; end\n  def rest; 1; end\nend\n"
                 "class Use\n  def go(one = One.new, x = 1)\n    two = x ? Two.new : (x || Two.new)\n    one.settle\n    both = x ? Two.new : Two.new\n    both.rest\n    two.settle\n  end\nend\n"},
        "Use.go",
        {"One exact", "Two exact", "One.settle typed", "Two.rest typed", "Two.settle unique"},
    ),
    "what the blocks of a test keep": (
        {"a.rb": "class One\n  def settle; 1; end\nend\nclass Two\n  def settle; 1; end\nend\n",
         "test/spec_a.rb": "describe One do\n  before { @x = One.new }\n  it 'a' do\n    @x.settle\n  end\nend\ndescribe Two do\n  before { @x = Two.new }\nend\n"},
        "",
        {"One exact", "Two exact", "One.settle typed"},
    ),
    "a receiver that is called after a class": (
        {"a.rb": "class LineEditor\n  def settle; 1; end\n  def ease_off; 1; end\nend\nclass Wide < LineEditor\n  def ease_off; 2; end\nend\n"
                 "class Two\n  def settle; 2; end\n  def ease_off; 2; end\nend\n",
         "b.rb": "class Use\n  def go(line_editor)\n    line_editor.settle\n    line_editor.ease_off\n  end\nend\n"},
        "Use.go",
        {"LineEditor.settle unique", "LineEditor.ease_off guess", "Two.ease_off guess"},
    ),
    "what a class holds under its own name": (
        {"a.rb": "class Table\n  def settle(x)\n    @table = x\n    @table.settle(1)\n  end\nend\nclass Two\n  def settle; 2; end\nend\n"},
        "Table.settle",
        {"Table.settle guess", "Two.settle guess"},
    ),
    "other names of a method": (
        {"a.rb": "class One\n  def settle; 1; end\n  alias rest settle\n  alias_method :stay?, :settle\nend\n"
                 "class Two\n  def rest; 1; end\n  def stay?; 1; end\nend\nclass Use\n  def go\n    One.new.rest\n    One.new.stay?\n  end\nend\n"},
        "Use.go",
        {"One exact", "One.settle exact"},
    ),
    "the former self of a method that is replaced": (
        {"a.rb": "class One\n  def settle; 1; end\nend\n",
         "b.rb": "class One\n  alias settle_before settle\n  def settle\n    settle_before\n  end\nend\n"},
        "One.settle",
        {"One.settle exact"},
    ),
    "a method that is sent by its name": (
        {"a.rb": "class One\n  def settle; 1; end\n  def go; send(:settle); Two.new.__send__(:rest, 1); end\nend\n"
                 "class Two\n  def settle; 1; end\n  def rest(x); 1; end\nend\nclass Three\n  def rest; 1; end\nend\n"},
        "One.go",
        {"One.settle exact", "Two exact", "Two.rest exact"},
    ),
    "a method that a block in a block declares": (
        {"a.rb": "test do\n  made = Class.new do\n    def settled_text(x); x; end\n  end\nend\nsettled_text(1)\n", "b.rb": "class Use\n  def go\n    settled_text(1)\n  end\nend\n"},
        "Use.go",
        set(),
    ),
    "a call without brackets in brackets, and what a constant holds": (
        {"a.rb": "class One\n  def settle; 1; end\n  def rest; 1; end\nend\nclass Two\n  def settle; 1; end\n  def rest; 1; end\nend\n"
                 "class Use\n  MADE = One.new\n  def go(x)\n    (Two.new x, 1).settle\n    MADE.rest\n  end\nend\n"},
        "Use.go",
        {"Two exact", "Two.settle exact", "One.rest typed"},
    ),
    "what a module gives to whoever includes it": (
        {"a.rb": "module Base\n  class << self\n    def included(base)\n      base.extend Made\n      base.send :include, Kept\n    end\n  end\n"
                 "  module Made\n    def begin_it; 1; end\n  end\n  module Kept\n    def keep_it; 1; end\n  end\nend\n"
                 "class Use\n  include Base\n  def go\n    Use.begin_it\n    keep_it\n  end\nend\n"},
        "Use.go",
        {"Base.Made.begin_it exact", "Base.Kept.keep_it exact"},
    ),
    "an assignment that reads, and one of several": (
        {"a.rb": "class Scan\n  def pos=(x); end\n  def left=(x); end\nend\n"
                 "class Use\n  def go\n    scan = Scan.new\n    scan.pos += 1\n    scan.left, x = 1, 2\n  end\nend\n"},
        "Use.go",
        {"Scan exact", "Scan.pos= typed", "Scan.left= typed"},
    ),
    "methods that are declared by calls": (
        {"a.rb": 'class Made\n  define_method(:settle) { rest }\n  %w(low high).each do |name|\n    module_eval "def #{name}; end"\n  end\n'
                 "  def rest; end\nend\nclass Use\n  def go\n    made = Made.new\n    made.settle\n    made.low\n    made.high\n  end\nend\n"},
        "Use.go",
        {"Made exact", "Made.settle typed", "Made.low typed", "Made.high typed"},
    ),
    "classes that are made by calls": (
        {"a.rb": "class Base\n  def self.begin_it; end\n  def settle; end\nend\nOther = Class.new(Base)\n"
                 "Point = Struct.new(:x, :y) do\n  def far; x; end\nend\n"
                 "class Use\n  def go\n    made = Class.new(Base) do\n    end\n    made.begin_it\n    Other.new.settle\n    Point.new(1, 2).far\n  end\nend\n"},
        "Use.go",
        {"Base.begin_it typed", "Other exact", "Base.settle exact", "Point exact", "Point.far exact"},
    ),
    "the one class that has all that is called on it": (
        {"a.rb": "class Leaf\n  def options; 1; end\n  def attr; 1; end\nend\nclass Tree\n  def options; 1; end\nend\n"
                 "class Bag\n  def each; end\n  def key?(x); end\nend\n"
                 "class Use\n  def go(leaf, all)\n    leaf.options\n    leaf.attr\n    all.each\n    all.key?(1)\n  end\nend\n"},
        "Use.go",
        {"Leaf.options unique", "Leaf.attr unique"},
    ),
    "a class without a name may have anything": (
        {"a.rb": "module Kept\n  def settled_text(x); x; end\nend\n",
         "test/a_test.rb": "class ATest\n  def go\n    made = Class.new\n    made.class_eval { include Kept }\n    made.settled_text(1)\n  end\nend\n"},
        "ATest.go",
        {"Kept.settled_text unique"},
    ),
    "calls with blocks within a chain": (
        {"a.rb": "class One\n  def settle; end\n  def wide\n    self\n  end\nend\nclass Two\n  def settle; end\nend\n"
                 "class Use\n  def go\n    made = One.new(1) { 2 }.wide { |x| x }\n    made.settle\n    Class.new(Two) { 3 }.new.settle\n  end\nend\n"},
        "Use.go",
        {"One exact", "One.wide exact", "One.settle typed", "Two.settle exact"},
    ),
    "a constant from the top": (
        {"a.rb": "module Zip\n  class One\n    def settle; end\n  end\nend\nclass Two\n  def settle; end\nend\n"
                 "class Use\n  def go\n    ::Zip::One.new.settle\n  end\nend\n"},
        "Use.go",
        {"Zip.One exact", "Zip.One.settle exact"},
    ),
    "a method is called with a value of its name": (
        {"a.rb": "class One\n  def settle(x); end\n  def go(settle)\n    settle(settle)\n  end\nend\nclass Two\n  def settle(x); end\nend\n"},
        "One.go",
        {"One.settle exact"},
    ),
    "a receiver's name is that of a class out of sight": (
        {"a.rb": "module Top\n  module Words\n    class LastPart\n      def settle; end\n    end\n  end\n"
                 "  class Sum\n    def settle; end\n    def go(last_part); last_part.settle; end\n  end\nend\n"},
        "Top.Sum.go",
        {"Top.Sum.settle guess", "Top.Words.LastPart.settle guess"},
    ),
    "two classes have most of what is called on a receiver": (
        {"a.rb": "class Wide\n" + "".join(f"  def turn_{n}; end\n" for n in "abcdef") + "end\n"
                 "class Slim\n" + "".join(f"  def turn_{n}; end\n" for n in "abcde") + "end\n",
         "b.rb": "class Use\n  def go(io)\n" + "".join(f"    io.turn_{n}\n" for n in "abcdef") + "  end\nend\n"},
        "Use.go",
        {"Wide.turn_f unique"} | {f"{name}.turn_{n} guess" for name in ("Wide", "Slim") for n in "abcde"},
    ),
    "what Ruby's library has is not the repository's": (
        {"a.rb": "class One\n  def request_uri; end\n  def settled_uri; end\nend\n"
                 "class Use\n  def go(uri, one)\n    uri.request_uri\n    one.settled_uri\n  end\nend\n"},
        "Use.go",
        {"One.settled_uri unique"},
    ),
    "a class that is given modules as it runs": (
        {"a.rb": "module Texts\n  def settled_text(x); x; end\nend\nclass Bag\n  def self.add(filter); include(filter); end\nend\n"
                 "Bag.add(Texts)\nclass Use\n  def go\n    Bag.new.settled_text(1)\n    Bag.new.settled_word(1)\n  end\nend\n"
                 "class Word\n  def settled_word(x); x; end\nend\n"},
        "Use.go",
        {"Bag exact", "Texts.settled_text unique"},
    ),
    "a reader and a writer that one word declares": (
        {"a.rb": 'class Made\n  %w(low).each do |name|\n    module_eval "def #{name}; end; def #{name}=(x); end"\n  end\nend\n'
                 "class Use\n  def go\n    made = Made.new\n    made.low = 1\n  end\nend\n"},
        "Use.go",
        {"Made exact", "Made.low typed"},
    ),
    "a subscript that calls": (
        {"a.rb": "class Files\n  def self.[](*names)\n    new(*names)\n  end\n  def sort; end\nend\n"
                 "class Use\n  def go\n    files = Files['a', 'b']\n    files.sort\n    Files['c'].sort\n  end\nend\n"},
        "Use.go",
        {"Files.sort typed"},
    ),
    "a literal of a class that is opened": (
        {"a.rb": "class String\n  def settle; end\nend\nclass Files\n  def settle; end\nend\n"
                 "class Use\n  def go\n    'a'.settle\n    [1].settle\n  end\nend\n"},
        "Use.go",
        {"Files.settle guess", "String.settle typed"},
    ),
    "what a test is given by a name": (
        {"a.rb": "class Foo\n  def settle; end\nend\nclass Bar\n  def settle; end\nend\n",
         "test/a_test.rb": "class ATest\n  let(:foo) { Foo.new }\n  subject do\n    Bar.new\n  end\n"
                           "  it 'a' do\n    foo.settle\n    subject.settle\n  end\nend\n"},
        "ATest",
        {"Foo exact", "Bar exact", "Foo.settle typed", "Bar.settle typed"},
    ),
    "one of two parts that may be loaded": (
        {"native.rb": "module Idna\n  def self.settle(x); 1; end\nend\n", "pure.rb": "module Idna\n  def self.settle(x); 2; end\nend\n",
         "b.rb": "class Use\n  def go\n    Idna.settle(1)\n  end\nend\n"},
        "Use.go",
        {"Idna.settle guess"},
    ),
    "a module that makes something": (
        {"a.rb": "module Post\n  def self.new(*all)\n    Letter.new(*all)\n  end\n  def self.settle; end\n"
                 "  class Letter\n    def settle; end\n  end\nend\n"
                 "class Use\n  def go\n    post = Post.new(1)\n    post.settle\n  end\nend\n"},
        "Use.go",
        {"Post.new exact", "Post.Letter.settle typed"},
    ),
    "what a block of another file declares": (
        {"test/one_test.rb": "describe 'a' do\n  def settled_text(x); x; end\nend\n",
         "test/helper.rb": "configure do\n  def settled_word(x); x; end\nend\n",
         "test/use_test.rb": "require 'helper'\nclass UseTest\n  def go\n    settled_text(1)\n    settled_word(1)\n  end\nend\n"},
        "UseTest.go",
        {"settled_word unique"},
    ),
    "what a method yields, and what a block is handed on to": (
        {"a.rb": "class One\n  def settle; end\n  def rest; end\nend\nclass Two\n  def settle; end\n  def rest; end\n"
                 "  def initialize(&block)\n    yield self\n  end\n  def self.build(x, &block)\n    new(&block)\n  end\n"
                 "  def self.each_one(&block)\n    made = One.new\n    block.call(1, made)\n  end\nend\n",
         "b.rb": "class Use\n  def go\n    Two.build('a') { |x| x.settle }\n    Two.each_one do |x, y|\n      y.rest\n    end\n  end\nend\n"},
        "Use.go",
        {"Two.build exact", "Two.each_one exact", "Two.settle typed", "One.rest typed"},
    ),
    "a block that is evaluated in another object": (
        {"a.rb": "class One\n  def settle; end\nend\nclass Two\n  def settle; end\n"
                 "  def initialize(&block)\n    instance_eval(&block) if block\n  end\nend\n",
         "b.rb": "class Use\n  def go(all)\n    Two.new do\n      all.each { settle }\n    end\n    other { settle }\n  end\nend\n"},
        "Use.go",
        {"Two exact", "Two.settle typed", "One.settle guess"},
    ),
    "a method that gives its receiver": (
        {"a.rb": "class One\n  def settle; end\n  def rest; end\nend\nclass Two < Out\n  def settle; end\n  def rest; end\n"
                 "  def self.build\n    new.tap do |x|\n      p x\n    end\n  end\nend\n",
         "b.rb": "class Use\n  def go\n    Two.build.settle\n    two = Two.new.dup\n    two.rest\n  end\nend\n"},
        "Use.go",
        {"Two exact", "Two.build exact", "Two.settle typed", "Two.rest typed"},
    ),
    "a method of the class around the own one": (
        {"a.rb": "class One\n  def self.settle; end\n  KEPT = 1\n  class Two\n    settle 1\n    def go\n      settle\n      KEPT\n    end\n  end\nend\n"
                 "class Three\n  def settle; end\nend\n"},
        "One.Two.go",
        {"One.settle guess", "Three.settle guess"},
    ),
    "a method of the class itself beside one of its instances": (
        {"a.rb": "module Part\n  def self.settle; end\n  class << self\n    def rest; end\n  end\nend\nmodule Whole\n  def settle; end\nend\n"
                 "class One\n  def rest; end\nend\n"
                 "class Two < One\n  include Whole\n  include Part\n  def self.rest; end\n  def self.open\n    rest\n  end\n"
                 "  def go\n    settle\n    rest\n  end\nend\nTwo.open\nTwo.new.rest\n"},
        "Two.go",
        {"Whole.settle exact", "One.rest exact"},
    ),
    "a method of the class itself, called there": (
        {"a.rb": "class One\n  def rest; end\nend\nclass Two < One\n  def self.rest; end\n  def self.go\n    rest\n    new.rest\n    self\n  end\n"
                 "  go.rest\nend\n"},
        "Two.go",
        {"Two exact", "Two.rest exact", "One.rest exact"},
    ),
    "the class that a test describes": (
        {"a.rb": "class One\n  def settle; end\n  def self.rest; end\n  def stay; end\nend\n"
                 "class Two\n  def settle; end\n  def self.rest; end\n  def stay; end\nend\n",
         "spec/one_spec.rb": "class Kept\n  RSpec.describe One do\n    let(:one) { described_class.new }\n    it 'a' do\n      one.settle\n"
                             "      described_class.rest\n      subject.stay\n    end\n  end\nend\n"},
        "Kept",
        {"One typed", "One.settle typed", "One.rest typed", "One.stay typed"},
    ),
    "the one instance of a class, and a method that is handed on": (
        {"a.rb": "require 'forwardable'\nclass One\n  include Singleton\n  def settle; end\n  def settled_name; end\nend\n"
                 "class Two\n  def settle; end\n  extend Forwardable\n  def_delegators :@one, :settled_name, :other\nend\n"
                 "class Use\n  def go(x)\n    One.instance.settle\n    x.settled_name\n  end\nend\n"},
        "Use.go",
        {"One.settle typed", "One.settled_name guess"},
    ),
    "a module that a block of a test is given, and one that a file is": (
        {"a.rb": "module One\n  def settle; end\nend\nmodule Two\n  def settle; end\n  def rest; end\nend\nmodule Three\n  def rest; end\nend\n",
         "spec/one_spec.rb": "class Kept\n  describe 'a' do\n    include One\n    include Out\n    it { settle(1) }\n  end\nend\n",
         "b.rb": "include Three\nclass Use\n  def go\n    rest(1)\n  end\nend\n"},
        "Use.go",
        {"Three.rest typed"},
    ),
    "a module that only a block is given": (
        {"a.rb": "module One\n  def settle; end\nend\nmodule Two\n  def settle; end\nend\n",
         "spec/one_spec.rb": "class Kept\n  describe 'a' do\n    include One\n    include Out\n    it { settle(1) }\n  end\nend\n"},
        "Kept",
        {"One.settle typed"},
    ),
    "a class that has the last part of another's name": (
        {"lib/a.rb": "module All\n  class Base\n    def settle; end\n  end\n  class Reader < Base\n  end\nend\n",
         "example/b.rb": "class Reader < All::Base\n  def settle; end\nend\n",
         "lib/c.rb": "class Use\n  def go\n    All::Reader.new.settle\n  end\nend\n"},
        "Use.go",
        {"All.Reader exact", "All.Base.settle exact"},
    ),
    "a module that is included comes before the class that is extended": (
        {"a.rb": "class One\n  def settle; end\n  def rest; end\nend\nmodule Two\n  def settle; end\nend\n"
                 "module Three\n  def settle; end\n  def rest; end\nend\nclass Use < One\n  include Two\n  include Three\n  def go\n    settle\n    rest\n  end\nend\n"},
        "Use.go",
        {"Three.settle exact", "Three.rest exact"},
    ),
    "a class without a name": (
        {"a.rb": "class One\n  def self.settle(x); end\n  def rest; end\nend\nclass Two\n  def self.settle(x); end\n  def rest; end\nend\n"
                 "class Use\n  def go\n    Class.new(One) do\n      settle :a\n      define_method(:b) { rest }\n    end\n  end\nend\n"},
        "Use.go",
        {"One.settle typed", "One.rest typed"},
    ),
}  # fmt: skip
RUST = {
    "a trait's method for a type that has one of that name": (
        {"src/lib.rs": "pub trait Text { fn len(&self) -> usize; fn settle(&self) -> usize; }\n"
                       "impl Text for str {\n    fn len(&self) -> usize { self.len() + self.settle() }\n    fn settle(&self) -> usize { 1 }\n}\n"},
        "str.len",
        {"str.settle exact"},
    ),
    "a type parameter has the methods of its bound": (
        {"src/lib.rs": "trait Vector { type Mask: Bits; fn settle(self) -> u8; fn mask(self) -> Self::Mask; }\ntrait Bits { fn count_bits(self) -> u8; }\n"
                       "struct One<V> { v: V }\nstruct Two;\nimpl Two { fn settle(self) -> u8 { 1 } fn count_bits(self) -> u8 { 1 } }\n"
                       "impl<V: Vector> One<V> {\n    fn go(&self) { self.v.settle(); let m = self.v.mask(); m.count_bits(); }\n}\n"},
        "One.go",
        {"Vector.settle typed", "Vector.mask typed", "Bits.count_bits typed"},
    ),
    "a bound after where": (
        {"src/lib.rs": "trait Pick { fn settle(&self); }\nstruct Two;\nimpl Two { fn settle(&self) {} }\nfn go<T>(x: T) where T: Pick { x.settle(); }\n"},
        "go",
        {"Pick.settle typed"},
    ),
    "fields with numbers": (
        {"src/lib.rs": "struct In;\nimpl In { fn settle(&self) {} }\nstruct Two;\nimpl Two { fn settle(&self) {} }\n"
                       "struct Out(u8, In);\nimpl Out { fn go(&self) { self.1.settle(); } }\n"},
        "Out.go",
        {"In.settle typed"},
    ),
    "a field and a method of one name": (
        {"src/lib.rs": "struct In;\nimpl In { fn settle(&self) {} }\nstruct Two;\nimpl Two { fn settle(&self) {} }\n"
                       "struct Out { part: In }\nimpl Out { fn part(&self) -> Two { Two } fn go(&self) { self.part.settle(); } }\n"},
        "Out.go",
        {"In.settle typed"},
    ),
    "what a variant holds": (
        {"src/lib.rs": "struct In;\nimpl In { fn settle(&self) {} }\nstruct Two;\nimpl Two { fn settle(&self) {} fn rest(&self) {} }\nstruct Three;\nimpl Three { fn rest(&self) {} }\n"
                       "enum Kind { One(u8, In), Two { two: Two }, None }\n"
                       "fn go(kind: Kind) {\n    match kind {\n        Kind::One(_, ref x) => x.settle(),\n        Kind::Two { two } => two.rest(),\n        _ => {}\n    }\n}\n"},
        "go",
        {"In.settle typed", "Two.rest typed"},
    ),
    "a name of a type in a macro": (
        {"src/lib.rs": "struct In;\nimpl In { fn char(&self) -> u8 { 1 } fn go(&self) { assert_eq!(self.char(), 1); } }\n"},
        "In.go",
        {"In.char exact"},
    ),
    "a trait's method, where all others of its name implement it": (
        {"src/lib.rs": "trait Pointer { fn settled_at(self) -> u8; }\nimpl<T> Pointer for *const T { fn settled_at(self) -> u8 { 1 } }\n"
                       "impl<T> Pointer for *mut T { fn settled_at(self) -> u8 { 1 } }\nfn go(p: *const u8) { p.settled_at(); }\n"},
        "go",
        {"Pointer.settled_at unique"},
    ),
    "a method that is declared for several arguments of a type": (
        {"src/lib.rs": "struct Slim<const N: usize>;\nimpl Slim<1> { fn settle(&self) { self.rest(); } fn rest(&self) {} }\n"
                       "impl Slim<2> { fn settle(&self) { self.rest(); } fn rest(&self) {} }\n"},
        "Slim<2>.settle",
        {"Slim<2>.rest exact"},
    ),
    "a method that is declared for several arguments, where those are not known": (
        {"src/lib.rs": "struct Slim<const N: usize>;\nimpl Slim<1> { fn rest(&self) {} }\nimpl Slim<2> { fn rest(&self) {} }\n"
                       "fn go(x: Slim<1>) { x.rest(); }\n"},
        "go",
        {"Slim<1>.rest guess", "Slim<2>.rest guess"},
    ),
    "a type's own method before a trait's of its name": (
        {"src/lib.rs": "trait Pick { fn settle(&self); }\nstruct One;\nimpl Pick for One { fn settle(&self) { self.settle(); } }\n"
                       "impl One { fn settle(&self) {} }\n"},
        "<One as Pick>.settle",
        {"One.settle exact"},
    ),
    "a trait's method that a type has for several arguments": (
        {"src/lib.rs": "trait Pick<T> { fn settle(&self, x: T); }\nstruct One;\nimpl Pick<u8> for One { fn settle(&self, x: u8) {} }\n"
                       "impl Pick<u16> for One { fn settle(&self, x: u16) {} }\nfn go(x: One) { x.settle(1); }\n"},
        "go",
        {"Pick.settle typed"},
    ),
    "what a type parameter and an associated type have": (
        {"src/lib.rs": "trait Bits { fn none() -> u8; }\ntrait Vector { type Mask: Bits + Copy; fn fill() -> u8; fn rest(&self); }\nstruct Two;\n"
                       "impl Two { fn none() -> u8 { 1 } fn fill() -> u8 { 1 } fn rest(&self) {} }\nstruct One<V> { v: V }\n"
                       "impl<V: Vector + ?Sized> One<V> { fn go(&self) { V::fill(); V::Mask::none(); self.v.rest(); } }\n"},
        "One.go",
        {"Vector.fill typed", "Bits.none typed", "Vector.rest typed"},
    ),
    "an element of an array or a slice": (
        {"src/lib.rs": "struct One;\nimpl One { fn settle(&self) {} fn rest(&self) {} }\nstruct Two;\nimpl Two { fn settle(&self) {} fn rest(&self) {} }\n"
                       "fn go(all: &[One], few: [Two; 2]) { all[0].settle(); few[1].rest(); }\n"},
        "go",
        {"One.settle typed", "Two.rest typed"},
    ),
    "a name that each arm of a match binds to another type": (
        {"src/lib.rs": "struct One;\nimpl One { fn settle(&self) {} }\nstruct Two;\nimpl Two { fn settle(&self) {} }\nenum Kind { A(One), B(Two) }\n"
                       "fn go(kind: &Kind) { match *kind { Kind::A(ref x) => x.settle(), Kind::B(ref x) => x.settle() } }\n"},
        "go",
        {"One.settle typed", "Two.settle typed"},
    ),
    "a module below the own one, and the one above": (
        {"src/lib.rs": "mod a;\nmod b;\n", "src/a.rs": "pub struct One;\nimpl One { pub fn new() {} fn go(&self) { self::lower(); super::b::rest(); } }\n"
                       "pub fn lower() {}\n", "src/b.rs": "pub fn rest() {}\npub fn lower() {}\n"},
        "One.go",
        {"lower exact", "rest exact"},
    ),
    "what an iterator yields, and what an option holds": (
        {"src/lib.rs": "struct One;\nimpl One { fn settle(&self) {} fn rest(&self) {} }\nstruct Two;\nimpl Two { fn settle(&self) {} fn rest(&self) {} }\n"
                       "struct All;\nimpl Iterator for All { type Item = One; fn next(&mut self) -> Option<One> { None } }\nfn all() -> All { All }\n"
                       "fn go(two: Option<Two>) { for x in all() { x.settle(); } two.map(|y| y.rest()); }\n"},
        "go",
        {"all exact", "One.settle typed", "Two.rest typed"},
    ),
    "a type that a condition imports or declares": (
        {"src/lib.rs": "#[cfg(a)]\nuse std::sync::atomic::Count;\n#[cfg(not(a))]\nstruct Count;\nimpl Count { fn settle() {} }\nfn go() { Count::settle(); }\n"
                       "struct Two;\nimpl Two { fn settle() {} }\n"},
        "go",
        {"Count.settle guess", "Two.settle guess"},
    ),
    "a name that a module hands on, and that its parts import from there": (
        {"src/lib.rs": "mod read;\n", "src/read/mod.rs": "mod a;\npub use self::a::*;\nmod b;\npub use self::b::*;\n",
         "src/read/a.rs": "use crate::read::{Pick, Two};\npub fn go<T: Pick>(x: T) { x.settle(); }\n",
         "src/read/b.rs": "pub trait Pick { fn settle(&self); }\npub struct Two;\nimpl Two { fn settle(&self) {} }\n"},
        "go",
        {"Pick.settle typed"},
    ),
    "a type parameter with several bounds": (
        {"src/lib.rs": "trait Pick { fn settle(&self); }\ntrait Rest { fn rest(&self); }\nstruct Two;\nimpl Two { fn settle(&self) {} fn rest(&self) {} }\n"
                       "struct One<T> { x: T }\nimpl<T: Pick> One<T> where T: Rest + Clone { fn go(&self, y: T) { y.settle(); self.x.rest(); } }\n"},
        "One.go",
        {"Pick.settle typed", "Rest.rest typed"},
    ),
    "a path that begins with a type and its trait": (
        {"src/lib.rs": "trait Told { fn settle(); }\ntrait Pick { type Error: Told; fn rest(&self); }\nstruct Two;\nimpl Two { fn settle() {} fn rest(&self) {} }\n"
                       "fn go<F: Pick>(f: F) { <F as Pick>::Error::settle(); <F as Pick>::rest(&f); }\n"},
        "go",
        {"Told.settle typed", "Pick.rest exact"},
    ),
    "a method of a trait that extends the library's": (
        {"src/lib.rs": "trait Pick: Clone { fn settled_at(&self) -> u8; fn wrapping_add(&self) -> u8; }\nimpl Pick for u8 { fn settled_at(&self) -> u8 { 1 } fn wrapping_add(&self) -> u8 { 1 } }\n"
                       "fn go() { let (x, _) = made(); x.settled_at(); x.wrapping_add(); }\n"},
        "go",
        {"Pick.settled_at unique"},
    ),
    "a type that a macro declares": (
        {"src/lib.rs": "mod kinds;\nuse crate::kinds::Kind;\nfn go(kind: kinds::Kind, other: Kind) { kind.settle(); other.rest(); }\n"
                       "struct Two;\nimpl Two { fn settle(&self) {} fn rest(&self) {} }\n",
         "src/kinds.rs": "numbered! { Kind(u8) { A = 1 } }\nimpl Kind { pub fn settle(&self) {} pub fn rest(&self) {} }\n"},
        "go",
        {"Kind.settle typed", "Kind.rest typed"},
    ),
    "a type that is named as one of the library's containers": (
        {"src/lib.rs": "mod map;\nmod set;\n", "src/map.rs": "pub struct HashMap<K, V> { k: K, v: V }\nimpl<K, V> HashMap<K, V> { pub fn settle(&self) {} }\n",
         "src/set.rs": "use super::map::{self, HashMap};\nstruct Two;\nimpl Two { fn settle(&self) {} fn rest(&self) {} }\nstruct Set<T> { map: HashMap<T, ()> }\nimpl<T> Set<T> { fn go(&self) { self.map.settle(); } }\n"},
        "Set.go",
        {"HashMap.settle typed"},
    ),
    "a function beside a module of its name": (
        {"src/lib.rs": "mod wrap;\nmod a;\npub use wrap::wrap;\n", "src/wrap.rs": "pub fn wrap() {}\npub fn rest() {}\n",
         "src/a.rs": "use crate::wrap;\nfn go() { wrap(); wrap::rest(); }\n"},
        "go",
        {"wrap exact", "rest exact"},
    ),
    "a module in its parent's file that hands names on": (
        {"src/lib.rs": "mod a;\nmod b;\npub mod prelude { pub use crate::a::*; pub use super::a::One as First; }\nstruct Two;\nimpl Two { fn settle(&self) {} fn rest(&self) {} }\n",
         "src/a.rs": "pub struct One;\nimpl One { pub fn settle(&self) {} pub fn rest(&self) {} }\n",
         "src/b.rs": "use crate::prelude::*;\nuse crate::prelude::First;\nfn go(x: One, y: First) { x.settle(); y.rest(); }\n"},
        "go",
        {"One.settle typed", "One.rest typed"},
    ),
    "the file around a module in it": (
        {"src/lib.rs": "mod a;\npub fn low() {}\n", "src/a.rs": "fn here() {}\nfn there() {}\nmod inner { use super::here; fn go() { here(); super::there(); } }\n"},
        "inner.go",
        {"here exact", "there exact"},
    ),
    "what a bound says that a type turns into, or yields": (
        {"src/lib.rs": "struct One;\nimpl One { fn settle(&self) {} fn rest(&self) {} }\nstruct Two;\nimpl Two { fn settle(&self) {} fn rest(&self) {} }\n"
                       "fn go<I, O>(all: I, opt: O) where I: IntoIterator<Item = One>, O: Into<One> { for x in all { x.settle(); } opt.into().rest(); }\n"},
        "go",
        {"One.settle typed", "One.rest typed"},
    ),
    "a variable that is made by a function of its name": (
        {"src/lib.rs": "struct One;\nimpl One { fn settle(&self) {} }\nstruct Two;\nimpl Two { fn settle(&self) {} fn rest(&self) {} }\nfn made(x: u8) -> One { One }\nfn go() { let made = made(1); made.settle(); }\n"},
        "go",
        {"made exact", "One.settle typed"},
    ),
    "a variable that a method of its own makes another": (
        {"src/lib.rs": "struct One;\nimpl One { fn some(&self) -> &[u8] { &[] } fn settle(&self) {} }\n"
                       "struct Two;\nimpl Two { fn settle(&self) {} }\nfn go(x: &One) { let x = x.some(); x.settle(); }\n"},
        "go",
        {"One.some typed"},
    ),
    "what an alias stands for": (
        {"src/lib.rs": "struct One;\nimpl One { fn new() {} }\ntype Other = One;\nstruct Two;\nimpl Two { fn new() {} }\nfn go() { Other::new(); }\n"},
        "go",
        {"One.new exact"},
    ),
    "what a pointer leads to": (
        {"src/lib.rs": "struct One;\nimpl One { fn settle(&self) {} }\nstruct Two;\nimpl Two { fn settle(&self) {} fn rest(&self) {} }\nstruct Guard;\nimpl Deref for Guard { type Target = One; fn deref(&self) -> &One { &One } }\n"
                       "fn go(guard: Guard) { guard.settle(); }\n"},
        "go",
        {"One.settle guess", "Two.settle guess"},
    ),
    "itself, where a reference has the trait": (
        {"src/lib.rs": "struct One;\nimpl One { fn settle(&self) {} }\nstruct Two;\nimpl Two { fn settle(&self) {} fn rest(&self) {} }\nimpl<'a> IntoIterator for &'a One { fn into_iter(self) { self.settle() } }\n"},
        "'a One.into_iter",
        {"One.settle exact"},
    ),
    "items that macros wrap": (
        {"src/lib.rs": "pin_project! {\n    pub struct One { #[pin] part: In }\n}\nstruct In;\nimpl In { fn settle(&self) {} }\nstruct Two;\nimpl Two { fn settle(&self) {} fn rest(&self) {} }\n"
                       "cfg_if! {\n    if #[cfg(unix)] {\n        fn low() {}\n    } else {\n        struct Other;\n        impl Other { fn rest(&self) {} }\n    }\n}\n"
                       "impl One {\n    cfg_net! {\n        pub fn go(&self, other: Other) { self.part.settle(); low(); other.rest(); }\n    }\n}\n"
                       "macro_rules! cfg_net { ($($item:item)*) => { $($item)* } }\n"},
        "One.go",
        {"In.settle typed", "low exact", "Other.rest typed"},
    ),
    "what a closure is given": (
        {"src/lib.rs": "struct One;\nimpl One { fn settle(&self) {} fn rest(&self) {} fn last(&self) {} fn with<T>(&mut self, n: u8, f: impl for<'a> FnMut(u8, &'a mut One) -> T) {} }\n"
                       "struct Two;\nimpl Two { fn settle(&self) {} fn rest(&self) {} fn last(&self) {} }\n"
                       "fn with<F>(f: F) where F: FnOnce(&mut One) {}\nfn by(f: &mut dyn Fn(&One)) {}\n"
                       "fn go(mut one: One) { with(|x| x.settle()); by(&mut |x| x.rest()); one.with(1, |_, x| { x.last() }); }\n"},
        "go",
        {"One.with typed", "with exact", "by exact", "One.settle typed", "One.rest typed", "One.last typed"},
    ),
    "a trait for every type with a bound": (
        {"src/lib.rs": "use lib::{Flow, Read};\nmod ext;\nstruct One;\nimpl Flow for One {}\nstruct Other<S: Flow> { part: S }\n"
                       "impl<S: Flow> Other<S> { fn go<I: Iterator, R: Flow>(&self, one: One, it: I, r: R) { self.part.nth(1); one.last(); r.min(); it.count(); } }\n",
         "src/ext.rs": "use lib::Flow;\npub trait FlowExt: Flow { fn nth(self, n: u8); fn last(self); fn min(self); fn count(self); }\nimpl<S: Flow + ?Sized> FlowExt for S {}\n"},
        "Other.go",
        {"FlowExt.nth typed", "FlowExt.last typed", "FlowExt.min typed"},
    ),
    "a pinned receiver": (
        {"src/lib.rs": "use lib::Write;\nstruct One;\nimpl One { fn settle(self: Pin<&mut Self>) {} }\nstruct Two;\nimpl Two { fn settle(&self) {} }\n"
                       "impl Write for One { fn go(mut self: Pin<&mut Self>) { ready!(self.as_mut().settle()); } }\n"},
        "One.go",
        {"One.settle typed"},
    ),
    "names that patterns bind": (
        {"src/lib.rs": "struct One;\nimpl One { fn settle(&self) {} fn rest(&self) {} fn last(&self) {} }\nstruct Two;\nimpl Two { fn settle(&self) {} fn rest(&self) {} }\nfn made() -> One { One }\n"
                       "fn go(all: &[One], x: Option<&One>) { for &one in all { one.settle(); } if let Some(&two) = x { two.rest(); } match made() { other => other.last() } }\n"},
        "go",
        {"made exact", "One.settle typed", "One.rest typed", "One.last typed"},
    ),
}  # fmt: skip
PHP = {
    "a class in a namespace of a class's name": (
        {"a.php": "<?php\nnamespace P\\Node;\nclass Expr {}\n", "b.php": "<?php\nnamespace P\\Node\\Expr;\nclass Cast {}\n",
         "c.php": "<?php\nnamespace P\\Node\\Expr\\Cast;\nclass Text { public function settle() {} public static function make() {} }\n",
         "use.php": "<?php\nnamespace Q;\nuse P\\Node\\Expr;\nfunction go() { $x = new Expr\\Cast\\Text(); $x->settle(); Expr\\Cast\\Text::make(); }\n"},
        "go",
        {"Text exact", "Text.settle typed", "Text.make exact"},
    ),
    "what a method returns without saying so": (
        {"a.php": "<?php\nclass Maker { public function one() { return $this; } public function settle() {} }\nclass Two { function settle() {} }\n"
                  "class Use1 { protected function made() { return new Maker(); }\n  public function go() { $this->made()->one()->settle(); } }\n"},
        "Use1.go",
        {"Use1.made exact", "Maker.one typed", "Maker.settle typed"},
    ),
    "a method that gives what it is called on": (
        {"a.php": "<?php\nabstract class Base { /** @return $this */ public function set() { return $this; } function made() {} }\n"
                  "class One extends Base { function made() {} }\nfunction go() { $x = new One(); $x->set()->set()->made(); }\n"},
        "go",
        {"One exact", "Base.set typed", "One.made typed"},
    ),
    "a class that a variable names": (
        {"a.php": "<?php\nclass One { function settle() {} }\nclass Two { function settle() {} }\n"
                  "function go(array $all, array $told) { $x = new $told['a'](1); $x->settle(); foreach ($all as $one) { $one->settle(); } }\n"},
        "go",
        {"One.settle guess", "Two.settle guess"},
    ),
    "types that comments tell": (
        {"a.php": "<?php\nnamespace A;\nclass One { function settle() {} }\nclass Two { function settle() {} function rest() {} }\nclass Three { function rest() {} }\n"
                  "class Use1 {\n  /** @var One[] all of them */\n  private array $ones;\n  /**\n   * @param array<string, Two> $all\n   * @return $this\n   */\n"
                  "  public function go($all) {\n    foreach ($this->ones as $one) { $one->settle(); }\n    foreach ($all as $key => $two) { $two->rest(); }\n  }\n}\n"},
        "Use1.go",
        {"One.settle typed", "Two.rest typed"},
    ),
    "types that comments before statements tell": (
        {"a.php": "<?php\nclass Base {}\nclass One { function settle() {} }\nclass Two { function settle() {} function rest() {} }\nclass Three { function rest() {} }\n"
                  "function made(): Base {}\nfunction go($all, Three $left) {\n  /** @var One $x the first */\n  $x = made();\n  $x->settle();\n"
                  "  /** @var Two $y */\n  foreach ($all as $y) { $y->rest(); }\n  /** @var Other & Three $left */\n  $left = made();\n  $left->rest();\n}\n"},
        "go",
        {"made exact", "One.settle typed", "Two.rest typed", "Three.rest typed"},
    ),
    "a list whose elements a comment tells": (
        {"a.php": "<?php\nclass One { function settle() {} function rest() {} }\nclass Two { function settle() {} function rest() {} }\n"
                  "class Maker { /** @return list<One> */ function all(): array { return [1]; } }\n"
                  "class Use1 {\n  /** @param iterable<Two> $twos */\n  public function __construct(private iterable $twos) {}\n"
                  "  function go(Maker $maker) { foreach ($this->twos as $two) { $two->rest(); }\n    $one = $maker->all()[0] ?? throw new Exception; $one->settle(); }\n}\n"},
        "Use1.go",
        {"Maker.all typed", "One.settle typed", "Two.rest typed"},
    ),
    "one of two values": (
        {"a.php": "<?php\nclass One { function settle() {} function rest() {} function made(): One {} }\nclass Two { function settle() {} function rest() {} }\n"
                  "class Three { function settle() {} }\nfunction go(?One $one, ?Two $two) { ($one ?? $two)->settle(); $x = $two ?: $one; $y = (clone $one); $y->rest(); }\n"},
        "go",
        {"One.settle typed", "Two.settle typed", "One.rest typed"},
    ),
    "parameters for all that follows": (
        {"a.php": "<?php\nclass One { function settle() {} }\nclass Two { function settle() {} }\nfunction go(One ...$all) { foreach ($all as $one) { $one->settle(); } }\n"},
        "go",
        {"One.settle typed"},
    ),
}  # fmt: skip


SCRIPT = {
    "what a callback in a callback declares": (
        {"a.test.ts": "describe('a', () => {\n  it('b', () => {\n    class One { settle() {} }\n    function made() {}\n    made();\n"
                      "    const one: One = new One();\n    [1].map(() => one.settle());\n  });\n});\n"},
        "",
        {"One exact", "made exact", "One.settle typed"},
    ),
    "a function in a callback that is another later": (
        {"a.ts": "export const go = (all: number[]) => {\n  return all.map(() => {\n    let stop = () => undefined;\n    const run = () => { stop(); };\n"
                 "    stop = () => undefined;\n    return run;\n  });\n};\n"},
        "go.run",
        {"go.stop exact"},
    ),
    "a constant function that calls itself": (
        {"a.ts": "export const walk = <T>(all: T[]) => {\n  all.forEach((each) => walk([each]));\n};\n"},
        "walk",
        {"walk exact"},
    ),
}  # fmt: skip
_PAN = "class Pan{}{}:\n    def settle_it(self): ...\n"
_CALL = "def go(x): x.settle_it()\n"
REST = {
    "java: parameters for all that follows": (
        {"One.java": "class One { void settle() {} }\n", "Two.java": "class Two { void settle() {} }\n",
         "Use.java": "class Use { void go(One... all) { for (var one : all) one.settle(); all[0].settle(); } }\n"},
        "Use.go",
        {"One.settle typed"},
    ),
    "go: parameters for all that follows": (
        {"a.go": "package a\n\ntype One struct{}\ntype Two struct{}\n\nfunc (o *One) settle() {}\nfunc (t *Two) settle() {}\n\n"
                 "func Go(all ...*One) {\n\tfor _, one := range all {\n\t\tone.settle()\n\t}\n}\n"},
        "Go",
        {"One.settle typed"},
    ),
    "c++: what a template gives where a condition holds": (
        {"a.cpp": "struct One {\n  template <class F> auto act(F &&f) -> std::enable_if_t<is_called<F>, One &> { return *this; }\n  One &settle() { return *this; }\n};\n"
                  "struct Two { void settle() {} };\nvoid go(One &one) { one.act([] {}).settle(); }\n"},
        "go",
        {"One.act typed", "One.settle typed"},
    ),
}  # fmt: skip


MANY = {
    "a method, and a function in a function of its name": (
        {"a.py": _PAN.format("", "") + "def one():\n    def settle_it(): ...\n", "b.py": _CALL},
        "go",
        {"Pan.settle_it unique"},
    ),
    "a method that many override": (
        {"a.py": "".join(_PAN.format(n, "(Pan0)" if n else "") for n in range(40)), "b.py": _CALL},
        "go",
        {"Pan0.settle_it guess"},
    ),
    "more methods than are compared": (
        {"a.py": "".join(_PAN.format(n, "(Pan0)" if n else "") for n in range(41)), "b.py": _CALL},
        "go",
        set(),
    ),
    "methods of a few files": (
        {f"{n}.py": _PAN.format(n, "") for n in range(4)} | {"b.py": _CALL},
        "go",
        {f"Pan{n}.settle_it guess" for n in range(4)},
    ),
    "methods of too many files": ({f"{n}.py": _PAN.format(n, "") for n in range(5)} | {"b.py": _CALL}, "go", set()),
}


@pytest.mark.parametrize("case", [*RUBY, *RUST, *PHP, *SCRIPT, *REST, *MANY])
def test_a_call_leads_to_what_is_meant(case, repo, engine):
    files, source, expected = (RUBY | RUST | PHP | SCRIPT | REST | MANY)[case]
    graph = engine(repo("app", files)).codebase.graph()
    nodes = {node.id: node.qualified for node in graph.every()}
    calls = [edge for edge in graph.every_edge(tuple(Tier)) if edge.relation is Relation.CALLS]
    assert {f"{nodes[edge.target]} {edge.tier}" for edge in calls if nodes[edge.source] == source} == expected
