"""What is read in a message: which kind, about what, where it holds, how sure; and what is never read in it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vademecum.memory.extract import MOST_SENTENCES, extract, read
from vademecum.memory.extract.prose import MOST_SENTENCE, prose_of, read_of, sentences
from vademecum.memory.extract.subject import acted_on
from vademecum.memory.labels import choice_of
from vademecum.memory.records import FactKind, Role, Statement


def told(message: str, role: Role = Role.USER) -> list[Statement]:
    """The statements of a message that are sure enough to be acted on."""
    return [found for found in extract(message, role) if found.confidence >= 0.6]


def only(message: str, role: Role = Role.USER) -> Statement:
    """The one statement of a message that is sure enough to be acted on."""
    found = told(message, role)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("message", "kind", "subject", "value"),
    [
        ("Always list the risks first when I ask for a review.", "instruction", "review", "list the risks first"),
        ("please never push to main", "instruction", "main", "not push to main"),
        ("From now on, answer in French.", "instruction", "answer language", "French"),
        ("Whenever you finish, run the linter.", "instruction", "finish", "run the linter"),
        ("You should always add a changelog entry.", "instruction", "changelog entry", "add a changelog entry"),
        ("Don't add comments to the code, please", "instruction", "comments", "not add comments to the code"),
        ("All functions must have type hints.", "instruction", "functions", "have type hints"),
        ("Keep your answers short.", "instruction", "answers", "short"),
        ("No emojis.", "instruction", "emojis", "not emojis"),
        ("Use tabs for indentation", "instruction", "indentation", "tabs"),
        ("Favour composition over inheritance.", "instruction", "composition", "composition"),
        ("I strongly prefer composition over inheritance.", "preference", "composition", "composition"),
        ("I'd rather have small commits than big ones.", "preference", "commits", "small commits"),
        ("My favourite editor is Helix.", "preference", "editor", "Helix"),
        ("I can't stand abbreviations in names.", "preference", "abbreviations", "not abbreviations in names"),
        ("I usually write the tests first.", "preference", "tests", "write the tests first"),
        ("I'm trying to keep my bundle under 100 kB, but how?", "preference", "bundle", "keep my bundle under 100 kB"),
        ("We try to keep functions short.", "preference", "functions", "keep functions short"),
        ("We want to stay within the free tier.", "preference", "free tier", "stay within the free tier"),
        ("I'd like to avoid third-party services.", "preference", "third-party services", "not third-party services"),
        ("Readability matters more to me than speed.", "preference", "readability", "Readability"),
        ("It's important to me that tests run offline.", "preference", "offline", "tests run offline"),
        ("I learn best with concrete examples.", "preference", "examples", "with concrete examples"),
        ("I find type hints useful.", "preference", "hints", "type hints"),
        ("Our preferred database is Postgres.", "preference", "database", "Postgres"),
        ("Sort the examples by theme, like I prefer.", "preference", "examples", "Sort the examples by theme"),
        ("I'd like answers in French.", "preference", "answer language", "answers in French"),
        ("I need everything to work offline.", "instruction", "work offline", "everything to work offline"),
        ("J'essaie de garder le bundle sous 100 Ko.", "preference", "bundle", "garder le bundle sous 100 Ko"),
        ("On essaie de limiter les dépendances.", "preference", "dépendances", "limiter les dépendances"),
        ("Je veux éviter les services tiers.", "preference", "services", "pas services tiers"),
        ("La lisibilité compte plus pour moi que la vitesse.", "preference", "lisibilité", "lisibilité"),
        ("Je tiens à ce que les tests tournent hors ligne.", "preference", "tests", "les tests tournent hors ligne"),
        ("Je comprends mieux quand il y a un schéma.", "preference", "schéma", "un schéma"),
        ("Je ne suis pas fan des ORM.", "preference", "orm", "pas ORM"),
        ("Je suis fan des petits commits.", "preference", "commits", "petits commits"),
        ("Mon éditeur préféré est Helix.", "preference", "éditeur", "Helix"),
        ("Je voudrais des réponses en français.", "instruction", "answer language", "réponses en français"),
        ("Je veux que tout soit typé.", "instruction", "typé", "soit typé"),
        ("We only support Linux at the moment.", "preference", "linux", "support Linux at the moment"),
        ("We decided to migrate to React.", "decision", "frontend framework", "to migrate to React"),
        ("We use moment for dates.", "fact", "date library", "moment"),
        ("Before committing, run make check.", "instruction", "committing", "run make check"),
        ("Show me the diff before applying it.", "instruction", "me the diff", "Show me the diff before applying it"),
        ("After each change, update the docs.", "instruction", "change", "update the docs"),
        ("When you're done, summarise what changed.", "instruction", "done", "summarise what changed"),
        ("Only touch files under src/.", "instruction", "files", "touch files under src/"),
        ("Use type hints everywhere.", "instruction", "hints", "type hints everywhere"),
        ("Use snake_case for file names.", "instruction", "file naming", "snake_case"),
        ("Treat warnings as errors.", "instruction", "warnings", "Treat warnings as errors"),
        ("Be concise.", "instruction", "concise", "Be concise"),
        ("In this repo we squash merge.", "instruction", "merging", "we squash merge"),
        ("If you're not sure, ask me.", "instruction", "sure", "ask me"),
        ("If you add a flag, always document it.", "instruction", "flag", "document it"),
        ("Each PR needs a changelog entry.", "instruction", "pr", "needs a changelog entry"),
        ("Commit messages should be in English.", "instruction", "commit messages", "be in English"),
        ("Tests must not hit the network.", "instruction", "tests", "not hit the network"),
        ("You should not modify the API without asking.", "instruction", "api", "not modify the API without asking"),
        ("Answer me in French.", "instruction", "answer language", "French"),
        ("Call me Sam.", "instruction", "user's name", "Sam"),
        ("Avant de commiter, lance make check.", "instruction", "commiter", "lance make check"),
        ("Montre-moi le diff avant de l'appliquer.", "instruction", "diff", "Montre-moi le diff avant de l'appliquer"),
        ("Après chaque modification, mets à jour la doc.", "instruction", "modification", "mets à jour la doc"),
        ("On ne pousse jamais le vendredi.", "instruction", "pousse", "pousse jamais le vendredi"),
        ("Sois concis.", "instruction", "concis", "Sois concis"),
        ("Si tu n'es pas sûr, demande.", "instruction", "sûr", "demande"),
        ("Tutoie-moi.", "instruction", "form of address", "Tutoie-moi"),
        ("Appelle-moi Sam.", "instruction", "user's name", "Sam"),
        ("I avoid ORMs.", "preference", "orms", "not ORMs"),
        ("We refuse to use jQuery.", "decision", "jquery", "not jQuery"),
        ("I have a strong aversion to global state.", "preference", "state", "not global state"),
        ("I'm strongly opposed to force pushes.", "preference", "pushes", "not force pushes"),
        ("We have no interest in Windows support.", "preference", "support", "not Windows support"),
        ("I only use functional components.", "preference", "components", "functional components"),
        ("I find mocks confusing.", "preference", "mocks", "not mocks"),
        ("We don't use Redux here.", "instruction", "state management", "not Redux"),
        ("We follow conventional commits.", "preference", "commit messages", "conventional commits"),
        ("Security is our top priority.", "preference", "security", "Security"),
        ("My top priority is readability.", "preference", "priority", "readability"),
        ("I strongly believe in small commits.", "preference", "commits", "small commits"),
        ("Reviews are a must for us.", "preference", "reviews", "Reviews"),
        ("I don't like any kind of magic.", "preference", "magic", "not any kind of magic"),
        ("J'évite les ORM.", "preference", "orm", "pas ORM"),
        ("J'ai une forte aversion pour l'état global.", "preference", "état global", "pas l'état global"),
        ("Je suis contre les singletons.", "preference", "singletons", "pas les singletons"),
        ("Je n'utilise que pytest.", "preference", "test framework", "pytest"),
        ("On n'utilise pas Redux ici.", "preference", "state management", "pas Redux"),
        ("Je trouve les mocks pénibles.", "preference", "mocks", "pas mocks"),
        ("Je crois fermement aux petits commits.", "preference", "commits", "petits commits"),
        (
            "Nous suivons les commits conventionnels.",
            "preference",
            "commits",
            "les commits conventionnels",
        ),
        ("Ma priorité est la sécurité.", "preference", "sécurité", "la sécurité"),
        (
            "How do I balance my preference for small commits with the review?",
            "preference",
            "small commits",
            "small commits",
        ),
        (
            "I'm not sure if my preference for tabs over spaces is right.",
            "preference",
            "indentation",
            "tabs over spaces",
        ),
        ("As someone who values readability, how do I name it?", "preference", "readability", "readability"),
        ("What do I show Dana, who prefers diagrams, in the review?", "preference", "diagrams", "diagrams"),
        ("What do I show Dana, who hates diagrams, in the review?", "preference", "diagrams", "not diagrams"),
        ("Can you say why I chose tabs over spaces?", "preference", "indentation", "tabs"),
        ("Was my decision to use SQLite over Postgres sound?", "preference", "database", "SQLite"),
        ("I've been prioritizing readability over speed.", "preference", "readability", "readability"),
        ("I want a table rather than a chart.", "preference", "table", "a table"),
        ("My boss prefers short reports.", "preference", "reports", "short reports"),
        ("Dana loves small commits.", "preference", "commits", "small commits"),
        ("I make a point of writing the tests first.", "preference", "tests", "writing the tests first"),
        ("I find it easier to read diffs in colour.", "preference", "diffs", "read diffs in colour"),
        ("Small commits suit me better than big ones.", "preference", "commits", "Small commits"),
        ("Que faire de ma préférence pour les petits commits ?", "preference", "petits commits", "petits commits"),
        ("On utilise SQLite, que je préfère à Postgres.", "preference", "database", "SQLite"),
        ("Que montrer à Dana, qui préfère les schémas ?", "preference", "schémas", "les schémas"),
        ("Comment nommer cela pour moi qui aime la lisibilité ?", "preference", "lisibilité", "la lisibilité"),
        ("Sais-tu pourquoi j'ai choisi Redis plutôt que Memcached ?", "preference", "cache", "Redis"),
        ("Que penses-tu de mon choix de SQLite plutôt que Postgres ?", "preference", "database", "SQLite"),
        ("J'ai privilégié la lisibilité plutôt que la vitesse.", "preference", "lisibilité", "la lisibilité"),
        ("Je voudrais un tableau plutôt qu'un graphique.", "preference", "tableau", "un tableau"),
        ("J'ai pour habitude d'écrire les tests d'abord.", "preference", "tests", "écrire les tests d'abord"),
        ("Je trouve plus simple de lire des schémas.", "preference", "lire", "lire des schémas"),
        ("Les petits commits me conviennent mieux.", "preference", "commits", "petits commits"),
        ("We decided to use Postgres instead of MySQL because of JSONB.", "decision", "database", "Postgres"),
        ("Let's go with FastAPI.", "decision", "web framework", "FastAPI"),
        ("We've agreed on weekly releases.", "decision", "releases", "weekly releases"),
        ("The staging server is at 10.0.0.4.", "fact", "staging server", "10.0.0.4"),
        ("My name is Ada Byron and I like it here.", "fact", "user's name", "Ada Byron"),
        ("We use yarn in this repo.", "fact", "package manager", "yarn"),
        ("TODO: write the migration", "todo", "migration", "write the migration"),
        ("We still need to handle timeouts.", "todo", "timeouts", "handle timeouts"),
        ("I'll send the report to Ada by Friday.", "todo", "report", "send the report to Ada by Friday"),
        ("The fix was to pin urllib3 below 2.", "fix", "urllib3 below 2", "pin urllib3 below 2"),
        ("Réponds toujours en français.", "instruction", "answer language", "Réponds toujours en français"),
        ("N'ajoute jamais de commentaires.", "instruction", "commentaires", "ajoute jamais de commentaires"),
        ("Utilise pnpm, pas npm.", "instruction", "package manager", "pnpm"),
        ("Répondez en français.", "instruction", "answer language", "français"),
        ("Prochaine étape : écrire la migration", "todo", "migration", "écrire la migration"),
        ("Prenez pnpm.", "instruction", "package manager", "Prenez pnpm"),
        ("Tu dois utiliser des types", "instruction", "types", "types"),
        ("Vous devez répondre en français", "instruction", "answer language", "répondre en français"),
        ("Merci de toujours répondre en français", "instruction", "answer language", "répondre en français"),
        (
            "Je veux que tu répondes toujours en français",
            "instruction",
            "français",
            "répondes toujours en français",
        ),
        ("Partout, préfère les guillemets simples.", "instruction", "quotes", "les guillemets simples"),
        (
            "Il faut absolument utiliser des types stricts",
            "instruction",
            "utiliser types stricts",
            "absolument utiliser des types stricts",
        ),
        ("J'aime bien quand le code est commenté", "preference", "code", "quand le code est commenté"),
        ("N'oublie pas de mettre à jour le changelog", "todo", "changelog", "mettre à jour le changelog"),
        ("J'ai corrigé le bug en épinglant urllib3", "fix", "urllib3", "épinglant urllib3"),
        ("Il faudra ajouter des tests", "todo", "tests", "ajouter des tests"),
        ("From here on out, use British spelling", "instruction", "spelling", "British spelling"),
        ("Remember: no print statements", "instruction", "print statements", "not print statements"),
        ("You must ask before running migrations", "instruction", "ask", "ask before running migrations"),
        ("Only use the standard library", "instruction", "standard library", "the standard library"),
        ("Don't use any, use unknown instead", "instruction", "unknown", "unknown"),
        ("Nous aimons les fonctions courtes.", "preference", "fonctions", "les fonctions courtes"),
        ("Je préfère les fonctions courtes.", "preference", "fonctions", "les fonctions courtes"),
        ("On a décidé de passer à Postgres.", "decision", "database", "Postgres"),
        ("Il reste à écrire les tests.", "todo", "tests", "écrire les tests"),
        ("Le serveur de recette est sur 10.0.0.4.", "fact", "serveur recette", "10.0.0.4"),
        ("On utilise yarn dans ce projet.", "fact", "package manager", "yarn"),
        ("My lead told us to never squash merge commits.", "instruction", "merging", "not squash merge commits"),
        ("On m'a dit de toujours citer les sources.", "instruction", "sources", "citer les sources"),
        ("J'ai pour consigne de toujours lancer les tests.", "instruction", "tests", "lancer les tests"),
    ],
)
def test_what_is_meant_to_last_is_read(message: str, kind: str, subject: str, value: str) -> None:
    """Each kind by the form of its sentence, in English and in French."""
    found = only(message)
    assert (found.kind, found.subject, found.value) == (kind, subject, value)
    assert found.confidence >= 0.6


@pytest.mark.parametrize(
    "message",
    [
        "can you add a test for the parser?",
        "Should I always use tabs?",
        "Do we prefer tabs over spaces?",
        "Don't worry about it.",
        "I've never written any routes in this project.",
        "I need to implement user registration, can you help me with that?",
        "No problem, thanks!",
        "use the helper in parser.py to read it",
        "don't run the tests yet",
        "Make sure to update the docs.",
        "I'd like to add more features.",
        'He said "always use four spaces, never tabs" and left.',
        "> Always use four spaces.",
        "```\n# always use four spaces\n```",
        "Run `always use four spaces` and tell me.",
        "    # never call this twice",
        "2026-01-01 12:00:00 INFO always use the cache",
        "<pre>We decided to use Postgres.</pre>",
        "Traceback (most recent call last):\nValueError: you must always pass a name",
        "Est-ce que je dois toujours utiliser des tabulations ?",
        "On verra toujours plus tard.",
        "Si jamais tu utilises npm, dis-le moi",
        "Tu peux toujours essayer",
        "Pourquoi tu n'utilises jamais de types ?",
        "",
        "I'm trying to keep track of my expenses.",
        "I want to avoid this error.",
        "I'm trying to avoid the crash.",
        "I want to keep it.",
        "How can I keep my bundle small?",
        "Which option works better for SEO?",
        "I find this helpful.",
        "The same error counts for me too.",
        "Je veux éviter cette erreur.",
        "Comment éviter les doublons ?",
        "Je tiens à te remercier.",
        "I only see one test fail.",
        "Can you run the tests before merging?",
        "If the test fails, what should I do?",
        "If you have time, add a test.",
        "When should I use it?",
        "It fails before reaching the parser.",
        "Run the tests after this change.",
        "The results should be sorted.",
        "I want you to add a button.",
        "It hangs when I run it.",
        "Add a test for each function in parser.py.",
        "Run the tests after you fix it.",
        "Give me a list of the files when you finish.",
        "Make sure all tests pass.",
        "Add docstrings to every function.",
        "Lance les tests avant de continuer.",
        "Vérifie chaque fichier.",
        "Peux-tu lancer les tests avant de fusionner ?",
        "Il plante avant d'arriver au parseur.",
        "I follow the link and it fails.",
        "I don't use it.",
        "I can't use the API, it fails.",
        "I can't write to disk.",
        "I find the docs confusing.",
        "Write a parser and avoid regular expressions in it.",
        "I have to avoid the race here.",
        "We avoid the N+1 problem by prefetching.",
        "Can I avoid using a lock?",
        "Je veux uniquement voir le résultat.",
        "Je trouve le bug bizarre.",
        "Je suis contre ce choix.",
        "Do I have a preference for tabs?",
        "Which users prefer tabs?",
        "What helps someone who prefers tabs?",
        "What would Dana, who wrote the parser, say?",
        "The parser, which I wrote over the weekend, fails.",
        "Why did I choose tabs over spaces?",
        "I'm prioritizing my tasks for the week.",
        "I'm trying to decide if I should prioritize tests over docs.",
        "I want to catch the error rather than crash.",
        "I need help over the phone.",
        "Everyone enjoys small commits.",
        "I find it hard to read diffs.",
        "Which colour suits me better?",
        "Ai-je une préférence pour les tabulations ?",
        "Que dirait Dana, qui a écrit le parseur ?",
        "Le parseur, que je trouve lent, échoue.",
        "Je veux savoir si ça marche plutôt que deviner.",
        "Je trouve plus de fautes ici.",
        "I was never told to always rebase.",
        "Nobody told me to always rebase.",
        "We haven't been told to always rebase.",
        "I've been instructed to always do so.",
        "On ne m'a jamais dit de toujours rebaser.",
        "On n'a jamais utilisé Kafka.",
        "Hard no from me.",
        "Big yes from me!",
        "Non catégorique de ma part.",
        "C'est non.",
    ],
)
def test_what_is_not_meant_is_not_read(message: str) -> None:
    """Questions, requests, quotations, code and logs say nothing that lasts."""
    assert [found for found in extract(message) if found.confidence >= 0.6] == []


@pytest.mark.parametrize(
    ("message", "where"),
    [
        ("Always validate input in src/api/.", "src/api/**"),
        ("In src/api always validate input.", "src/api/**"),
        ("Never use default exports in *.ts files.", "**/*.ts"),
        ("For Python code, prefer dataclasses over dicts.", "language:python"),
        ("Always use early returns in Go.", "language:go"),
        ("Everywhere, use single quotes instead of double quotes.", "*"),
        ("Never log secrets in the billing module.", "billing/**"),
        ("Always sort the keys in config/app.toml.", "config/app.toml"),
        ("Dans src/api, n'ajoute jamais de commentaires.", "src/api/**"),
        ("Always sort imports.", ""),
        ("tests go in tests/unit, never hit the network", ""),
        ("Tests go in tests/unit and must not hit the network.", ""),
        ("Put the fixtures in tests/data, always as JSON.", ""),
        ("les fixtures vont dans tests/data", ""),
        ("never add fixtures under tests/data by hand", "tests/data/**"),
    ],
)
def test_where_it_holds_is_read_in_the_sentence(message: str, where: str) -> None:
    """A path, a folder, a language, everywhere; nothing said is the scope it was said in."""
    assert only(message).where == where


@pytest.mark.parametrize(
    ("message", "subject", "value"),
    [
        ("Nous avons abandonné celery, c'est dramatiq maintenant", "task queue", "dramatiq"),
        ("We moved from celery to dramatiq", "task queue", "dramatiq"),
        ("On est passé d'elasticsearch à meilisearch", "search engine", "meilisearch"),
        ("We've dropped prisma, it's drizzle now", "orm", "drizzle"),
    ],
)
def test_what_was_left_for_another_is_of_the_same_kind(message: str, subject: str, value: str) -> None:
    """Queues, search engines and mappers are kinds of tools too."""
    assert (subject, value) in [(found.subject, found.value) for found in extract(message)]


def test_a_choice_can_take_the_place_of_another() -> None:
    """Two choices of the same thing have one subject and attribute, however they are said."""
    said = [
        "we use yarn",
        "use pnpm, not npm",
        "We decided to use bun instead of pnpm.",
        "On utilise npm dans ce projet.",
        "dropped npm for pnpm",
        "use `yarn`, not `npm`",
        "we moved from `yarn` to `bun`",
    ]
    found = [only(each) for each in said]
    assert {(each.subject, each.attribute) for each in found} == {("package manager", "javascript")}
    assert [each.value for each in found] == ["yarn", "pnpm", "bun", "npm", "pnpm", "yarn", "bun"]


@pytest.mark.parametrize(
    ("message", "subject", "value"),
    [
        ("We use Redis for the queue.", "queue", "Redis"),
        ("We use RabbitMQ for the queue.", "queue", "RabbitMQ for the queue"),
        ("We use memcached for the sessions.", "sessions", "memcached"),
        ("For the queue we use Redis.", "queue", "Redis"),
        ("We decided to use Postgres for the ledger because it is safe.", "ledger database", "Postgres"),
        ("We chose Postgres over MySQL for billing.", "billing database", "Postgres"),
        ("We use SQLite for the local cache.", "local cache", "SQLite"),
        ("We use SQLite as our database.", "database", "SQLite"),
        ("We use Jenkins for nightly builds.", "builds continuous integration", "Jenkins"),
        ("We use GitHub Actions for CI.", "continuous integration", "GitHub Actions"),
        ("We use pytest for the tests.", "test framework", "pytest"),
        ("I prefer Postgres for its simplicity.", "database", "Postgres for its simplicity"),
        ("I prefer tabs for consistency.", "indentation", "tabs for consistency"),
        ("On utilise Postgres pour la facturation.", "facturation database", "Postgres"),
        ("On utilise SQLite pour le cache local.", "cache local", "SQLite"),
        ("On utilise Redis pour la file d'attente.", "file attente", "Redis"),
        ("On utilise npm comme gestionnaire de paquets.", "package manager", "npm"),
    ],
)
def test_what_a_choice_is_for_is_part_of_what_it_is_about(message: str, subject: str, value: str) -> None:
    """What serves the queue says nothing of what serves billing; a purpose that the kind says anyhow adds nothing."""
    found = extract(message)[0]
    assert (found.subject, found.value) == (subject, value)


def test_two_wishes_for_one_topic_do_not_exclude_each_other() -> None:
    """The topic is the subject, what is wished for the attribute."""
    first = only("Always include version numbers when I ask about dependencies.")
    second = only("Always give links when I ask about dependencies.")
    assert first.subject == second.subject == "dependencies"
    assert first.attribute != second.attribute


@pytest.mark.parametrize(
    "message",
    [
        "No, use tabs instead of spaces.",
        "Actually, we switched from Jest to Vitest.",
        "Scratch that. Use yarn.",
        "We no longer use redux.",
        "Non, utilise des espaces plutôt que des tabulations.",
    ],
)
def test_what_takes_something_back_says_so(message: str) -> None:
    """A correction is one by its opening, by the sentence before, or by what it says."""
    assert only(message).corrects


def test_a_decision_has_its_reason_and_a_fix_its_problem() -> None:
    """The because goes with it; `it` is what was said before."""
    assert only("We chose SQLite over Postgres because there is one writer.").reason == "there is one writer"
    fix = extract("The build failed on a stale cache. Deleting node_modules fixed it.")[-1]
    assert (fix.kind, fix.value, fix.reason) == (
        FactKind.FIX,
        "Deleting node_modules",
        "The build failed on a stale cache",
    )
    assert only("Crash on start: solved by pinning numpy").reason == "Crash on start"


def test_a_fix_keeps_cause_and_remedy() -> None:
    """What is told of a past error says what it was and what ended it."""
    fix = only("The crash was a stale cache, clearing it at login fixed it.")
    assert fix.kind == FactKind.FIX
    assert "stale cache" in f"{fix.value} {fix.reason}"
    assert "clearing it at login" in fix.value


@pytest.mark.parametrize(
    ("message", "about"),
    [
        ("The flaky test was a timezone thing, freezing the clock fixed it.", "flaky test"),
        ("The memory leak came from listeners that we never removed.", "memory leak"),
        ("Le test instable c'était une histoire de fuseau horaire, réglé.", "test instable"),
    ],
)
def test_a_fix_is_about_what_was_wrong(message: str, about: str) -> None:
    """Not about the words that say how it was wrong."""
    fix = only(message)
    assert (fix.kind, fix.subject) == (FactKind.FIX, about)


@pytest.mark.parametrize(
    ("message", "about", "reason"),
    [
        ("We decided to stop after three attempts because it bans us", ("stop", ""), "it bans us"),
        ("We decided to deploy on Fridays", ("deploy", ""), ""),
        ("We decided to keep logs for 30 days", ("logs", "keep"), ""),
        ("We decided to keep the cache because queries are slow", ("cache", "keep"), "queries are slow"),
        ("Nous avons décidé d'arrêter après trois essais", ("arrêter", ""), ""),
    ],
)
def test_a_decision_is_about_what_is_done_to_what(message: str, about: tuple[str, str], reason: str) -> None:
    """When and where something is done is no thing it is done to, and what was decided is no reason for it."""
    found = only(message)
    assert ((found.subject, found.attribute), found.reason) == (about, reason)


def test_a_long_list_of_rules_is_kept_whole() -> None:
    """Whoever writes their conventions down in one message means each of them."""
    rules = [f"Always check the {name} first." for name in "abcdefghijklmnopqrstuvwxyz"]
    assert [each.text for each in extract("Our conventions:\n- " + "\n- ".join(rules))] == rules


@pytest.mark.parametrize(
    ("text", "subject", "done"),
    [
        ("Never push directly to the main branch", "main branch", "push"),
        ("Ne pousse jamais sur main", "main", "pousse"),
        ("Don't rely on the cache", "cache", "rely"),
        ("You should always go through the API", "api", "go"),
        ("Il faut toujours passer par l'API", "api", "passer"),
        ("Il ne faut jamais écrire dans src/generated", "src/generated", "écrire"),
        ("On ne doit pas toucher à la base de production", "base production", "toucher"),
        ("Never change the order of imports", "imports order", "change"),
        ("Never get rid of the lock file", "lock file", "get"),
        ("Lance toujours les tests avant de pousser", "tests", "lance"),
        ("Never commit without a message", "commit", ""),
        ("Avoid deploying on Fridays", "deploying", ""),
        ("Ne déploie jamais le vendredi", "déploie", ""),
        ("Tu dois toujours demander avant d'effacer un fichier", "demander", ""),
        ("Always deploy to staging first", "staging", "deploy"),
        ("D'habitude, j'écris les tests d'abord", "écris", ""),
        ("Garde tes réponses courtes", "réponses", ""),
        ("We decided to deploy on Fridays", "deploy", ""),
        ("On a décidé de déployer le vendredi", "déployer", ""),
    ],
)
def test_a_subject_is_a_thing_or_what_is_done(text: str, subject: str, done: str) -> None:
    """Never a word that only leads to it, nor when or how it is done."""
    found = only(text)
    assert (found.subject, found.attribute) == (subject, done)


SMALL = st.sampled_from(
    ["to", "on", "in", "the", "a", "of", "from", "with", "sur", "dans", "à", "la", "le", "de", "du", "par", "my", "ses"]
)
THINGS = st.sampled_from(["cache", "main", "branch", "serveur", "tests", "config", "api", "worker", "rapport", "index"])


@given(st.sampled_from(["push", "écrire", "rely", "passer"]), st.lists(SMALL, max_size=3), THINGS)
def test_small_words_before_a_thing_are_no_part_of_it(verb: str, small: list[str], thing: str) -> None:
    """Whatever words lead to it, in either language, the thing is what it is about."""
    assert acted_on(verb, " ".join([*small, thing])) == (thing, verb)


@pytest.mark.parametrize(
    "message", ["I chose Redis for consistency.", "J'ai décidé d'utiliser Redis.", "I decided to write a letter."]
)
def test_what_one_person_chose_is_a_decision_alone(message: str) -> None:
    """A choice for one thing says nothing of what is preferred elsewhere."""
    assert {found.kind for found in extract(message) if found.confidence >= 0.6} == {FactKind.DECISION}


def test_hedges_and_speakers_weigh() -> None:
    """Half for maybe; an assistant's word for a preference is nothing, a note's is more."""
    sure, unsure = only("We decided to use black."), extract("For now we decided to use black.")[0]
    assert unsure.confidence <= sure.confidence / 2
    assert extract("I prefer tabs over spaces.", Role.ASSISTANT) == []
    assert extract("Always use tabs.", Role.OUTPUT) == []
    assert (
        only("The fix was to pin urllib3.", Role.ASSISTANT).confidence < only("The fix was to pin urllib3.").confidence
    )
    assert only("We decided to use black.", Role.NOTE).confidence > sure.confidence


def test_headings_of_an_assistant_are_no_fixes() -> None:
    """A hook told them as fixes; what an assistant surely says of a fix is still told."""
    assert told("Checking the Hinges", Role.ASSISTANT) == []
    assert only("The fix was to pin urllib3.", Role.ASSISTANT).kind == FactKind.FIX


def test_evidence_is_the_characters_of_the_sentence() -> None:
    """Start and end point at the sentence in the message as it was written, code and all."""
    message = "```py\nalways = 1\n```\nFine. Always use `ruff`, please.\nBye."
    found = only(message)
    assert message[found.start : found.end] == found.text == "Always use `ruff`, please."


@given(st.text(max_size=400))
def test_any_message_is_read_without_fail(message: str) -> None:
    """Spans lie in the message, prose is as long as it, and confidences are in range."""
    prose = prose_of(message)
    assert len(prose) == len(message)
    assert all(0 <= start < end <= len(message) for start, end in sentences(prose))
    for found in extract(message):
        assert message[found.start : found.end] == found.text
        assert 0 < found.confidence <= 0.95


words = st.sampled_from(
    [
        "i",
        "we",
        "you",
        "always",
        "never",
        "prefer",
        "use",
        "using",
        "not",
        "to",
        "over",
        "instead",
        "of",
        "rather",
        "than",
        "tabs",
        "spaces",
        ",",
        ".",
        "?",
        "!",
        ":",
        "when",
        "ask",
        "about",
        "the",
        "a",
        "decided",
        "because",
        "fixed",
        "by",
        "it",
        "is",
        "should",
        "must",
        "don't",
        "please",
        "and",
        "but",
        "so",
        "if",
        "only",
        "from",
        "now",
        "on",
        "todo",
        "Ada",
        "the team",
        "have",
        "chose",
        "with",
        "je",
        "préfère",
        "toujours",
    ]
)


@example("decided always when decided always")
@example("to toujours !")
@given(st.lists(words, max_size=60).map(" ".join))
def test_any_mix_of_cue_words_is_read_without_fail(message: str) -> None:
    """Cue words in any order never make it fail or report the same words twice."""
    found = extract(message)
    assert len({(each.start, each.value, each.kind) for each in found}) == len(found)


# A thing said about what is pasted stands before or behind it.
RULE_BEFORE, RULE_BEHIND = "Always run the linter before committing.", "Never use tabs in this file."


@pytest.mark.parametrize(
    "pasted",
    [
        "some words that nobody means " * 400,  # one sentence
        "Some words. That nobody means.\n" * 3000,
        "```\n" + "a = call(b)\n" * 8000 + "```",
        "```\na = 1\n```\nand then\n```\n" + "b = 2\n" * 8000 + "```",
        "    indented(code)\n" * 8000,
        "/\n" * 30_000,
    ],
)
def test_what_is_said_before_and_behind_a_long_paste_is_read(pasted: str) -> None:
    """However long it is; code in its middle stays code, wherever the middle is left out."""
    found = extract(f"{RULE_BEFORE}\n{pasted}\n{RULE_BEHIND}")
    assert [each.text for each in found] == [RULE_BEFORE, RULE_BEHIND]


def test_an_end_that_begins_in_code_is_read_from_behind_it() -> None:
    """An importer leaves out the middle of a long message, and with it the line that opened the code."""
    cut = f"{RULE_BEFORE}\n[…]\nAlways be code();\n```\n{RULE_BEHIND}"
    assert [each.text for each in extract(cut)] == [RULE_BEFORE, RULE_BEHIND]


@given(st.lists(st.text("ab .,\n`?", max_size=60), max_size=40), st.integers(1, 2000))
def test_no_more_than_so_many_sentences_are_read(parts: list[str], times: int) -> None:
    """That bounds what a message can cost, however long it is and whatever stands in it."""
    message = (" ".join(parts) * times)[:50_000]
    prose = prose_of(message)
    spans, left = read_of(prose, 32)
    assert len(prose) == len(message)
    assert len(spans) <= 32 < MOST_SENTENCES
    assert 0 <= left <= len(message)
    assert all(0 < end - start <= MOST_SENTENCE for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(sorted(spans)))


@pytest.mark.parametrize(
    "unit",
    ["\u201c", "\u00ab", "```", "<code", "<file ", "'", " '", "[ ] \n", "1. ", "e.g.", "\t", "def ", "\nError", "i prefer ",
     "we use x, ", "i need ", "if i always ", "never use a, ", "because ",
     "we decided x over ", "for a b each time, ", "prefer a to ", "we chose ", "je préfère ", "on va ", "(", "in src/"],
)  # fmt: skip
def test_a_hostile_message_takes_no_longer_than_its_length(unit: str) -> None:
    """No pattern runs over the same characters again and again: half a megabyte of each ends."""
    message = unit * (500_000 // len(unit))
    assert len(extract(message)) <= 12


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("bounded", [10], indirect=True)
@pytest.mark.parametrize(
    "unit",
    ["Our API is in Go and the DB on AWS ", "our cache is at Go and ", "tabs works for me ", "i'll i will ", "utilise next" + " " * 40,
     "a. ", "....", "use x\n", "> a\n", "“", "«", "“a ", '"a b c" ', "- ", "1. ", "prefer i prefer ", "decided we ", "in a, use tabs, ", "don't "],
)  # fmt: skip
def test_what_floods_a_message_costs_little(unit: str) -> None:
    """A hundred thousand characters of it: no pattern grows faster than what it looks at."""
    read((unit * 100_000)[:100_000])


def test_a_list_of_rules_is_read_whole_or_said_to_be_left() -> None:
    """A thousand sentences are read of a message, and it is said how many characters are left."""
    many = [f"Never touch module_{number} without a test." for number in range(1_200)]
    whole, part = read("- " + "\n- ".join(many[:1_000])), read("- " + "\n- ".join(many))
    assert ([each.text for each in whole.statements], whole.left) == (many[:1_000], 0)
    assert len(part.statements) == 1_000
    assert part.left > 8_000


@pytest.mark.parametrize(
    "before",
    ["é", "日本語の文です。", "👩‍👩‍👧", "İİİ", "e\u0301", "Straße", "a\r\nb", "\u2028", "\u00a0", "\U0001d400"],
)
def test_places_are_characters_of_the_message(before: str) -> None:
    """Whatever stands before: letters of several bytes, letters whose lower case is longer, other ends of lines."""
    message = f"{before}\n- Always run the café's tests first. {before}"
    found = only(message)
    assert (found.start, found.text) == (message.index("Always"), message[found.start : found.end])
    assert found.text.startswith("Always run the café's tests first.")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The timeout of the worker is 30", "The timeout of the server is 60"),
        ("the limit of parse_config is 17", "the limit of cache_path is 18"),
        ("The deadline for the report is 5 May", "The deadline for the slides is 7 May"),
        ("Le délai du serveur est à 30 s", "Le délai du client est à 60 s"),
    ],
)
def test_one_quality_of_two_things_is_two_things(one: str, other: str) -> None:
    """What is said of one never takes the place of what is said of the other."""
    assert only(one).subject != only(other).subject


def test_a_quality_is_the_same_however_its_thing_is_named() -> None:
    assert (
        only("The timeout of the worker is 30").subject == only("The worker timeout is 60").subject == "worker timeout"
    )


@pytest.mark.parametrize(
    ("text", "subject", "value"),
    [
        ("We use npm as package manager", "package manager", "npm"),
        ("On utilise npm comme gestionnaire de paquets", "package manager", "npm"),
        ("Finalement, on utilise MySQL à la place de PostgreSQL", "database", "MySQL"),
        ("On utilise MySQL au lieu de PostgreSQL", "database", "MySQL"),
        ("Utilise toujours pnpm, pas npm", "package manager", "pnpm"),
        ("Actually, we use yarn now.", "package manager", "yarn"),
        ("On utilise yarn maintenant", "package manager", "yarn"),
        ("We use yarn again these days", "package manager", "yarn"),
        ("Indente avec deux espaces", "indentation", "deux espaces"),
        ("The server runs on port 8080", "server", "port 8080"),
        ("Always answer in French", "answer language", "French"),
        ("I prefer French over English", "answer language", "French"),
        ("Réponds toujours en anglais", "answer language", "Réponds toujours en anglais"),
        ("Never write comments in English", "comments", "not write comments in English"),
        ("Write comments in English", "comments", "Write comments in English"),
        ("Écris les commentaires en anglais", "commentaires", "Écris les commentaires en anglais"),
        ("Rédige la documentation en français", "documentation", "Rédige la documentation en français"),
    ],
)
def test_a_value_is_what_is_chosen_and_of_what(text, subject, value):
    """Not what it is chosen as or over; and the language of comments is not the language of answers."""
    assert [(each.subject, each.value) for each in told(text)] == [(subject, value)]


@pytest.mark.parametrize(
    ("text", "subject", "value"),
    [
        ("cache_key must never contain the session id", "cache_key", "not contain the session id"),
        ("Functions must never return None", "functions", "not return None"),
        ("You must never commit secrets", "secrets", "not commit secrets"),
        ("When you write tests, never mock the database", "tests", "not mock the database"),
        ("I never use globals", "globals", "not globals"),
        ("La clé ne doit jamais contenir l'identifiant de session", "clé", "pas contenir l'identifiant de session"),
        ("Les commits ne doivent pas être gros", "commits", "pas être gros"),
        ("On ne doit jamais pousser sur main", "main", "pas pousser sur main"),
        (
            "Ne jamais commiter sur la branche de production",
            "branche production",
            "pas commiter sur la branche de production",
        ),
        ("Ne pas pousser sur main", "main", "pas pousser sur main"),
        ("Let's not use ORMs", "orms", "not ORMs"),
        ("You must not edit generated files", "generated files", "not edit generated files"),
        ("It is forbidden to push to main", "main", "not push to main"),
        ("Il est interdit de pousser sur main", "main", "pas pousser sur main"),
        ("Je préfère que tu n'utilises pas d'emojis", "emojis", "pas emojis"),
        ("We no longer support Python 3.8", "python 3.8", "not Python 3.8"),
        ("On ne supporte plus Python 3.8", "python 3.8", "pas Python 3.8"),
        ("No more emojis please", "emojis", "not emojis"),
        ("Pas d'emojis s'il te plaît", "emojis", "pas emojis"),
        ("Don't merge without a review", "merge", "not merge without a review"),
        ("Don't merge unless it was reviewed", "merge", "not merge unless it was reviewed"),
        ("On n'utilise plus redux", "state management", "pas redux"),
        ("Never use `eval`", "eval", "not eval"),
        ("No heavy dependencies", "heavy dependencies", "not heavy dependencies"),
        ("Pas de dépendances lourdes", "dépendances lourdes", "pas dépendances lourdes"),
        ("Tu ne dois pas modifier le schéma", "schéma", "pas modifier le schéma"),
    ],
)
def test_what_is_never_to_be_done_is_kept_as_denied(text, subject, value):
    """A value without its `never` would say the opposite."""
    assert [(each.subject, each.value) for each in told(text)] == [(subject, value)]


@pytest.mark.parametrize(
    "message",
    [
        "We have not decided to use Kafka yet.", "We never decided to use Kafka.", "We haven't settled on Postgres.",
        "Imagine we decided to use Rust.", "We have not chosen a database yet.", "I never said that we use Redis.",
        "I didn't say we use Redis.", "It's not true that the server runs on port 80.",
        "The docs say you must always use --force, which is wrong.", "My boss prefers Java but I don't care.",
        "On n'a pas encore décidé d'utiliser Kafka.", "On n'a jamais décidé d'utiliser Kafka.", "Imagine qu'on a décidé d'utiliser Rust.",
        "On n'a pas encore choisi de base de données.", "Je n'ai jamais dit qu'on utilise Redis.",
        "Ce n'est pas vrai que le serveur tourne sur le port 80.", "La doc dit qu'il faut toujours utiliser --force, ce qui est faux.",
        "Mon chef préfère Java mais je m'en fiche.",
    ],
)  # fmt: skip
def test_what_is_denied_imagined_or_refused_is_not_read(message: str) -> None:
    """Nor is what others say where the author says that it is wrong."""
    assert told(message) == []


@pytest.mark.parametrize(
    ("message", "kind", "subject", "value"),
    [
        ("Don't forget to update the changelog.", "todo", "changelog", "update the changelog"),
        ("We don't just use Redis, we decided to use Postgres.", "decision", "database", "Postgres"),
        ("That's wrong, we use Redis.", "fact", "cache", "Redis"),
        ("Make sure to update the changelog with every user-visible change.", "instruction", "changelog", "update the changelog with every user-visible change"),
        ("We're switching from npm to pnpm because it is faster.", "decision", "package manager", "pnpm"),
        ("No, not tabs, I said spaces.", "instruction", "indentation", "spaces"),
        ("I said spaces, not tabs.", "instruction", "indentation", "spaces"),
        ("The database is called billing_prod.", "fact", "database", "billing_prod"),
        ("Handlers must always return JSON.", "instruction", "handlers", "return JSON"),
        ("The upload service must never exceed 60 seconds.", "instruction", "upload service", "not exceed 60 seconds"),
        ("You must always return JSON.", "instruction", "json", "return JSON"),
        ("Les handlers doivent toujours renvoyer du JSON.", "instruction", "handlers", "renvoyer du JSON"),
        ("On passe de npm à pnpm parce que c'est plus rapide.", "decision", "package manager", "pnpm"),
        ("Non, pas des tabulations, j'ai dit des espaces.", "instruction", "indentation", "espaces"),
        ("J'aime pas les emojis.", "preference", "emojis", "pas les emojis"),
        ("Veille à toujours lancer les tests.", "instruction", "tests", "lancer les tests"),
        ("Veillez à ne jamais pousser sur main.", "instruction", "main", "pas pousser sur main"),
        ("La base s'appelle billing_prod.", "fact", "base", "billing_prod"),
    ],
)  # fmt: skip
def test_what_is_meant_beside_a_denial_is_read(message: str, kind: str, subject: str, value: str) -> None:
    """A correction, a change of tools, a name, and what one thing of several has to do."""
    found = only(message)
    assert (found.kind, found.subject, found.value) == (kind, subject, value)


@pytest.mark.parametrize(
    ("message", "subject", "attribute", "value"),
    [
        ("We decided not to use Kafka.", "kafka", "", "not Kafka"),
        ("We decided against MongoDB.", "database", "", "not MongoDB"),
        ("The team agreed not to rewrite the parser.", "parser", "rewrite", "not rewrite the parser"),
        ("We decided to never store card numbers.", "card numbers", "store", "not store card numbers"),
        ("We decided to drop Redis.", "cache", "", "not Redis"),
        ("We ruled out MongoDB.", "database", "", "not MongoDB"),
        ("We gave up on Bazel, it was too slow.", "bazel", "", "not Bazel"),
        ("We're dropping support for Python 3.8.", "python 3.8", "", "not support for Python 3.8"),
        ("We are not going to use GraphQL.", "api style", "", "not GraphQL"),
        ("On a décidé de ne pas utiliser Kafka.", "kafka", "", "pas Kafka"),
        ("On a décidé de ne plus réécrire le parseur.", "parseur", "réécrire", "pas réécrire le parseur"),
        ("Nous avons décidé d'abandonner Redis.", "cache", "", "pas Redis"),
        ("On a renoncé à Kafka.", "kafka", "", "pas Kafka"),
        ("On ne va pas utiliser GraphQL.", "api style", "", "pas GraphQL"),
    ],
)
def test_what_was_decided_against_is_denied_and_about_the_thing(message, subject, attribute, value):
    """Without its denial a decision would say the opposite, and "not" is about nothing."""
    found = only(message)
    assert (str(found.kind), found.subject, found.attribute, found.value) == ("decision", subject, attribute, value)


@pytest.mark.parametrize(
    ("message", "subject", "attribute", "value"),
    [
        (
            "We decided to postpone the migration to Vue 3.",
            "migration",
            "postpone",
            "to postpone the migration to Vue 3",
        ),
        (
            "We decided to write a wrapper around Redis.",
            "wrapper around redis",
            "write",
            "to write a wrapper around Redis",
        ),
        ("We decided to run the tests with pytest.", "test framework", "python", "to run the tests with pytest"),
        ("We decided to keep our Redis.", "cache", "", "to keep our Redis"),
    ],
)
def test_what_is_done_about_a_tool_is_no_choice_of_it(message, subject, attribute, value):
    """To put off a migration to Vue takes the place of no framework."""
    found = only(message)
    assert (found.subject, found.attribute, found.value) == (subject, attribute, value)


@pytest.mark.parametrize(
    ("message", "subject", "attribute"),
    [
        ("We use Postgres in production.", "production database", ""),
        ("We use SQLite in tests.", "tests database", ""),
        ("We use React in the dashboard.", "dashboard frontend framework", ""),
        ("We use React in this repo.", "frontend framework", ""),
        ("The backend uses Postgres.", "backend database", ""),
        ("The API runs on port 8080.", "api", "runs on"),
        ("The worker runs on port 8080.", "worker", "runs on"),
        ("On utilise Postgres en production.", "production database", ""),
        ("I like my commit messages short.", "commit messages", ""),
        ("I really like small PRs, ideally under 200 lines.", "prs", ""),
        ("Don't explain the code, just write it.", "code", "explain"),
        ("Every PR needs a changelog entry.", "pr", "needs"),
        ("All public functions need docstrings.", "public functions", "need"),
        ("Ne pousse jamais directement sur main.", "main", "pousse"),
        ("Désormais on écrit les messages de commit en anglais.", "messages commit", "écrit"),
        ("Je préfère les tabulations aux espaces.", "indentation", ""),
    ],
)
def test_two_things_have_two_names(message, subject, attribute):
    """What one part uses, or where, is not what another does, and no article or "and" is a name."""
    found = only(message)
    assert (found.subject, found.attribute) == (subject, attribute)


@pytest.mark.parametrize(
    "message",
    [
        "I don't know if we prefer tabs.", "Not sure whether we always use npm.", "I wonder if we decided to use Kafka.",
        "It's not that I prefer tabs.", "We almost chose MongoDB.", "Someone decided to use jQuery here.",
        "My coworker thinks we should always use ORMs.", "Stop it.", "Stop the server and rerun.", "You did it again. Stop that.",
        "Je ne sais pas si on préfère les tabulations.", "Je me demande si on préfère vim.", "Certains préfèrent vim.",
        "Someone in the mobile team claims our API runs on port 8000.", "Only asking.", "just wondering", "Juste pour savoir.",
    ],
)  # fmt: skip
def test_what_is_wondered_or_others_do_is_not_read(message: str) -> None:
    """A question inside a sentence is one; what nobody in particular did is no decision."""
    assert extract(message) == []


def test_code_stays_in_a_value():
    """A command is what the instruction is about, though it is not read as speech."""
    found = only("Whenever you change the schema, regenerate the types with `npm run codegen`.")
    assert found.value == "regenerate the types with `npm run codegen`"
    assert (
        only("Never run `rm -rf build dist` before you commit.").value
        == "not run `rm -rf build dist` before you commit"
    )
    assert only("Never call `os.system` directly.").value == "not call `os.system` directly"


@pytest.mark.parametrize(
    "message",
    ["Everything under src/generated is generated, never edit it", "- src/generated is generated, don't edit it"],
)
def test_what_follows_from_a_state_is_part_of_the_rule(message: str) -> None:
    """That files are generated says little without the ban on editing them."""
    found = only(message)
    assert "edit it" in found.value
    assert "src/generated" in f"{found.subject} {found.where}"


def test_what_something_is_written_in_limits_nothing():
    """That the backend is in Go holds not only for files of Go, and ends where the frontend begins."""
    found = extract("The backend is in Go and the frontend is in TypeScript.")
    assert [(each.subject, each.value, each.where) for each in found] == [
        ("backend", "Go", ""),
        ("frontend", "TypeScript", ""),
    ]


@pytest.mark.parametrize(
    ("message", "value"),
    [
        ("Never open http://localhost:3000 in tests.", "not open http://localhost:3000 in tests"),
        ("The docs are at https://docs.example.com", "https://docs.example.com"),
        ("pnpm replaced npm", "pnpm"),
        ("npm was replaced by pnpm", "pnpm"),
        ("Rather than Redis let's use RabbitMQ for the queue.", "RabbitMQ"),
        ("Je préfère pnpm à npm.", "pnpm"),
        ("Never mind that, go with yarn.", "yarn"),
        ("my favourite editor is vim but everyone else uses emacs", "vim"),
        ("I like npm less than pnpm", "not npm"),
        ("Unless I say otherwise, write in French.", "French"),
        ("Yeah leave it in Postgres.", "leave it in Postgres"),
        ("leave vendor/ alone", "not vendor/ alone"),
    ],
)
def test_a_value_is_read_the_right_way_round(message: str, value: str) -> None:
    """Addresses hold colons, and of two tools the order of words says which is meant."""
    assert extract(message)[0].value == value


@pytest.mark.parametrize(
    "message",
    ["I used to prefer tabs.", "We never had a problem with npm before.", "Without npm nothing works here.", "npm is slower than pnpm",
     "Imagine we use Mongo for the queue."],
)  # fmt: skip
def test_what_was_or_might_be_is_not_kept(message: str) -> None:
    """A habit of before, a remark and a supposition are no rules."""
    assert extract(message) == []


@pytest.mark.parametrize(
    ("message", "values"),
    [
        ("From their README:\n- always use tabs\n- never force push\n\nWe use pnpm here.", ["pnpm"]),
        ("the error says: you must always run the tests", []),
        ("extrait de leur doc :\nToujours lancer les tests avant de pousser.", []),
        ("Our conventions:\n- always run the tests before you push", ["run the tests before you push"]),
        ("error messages: always say what to do next", ["always say what to do next"]),
    ],
)
def test_what_somebody_elses_text_says_is_no_rule(message, values):
    """A text that is introduced as another's ends at an empty line."""
    assert [each.value for each in extract(message)] == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("the queue is in RabbitMQ, invoices are in S3", ["RabbitMQ", "S3"]),
        ("L'API est en Go, les scripts sont en Python", ["en Go", "en Python"]),
        ("If you add a flag, always document it", ["document it"]),
    ],
)
def test_a_sentence_that_states_two_things_is_read_twice(text, values):
    """The second is not lost; a condition is no statement of its own."""
    assert [each.value for each in extract(text)] == values


