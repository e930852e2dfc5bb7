// Colours for code: one scanner, told by a few lines per language what comments, strings and words look like. It reads
// tokens, not grammar: a keyword inside a template is a keyword. A piece that begins inside a string needs what stands before it.
// Every pattern either ends where the text does or reads a bounded stretch: a file may be written to be slow.
//
//   lines("def f(x):  # twice", "python")
//   → [[["keyword", "def"], ["", " "], ["name", "f"], ["", "(x):  "], ["comment", "# twice"]]]

const words = (text) => new Set(text.split(" "));
const C_WORDS = "break case class const continue default do else enum extern false for goto if inline long null new private protected public return short signed sizeof static struct switch this throw true try catch typedef union unsigned using virtual void volatile while int char bool float double auto namespace template typename override operator";
const JS_WORDS = "abstract any as async await boolean break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in instanceof interface keyof let namespace never new null number of private protected public readonly return satisfies set static string super switch this throw true try type typeof undefined unknown var void while yield";
const END = "$(?![^])";  // of the text: in this mode `$` alone is the end of a line
const SLASHES = `//[^\\n]*|/\\*[^]*?(?:\\*/|${END})`;
const HASH = "#[^\\n]*";
const QUOTES = String.raw`"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?`;
const DOUBLE = String.raw`"(?:\\[^]|[^"\\])*"?`;
const CHAR = String.raw`'(?:\\[^\n]{1,9}|[^'\\\n])'`;
const TICKS = "`(?:\\\\[^]|[^`\\\\])*`?";

const C = { comment: SLASHES, string: `${DOUBLE}|${CHAR}`, meta: String.raw`^[ \t]*#[ \t]*\w+`, words: words(C_WORDS) };
const JS = { comment: SLASHES, string: `${QUOTES}|${TICKS}`, meta: "@[\\w.]+", words: words(JS_WORDS) };
const of = (spec, more) => ({ ...spec, words: words(more) });

const LANGUAGES = {
  python: {
    comment: HASH, meta: "^[ \\t]*@[\\w.]+",
    string: String.raw`[rRbBfFuUtT]{0,2}(?:"""(?:\\[^]|[^\\])*?(?:"""|$(?![^]))|'''(?:\\[^]|[^\\])*?(?:'''|$(?![^]))|"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?)`,
    words: words("False None True and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return self cls try type while with yield"),
  },
  javascript: JS, typescript: JS, tsx: JS, jsx: JS, c: C, cpp: C,
  java: of(JS, `${C_WORDS} abstract assert boolean byte extends final finally implements import instanceof interface native package record sealed super synchronized throws transient var yield`),
  csharp: of(JS, `${C_WORDS} abstract as async await base byte checked decimal delegate event explicit finally fixed foreach get implicit in interface internal is lock object out params partial readonly record ref sealed set string unsafe var where yield`),
  go: { ...JS, string: `${DOUBLE}|${CHAR}|${TICKS}`, words: words("break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false string int int64 error bool byte any") },
  rust: { comment: SLASHES, string: `b?r#{0,9}"[^]*?(?:"#*|${END})|${DOUBLE}|${CHAR}`, meta: "#!?\\[[^\\]\\n]{0,200}\\]", words: words("as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while") },
  swift: of(JS, "actor any as associatedtype async await break case catch class continue default defer deinit do else enum extension fallthrough false fileprivate for func guard if import in init inout internal is let mutating nil open operator override private protocol public repeat return self Self some static struct subscript super switch throw throws true try typealias var weak where while"),
  kotlin: of(JS, "abstract as break by class companion const constructor continue crossinline data do else enum false final for fun get if import in init inline inner interface internal is lateinit null object open operator out override package private protected public return sealed set super suspend this throw true try typealias val var vararg when where while"),
  scala: of(JS, "abstract case catch class def do else enum export extends extension false final finally for forSome given if implicit import lazy match new null object override package private protected return sealed super then this throw trait true try type using val var while with yield"),
  php: { ...JS, comment: `${SLASHES}|${HASH}`, words: words("abstract and array as break case catch class clone const continue declare default do echo else elseif enum extends final finally fn for foreach function global if implements instanceof interface match namespace new null or private protected public readonly require return static switch this throw trait true false try use var while yield") },
  ruby: { comment: HASH, string: QUOTES, meta: ":[a-z_]\\w*", words: words("alias and begin break case class def defined do else elsif end ensure false for if in module next nil not or private protected public raise redo require rescue retry return self super then true undef unless until when while yield") },
  lua: { comment: `--\\[\\[[^]*?(?:\\]\\]|${END})|--[^\\n]*`, string: `${QUOTES}|\\[\\[[^]*?(?:\\]\\]|${END})`, words: words("and break do else elseif end false for function goto if in local nil not or repeat return then true until while self") },
  elixir: { comment: HASH, string: `"""[^]*?(?:"""|${END})|${QUOTES}`, meta: "@\\w+|:[a-z_]\\w*", words: words("after and case catch cond def defmodule defp defmacro defstruct do else end false fn for if import in nil not or quote raise receive rescue true try unless use when with alias require") },
  haskell: { comment: `\\{-[^]*?(?:-\\}|${END})|--[^\\n]*`, string: `${DOUBLE}|${CHAR}`, words: words("case class data deriving do else forall foreign if import in infix infixl infixr instance let module newtype of then type where qualified") },
  bash: { comment: "(?<![\\w$])#[^\\n]*", string: `${DOUBLE}|'[^']*'?`, meta: "\\$\\{?[\\w@*#?]+\\}?", words: words("case do done elif else esac exit export fi for function if in local return set shift then trap unset until while source readonly") },
  sql: { comment: `--[^\\n]*|/\\*[^]*?(?:\\*/|${END})`, string: "'(?:''|[^'])*'?", loose: true, words: words("add all alter and as asc between by case check column commit constraint create cross default delete desc distinct drop else end exists foreign from full grant group having if in index inner insert integer into is join key left like limit not null on or order outer primary references returning right rollback select set table text then transaction trigger union unique update using values view when where with") },
  json: { comment: SLASHES, string: DOUBLE, words: words("true false null") },
  yaml: { comment: HASH, string: QUOTES, name: "^[ \\t]{0,200}(?:- )?[\\w./]{1,200}(?=:(?:\\s|$))", words: words("true false null yes no on off") },
  toml: { comment: HASH, string: `"""[^]*?(?:"""|${END})|${QUOTES}`, name: "^[\\w.-]{1,200}(?=[ \\t]{0,20}=)", meta: "^\\[[^\\n]{0,200}\\]", words: words("true false") },
  css: { comment: `/\\*[^]*?(?:\\*/|${END})`, string: QUOTES, meta: "@[\\w-]+|--[\\w-]+", name: "[\\w-]{1,60}(?=\\s{0,9}:)", words: words("important inherit initial unset auto none") },
  html: { comment: `<!--[^]*?(?:-->|${END})`, string: QUOTES, name: "</?[\\w-]+|/?>", words: words("") },
  makefile: { comment: HASH, string: QUOTES, meta: "\\$[({][^)}\\n]{0,200}[)}]|\\$[@<^*]", name: "^[\\w./%$()-]{1,200}(?=[ \\t]{0,9}:)", words: words("ifeq ifdef ifndef else endif include define endef export") },
  dockerfile: { comment: HASH, string: QUOTES, words: words("FROM RUN COPY ADD ENV ARG WORKDIR CMD ENTRYPOINT EXPOSE USER VOLUME LABEL AS HEALTHCHECK SHELL") },
  scheme: { comment: ";[^\\n]*", string: DOUBLE, meta: "@[\\w.-]+|#[\\w-]+[?!]", words: words("define lambda let if cond else") },
  markdown: { comment: `<!--[^]*?(?:-->|${END})`, string: "`{3}[^]*?(?:`{3}|$(?![^]))|`[^`\\n]{1,300}`", name: "^#{1,6} [^\\n]*", meta: "\\]\\([^)\\n]{0,200}\\)", words: words("") },
};
Object.assign(LANGUAGES, { shell: LANGUAGES.bash, objc: C, cuda: C, xml: LANGUAGES.html, svg: LANGUAGES.html, vue: LANGUAGES.html, scss: LANGUAGES.css, less: LANGUAGES.css, jsonc: LANGUAGES.json });

