"""The table of languages: a row says how files of a language are recognised and which grammar reads them.

Adding a language with full declaration support is one row here and one `<language>.scm` beside this file. A row without
a module is recognised by name only, and is cut by sections or windows.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Language:
    """One language.

    `queries` are the `.scm` files that together make its query, so that TypeScript can build on JavaScript.
    `equations` says that neighbouring declarations of one name are one definition (clauses, overload signatures).
    """

    id: str
    extensions: tuple[str, ...] = ()  # with the dot, lower case
    names: tuple[str, ...] = ()  # whole file names, lower case
    aliases: tuple[str, ...] = ()  # what people type for it
    interpreters: tuple[str, ...] = ()  # what a shebang calls it
    module: str | None = None  # the grammar's wheel
    factory: str = "language"  # the function in it that hands out the grammar
    queries: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()  # the grammar's node types for comments
    equations: bool = False


_SLASHES = ("line_comment", "block_comment")
_PLAIN = ("comment",)

GRAMMARS = (
    Language(
        "python",
        (".py", ".pyi", ".pyw", ".pyx", ".pxd", ".wsgi", ".bzl", ".star"),
        ("sconstruct", "sconscript", "wscript", "buck", "build", "build.bazel", "workspace", "tiltfile"),
        ("py", "python3", "cpython"),
        ("python", "pypy", "uv"),
        "tree_sitter_python",
        queries=("python",),
        comments=_PLAIN,
    ),
    Language(
        "javascript",
        (".js", ".jsx", ".mjs", ".cjs", ".es6"),
        ("jakefile",),
        ("js", "jsx", "node", "ecmascript"),
        ("node", "nodejs", "bun"),
        "tree_sitter_javascript",
        queries=("javascript", "javascript_only"),
        comments=_PLAIN,
    ),
    Language(
        "typescript",
        (".ts", ".mts", ".cts"),
        (),
        ("ts",),
        ("deno", "ts-node", "tsx"),
        "tree_sitter_typescript",
        "language_typescript",
        ("javascript", "typescript"),
        _PLAIN,
        equations=True,
    ),
    Language(
        "tsx",
        (".tsx",),
        (),
        ("typescriptreact",),
        (),
        "tree_sitter_typescript",
        "language_tsx",
        ("javascript", "typescript"),
        _PLAIN,
        equations=True,
    ),
    Language("go", (".go",), (), ("golang",), (), "tree_sitter_go", queries=("go",), comments=_PLAIN),
    Language("rust", (".rs",), (), ("rs",), ("rust-script",), "tree_sitter_rust", queries=("rust",), comments=_SLASHES),
    Language("java", (".java",), (), (), (), "tree_sitter_java", queries=("java",), comments=_SLASHES),
    Language("c", (".c", ".h"), (), (), ("tcc",), "tree_sitter_c", queries=("c",), comments=_PLAIN),
    Language(
        "cpp",
        (
            ".cpp",
            ".cc",
            ".cxx",
            ".c++",
            ".hpp",
            ".hh",
            ".hxx",
            ".h++",
            ".ipp",
            ".inl",
            ".tpp",
            ".txx",
            ".cu",
            ".cuh",
            ".ino",
        ),
        (),
        ("c++", "cxx", "cplusplus", "hpp"),
        (),
        "tree_sitter_cpp",
        queries=("c", "cpp"),
        comments=_PLAIN,
    ),
    Language(
        "csharp",
        (".cs", ".csx"),
        (),
        ("c#", "cs"),
        ("dotnet-script",),
        "tree_sitter_c_sharp",
        queries=("csharp",),
        comments=_PLAIN,
    ),
    Language(
        "ruby",
        (".rb", ".rake", ".gemspec", ".ru", ".podspec", ".jbuilder", ".rbw", ".thor"),
        (
            "gemfile",
            "rakefile",
            "guardfile",
            "podfile",
            "vagrantfile",
            "capfile",
            "fastfile",
            "brewfile",
            "berksfile",
            "dangerfile",
            "appraisals",
            ".irbrc",
            ".pryrc",
        ),
        ("rb",),
        ("ruby", "jruby", "rake"),
        "tree_sitter_ruby",
        queries=("ruby",),
        comments=_PLAIN,
    ),
    Language(
        "php",
        (".php", ".phtml", ".php3", ".php4", ".php5", ".php7", ".phps", ".ctp"),
        (),
        (),
        ("php",),
        "tree_sitter_php",
        "language_php",
        ("php",),
        _PLAIN,
    ),
    Language(
        "kotlin",
        (".kt", ".kts"),
        (),
        ("kt", "kts"),
        ("kotlin",),
        "tree_sitter_kotlin",
        queries=("kotlin",),
        comments=_SLASHES,
    ),
    Language(
        "scala",
        (".scala", ".sc", ".sbt"),
        (),
        (),
        ("scala", "amm", "scala-cli"),
        "tree_sitter_scala",
        queries=("scala",),
        comments=("comment", "block_comment"),
    ),
    Language(
        "swift",
        (".swift",),
        (),
        (),
        ("swift",),
        "tree_sitter_swift",
        queries=("swift",),
        comments=("comment", "multiline_comment"),
    ),
    Language(
        "lua",
        (".lua", ".luau", ".rockspec", ".nse", ".wlua"),
        (".luacheckrc", ".luacov"),
        (),
        ("lua", "luajit"),
        "tree_sitter_lua",
        queries=("lua",),
        comments=_PLAIN,
    ),
    Language(
        "bash",
        (".sh", ".bash", ".zsh", ".bats", ".ksh", ".ebuild", ".eclass", ".command"),
        (
            ".bashrc",
            ".bash_profile",
            ".bash_aliases",
            ".bash_logout",
            ".profile",
            ".zshrc",
            ".zshenv",
            ".zprofile",
            ".zlogin",
            ".kshrc",
            "pkgbuild",
            "apkbuild",
            "bashrc",
            "zshrc",
        ),
        ("sh", "shell", "zsh", "shellscript", "bats", "ksh"),
        ("sh", "bash", "zsh", "dash", "ksh", "ash", "bats", "mksh"),
        "tree_sitter_bash",
        queries=("bash",),
        comments=_PLAIN,
    ),
    Language(
        "elixir",
        (".ex", ".exs"),
        ("mix.lock",),
        ("ex", "exs"),
        ("elixir",),
        "tree_sitter_elixir",
        queries=("elixir",),
        comments=_PLAIN,
        equations=True,
    ),
    Language(
        "haskell",
        (".hs", ".hs-boot", ".hsc"),
        (),
        ("hs",),
        ("runhaskell", "runghc", "stack"),
        "tree_sitter_haskell",
        queries=("haskell",),
        comments=("comment", "haddock"),
        equations=True,
    ),
)