@pytest.mark.parametrize(
    ("message", "subject"),
    [
        ("Don't use spaces in file names", "file names"),
        ("Never put spaces around default values", "spaces around default values"),
        ("Use spaces in Python", "indentation"),
        ("Use tabs, not spaces", "indentation"),
        ("We use nose for the tests", "test framework"),
        ("The rate limit for the public API is 60 requests per minute.", "limit"),
    ],
)
def test_a_word_is_a_known_choice_where_it_means_one(message: str, subject: str) -> None:
    """Spaces elsewhere than before a line say nothing of how it is indented."""
    assert only(message).subject == subject


def test_the_nose_of_a_plane_is_no_test_framework() -> None:
    """An article tells the word from the tool."""
    assert choice_of("the nose of the plane is red") is None


@pytest.mark.parametrize(
    "message",
    [
        "Migrations are scary",
        "Our client is ill",
        "Our release days are so stressful",
        "Les migrations sont effrayantes",
    ],
)
def test_how_somebody_feels_about_a_thing_is_no_rule(message: str) -> None:
    """Nothing of it is told unasked."""
    assert all(each.confidence < 0.6 for each in extract(message))


@pytest.mark.parametrize(
    ("message", "subject", "value"),
    [
        ("Redis only for the rate limiter.", "rate limiter cache", "Redis only"),
        ("salut, pour ce dépôt réponds-moi en français.", "answer language", "français"),
        ("mm ok NATS then.", "nats", "NATS"),
        ("le paiement se fait le mardi matin", "paiement se", "mardi matin"),
        ("Inès s'occupe de la facturation, Samir de la prod et moi du suivi", "facturation", "Inès"),
    ],
)
def test_words_around_a_value_hide_none_of_it(message: str, subject: str, value: str) -> None:
    """A greeting, a name before "only", an ending in -nt, a clause without its verb."""
    assert (only(message).subject, only(message).value) == (subject, value)


def test_a_clause_without_a_subject_is_about_the_one_before() -> None:
    """A denial alone would be told as "not on Fridays"."""
    found = told("le déploiement se fait le mardi matin, jamais le vendredi")
    assert {each.subject for each in found} == {"déploiement se"}
