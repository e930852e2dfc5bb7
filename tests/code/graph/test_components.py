"""Components of Vue and Svelte: what their scripts declare, and what their markup refers to."""

from __future__ import annotations

import pytest

from vademecum.code.languages import rules_of

MONEY = "export function shown(value: number) { return String(value) }\nexport function unused() {}\n"
CART = """<script setup lang="ts">
import Price from './Price.vue'
import { shown } from './money'
const busy = ref(false)
async function submitOrder() { busy.value = true }
function total(items: Item[]) { return items.length }
function forgotten() {}
const colour = computed(() => 'red')
const box = ref()
</script>

<template>
  <!-- forgotten() -->
  <div v-if="items.length" :class="{ busy: busy, wide: true }">
    <Price v-for="(item, i) in items" :key="i" :value="total(items)" />
    <button ref="box" @click="submitOrder">submitOrder</button>
    <p>{{ shown(total(items)) }} euro</p>
  </div>
</template>

<style scoped>.busy { color: v-bind(colour) }</style>
"""
PRICE = """<template><span>{{ label() }}</span></template>
<script>
export default {
  methods: {
    label() { return this.rounded(this.value) },
    rounded(v) { return v },
  },
}
</script>
"""
TODO = """<script lang="ts">
  import { shown } from './money'
  import Row from './Row.svelte'
  export let items: string[] = []
  function remove(item: string) { items = items.filter((x) => x !== item) }
  function visible(item: string) { return item.length > 1 }
  function clear() { items = [] }
</script>

<!-- visible() -->
{#if items.length}
  {#each items as item, i (item)}
    {#if visible(item)}
      <Row label={shown(i)} on:remove={() => remove(item)} opts={{ a: 1 }} />
    {:else if i > 3}
    {/if}
  {/each}
  <button onclick={clear}>Clear {items.length}</button>
{/if}
<style> p { color: red; } </style>
"""
FILES = {"money.ts": MONEY, "Cart.vue": CART, "Price.vue": PRICE, "Todo.svelte": TODO, "Row.svelte": "<p>a</p>\n"}


@pytest.fixture(scope="module")
def codebase(engine_to_read):
    return engine_to_read("shop", FILES).codebase


@pytest.mark.parametrize(
    ("name", "callers"),
    [
        ("submitOrder", {("Cart.vue", 16)}),
        ("total", {("Cart.vue", 15)}),  # the first line that shows the reference
        ("shown", {("Cart.vue", 17), ("Todo.svelte", 14)}),
        ("colour", {("Cart.vue", 21)}),
        ("box", {("Cart.vue", 16)}),
        ("rounded", {("Price.vue", 5)}),
        ("remove", {("Todo.svelte", 14)}),
        ("visible", {("Todo.svelte", 13)}),
        ("clear", {("Todo.svelte", 18)}),
    ],
)
def test_scripts_and_markup_call(codebase, name, callers):
    assert {(each.path, each.line) for each in codebase.callers(name).found} == callers


@pytest.mark.parametrize("name", ["forgotten", "unused"])
def test_a_comment_of_the_markup_calls_nothing(codebase, name):
    assert codebase.callers(name).verdict == "none"


def test_a_method_that_the_markup_names_is_not_said_to_be_unused(codebase):
    answer = codebase.callers("label")
    assert answer.verdict == "unknown"
    assert [(each.path, each.lines) for each in answer.uncovered] == [("Price.vue", (1,))]


def test_functions_of_components_are_definitions(codebase):
    """With their own lines, below a template too."""
    assert codebase.search("Price.rounded").evidence[0].path == "Price.vue"
    found = codebase.symbol("rounded").evidence[0]
    assert (found.start_line, found.end_line) == (6, 6)
    assert codebase.search("submit order", k=1).evidence[0].symbols[0] == "submitOrder"


@pytest.mark.parametrize(
    "text",
    [
        "<script>",
        "<script>a(",
        "{{ a",
        "<template>{{ }}</template>",
        '<A :b="',
        "<!-- a",
        "<script></script>" * 3,
        "é{{ é() }}",
    ],
)
@pytest.mark.parametrize("path", ["A.vue", "A.svelte"])
def test_what_is_no_component_is_found_as_text(repo, engine, path, text):
    codebase = engine(repo("broken", {path: f"{text}\nneedle\n"})).codebase
    assert codebase.search("needle").evidence[0].path == path


@pytest.mark.parametrize(
    "again", [b"<script>", b"<script '", b"<!--", b"{{", b"{a", b"{{a}", b" :a='b", b"<style>v-bind("]
)
@pytest.mark.parametrize("language", ["vue", "svelte"])
def test_markup_that_nothing_closes_is_read_in_linear_time(language, again, bounded):
    """The text keeps its length and its lines, so that places in the script stay where they are."""
    content = (again + b"\n") * (300_000 // len(again))
    read = rules_of(language).readable(content)
    assert len(read) == len(content)
    assert read.count(b"\n") == content.count(b"\n")