const NUMBER = String.raw`\b(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)\b`;
const WORD = String.raw`[\p{L}_$][\p{L}\p{N}_$]*`;
const DECLARES = words("def class function fn func fun struct enum interface trait type module namespace defmodule defp record object protocol");
const PROSE = new Set(["markdown", "html", "xml", "svg", "text"]);
const scanners = new Map();

function scanner(language) {
  if (!scanners.has(language)) {
    const spec = LANGUAGES[language];
    const group = (name) => (spec?.[name] ? `(?<${name}>${spec[name]})|` : "");
    const source = spec && `${group("comment")}${group("meta")}${group("name")}${group("string")}${PROSE.has(language) ? "" : `(?<number>${NUMBER})|`}(?<word>${WORD})`;
    scanners.set(language, spec ? { words: spec.words, loose: spec.loose, prose: PROSE.has(language), pattern: new RegExp(source, "gmu") } : null);
  }
  return scanners.get(language);
}

function* tokens(text, language) {
  const told = scanner(language);
  if (!told) { yield ["", text]; return; }
  let end = 0, before = "";
  for (const match of text.matchAll(told.pattern)) {
    const gap = text.slice(end, match.index), groups = match.groups;
    if (gap) yield ["", gap];
    end = match.index + match[0].length;
    if (groups.word === undefined) { before = ""; yield [Object.keys(groups).find((name) => groups[name] !== undefined), match[0]]; continue; }
    yield [wordKind(told, match[0], gap.trim() ? "" : before, gap.at(-1), text.charAt(end)), match[0]];
    before = match[0];
  }
  if (end < text.length) yield ["", text.slice(end)];
}

// `before` is the word right before, "" where anything else stands between; `last` and `next` the characters around.
function wordKind(told, word, before, last, next) {
  if (told.prose) return "";
  if (DECLARES.has(before) && told.words.has(before)) return "name";
  if (last !== "." && told.words.has(told.loose ? word.toLowerCase() : word)) return "keyword";
  if (next === "(") return "call";
  return /^[A-Z][a-z]/.test(word) ? "type" : "";
}

/**
 * The lines of a text, each a list of [kind, text]; kinds are "", comment, string, keyword, name, call, type, number, meta.
 * `before` is what its file says before it, whole lines: they are read and not returned.
 */
export function lines(text, language, before = "") {
  let left = before.split("\n").length - 1;
  const found = left ? [] : [[]];
  for (const [kind, piece] of tokens(before + text, language)) {
    piece.split("\n").forEach((part, number) => {
      if (number && (!left || !(left -= 1))) found.push([]);
      if (part && !left) found.at(-1).push([kind, part.replace(/\r$/, "")]);
    });
  }
  return found;
}
