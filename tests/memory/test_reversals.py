"""A later statement in other words ends what it names as gone, or takes the place of another value of the same thing."""

from __future__ import annotations

import pytest


def standing(memory, text):
    """Return the facts that still hold and were first said in these words."""
    return [fact for fact in memory.facts() if fact.text == text]


@pytest.mark.parametrize(
    ("before", "reversal", "new"),
    [
        ("tickets live in Jira", "we finally got off Jira, tickets are in Linear", "Linear"),
        (
            "static assets are served from Cloudfront",
            "we ditched Cloudfront over the invoice, Bunny serves them now",
            "",
        ),
        ("the beta opens Nov 3", "beta is pushed to Nov 14", "Nov 14"),
        ("we target Godot 3", "we bumped to Godot 4 last night", "Godot 4"),
        ("nginx is our reverse proxy", "replaced nginx with Traefik", "Traefik"),
        ("put the ticket number in every commit message", "we dropped the ticket number requirement for commits", ""),
        ("the importer runs nightly", "the nightly importer run is switched off", ""),
        ("use early returns", "ignore my rule about early returns, the team hates them", ""),
        ("squash every PR", "you don't have to squash anymore", ""),
        ("logs are kept for 30 days", "legal says 30 days is too short", ""),
        ("les fichiers sont dans MinIO", "on quitte MinIO, les fichiers vont dans Garage", "Garage"),
        ("les serveurs sont à Paris", "les serveurs ont déménagé à Marseille", "Marseille"),
        ("Idriss est notre référent sécurité", "Solène remplace Idriss comme référente sécurité", "Solène"),
        ("on utilise Vagrant pour l'environnement", "Vagrant, on arrête", ""),
        ("lance Lighthouse avant chaque livraison", "plus la peine de lancer Lighthouse", ""),
        ("we monitor with Datadog", "we don't use Datadog anymore", ""),
        ("post deploys to Slack", "deploys don't get posted to Slack anymore", ""),
        ("the public API is GraphQL", "the public API isn't GraphQL after all, it's REST", "REST"),
        ("la base écoute sur 5432", "la base n'écoute plus sur 5432, c'est 5433", "5433"),
        ("exports land in Dropbox", "exports went over to Nextcloud", "Nextcloud"),
        ("the shop is hosted at Netlify", "out with Netlify, the shop is at Coolify now", "Coolify"),
        ("Ruth maintains the crawler", "Imran took the crawler over from Ruth", "Imran"),
        ("column names are camelCase", "we're flipping column names from camelCase to snake_case", "snake_case"),
        ("tests are written with unittest", "unittest is a thing of the past, pytest runs them", "pytest"),
        ("charts are drawn with Plotly", "I finally threw Plotly out", ""),
        ("mets une icône devant chaque titre", "plus d'icônes devant les titres", ""),
        ("on utilise pnpm", "on a dit adieu à pnpm, c'est yarn", "yarn"),
        ("we format with black", "we said goodbye to black, it's ruff", "ruff"),
        ("les alertes partent dans Slack", "adieu Slack, les alertes partent dans Zulip", "Zulip"),
        ("payments go through Braintree", "we switch to Mollie, the fees are lower", "Mollie"),
        ("on déploie chez Hetzner", "finalement on repasse sur OVH", "OVH"),
        ("set the retry limit to 5 attempts", "we lower the limit to 3 attempts", "3 attempts"),
        ("we deploy with Kamal", "Turns out we dropped Kamal last week, deploys go through Argo now", "Argo"),
        ("les tests sont en Jest", "Jest c'est de l'histoire ancienne, on est en Vitest", "Vitest"),
        ("the rate limit is 60", "the rate limit goes up to 120", "120"),
        (
            "the demo for the Lyon client is on December 12",
            "Demo moved to December 16, the client is ill",
            "December 16",
        ),
        ("on vouvoie les clients", "oublie ce que j'ai dit sur le vouvoiement, on tutoie les clients", "tutoie"),
        ("on a choisi structlog plutôt que loguru, pour le JSON", "drop structlog", ""),
        ("on a choisi tenacity pour les relances réseau", "we dropped tenacity for the retries", ""),
        ("We went with Celery for background jobs", "on abandonne Celery pour les tâches de fond", ""),
    ],
)
def test_a_reversal_ends_what_it_names(memory, said, before, reversal, new):
    """The old is not told any more, and the new is, where the words give one."""
    said(before)
    assert standing(memory, before)
    said(reversal)
    assert not standing(memory, before)
    assert any(new in fact.value for fact in memory.facts()) or not new


@pytest.mark.parametrize(
    ("before", "later"),
    [
        ("sessions are kept in Redis", "should we drop Redis?"),
        ("we use Redis for the queue", "Redis was slow today"),
        ("we use Postgres in production", "we moved the wiki off Postgres, it's on SQLite now"),
        ("the health check timeout is 10 seconds", "the login timeout is now 5 seconds"),
        ("Kofi reviews everything under billing/", "Kofi is out this week"),
        ("squash every PR", "don't squash this one"),
        ("we use docker for local dev", "drop the docker container called web"),
        ("tickets live in Jira", "we dropped the ticket number requirement for commit messages"),
        ("on utilise Celery pour les tâches", "on devrait laisser tomber Celery ?"),
        ("the rate limit is 60", "the burst limit goes up to 120"),
        ("Redis only for the rate limiter.", "our rate limit is 60"),
        ("On prend Meilisearch pour la recherche", "drop Meilisearch for the docs"),
        ("la CI tourne sur Jenkins", "si ça continue on lâche Jenkins"),
        ("les mails partent avec Celery", "on laisse tomber Celery pour les exports"),
        ("sessions are kept in Redis", "Redis isn't slow any more"),
        ("we use Redis for the queue", "we don't use Redis for the sessions anymore"),
        ("le panneau d'admin est en React", "le site public a quitté React pour Svelte"),
        ("the admin panel is in React", "the landing page has left React for Svelte"),
        ("the mill session times out after 10 minutes", "the mill session tests were finished on April 10, 2024"),
        (
            "I decided to avoid checking mails after 6 PM",
            "our check-ins are every Friday at 6 PM and our demos every Friday at 7 PM",
        ),
        ("always derive tide tables step by step", "I've seen it done with tide tables in an old handbook"),
    ],
)
def test_what_is_asked_passing_or_about_another_thing_ends_nothing(memory, said, before, later):
    """A near miss leaves the earlier statement as it is."""
    said(before)
    assert standing(memory, before)
    said(later)
    assert standing(memory, before)


def test_a_retraction_that_meets_nothing_is_not_kept(memory, said):
    """It would tell an agent of something that was never asked for."""
    done = memory.record("forget what I said about semicolons", role="user")
    assert memory.facts() == []
    assert (done.events, done.facts, done.kept_out) == (1, 0, 0)


def test_a_value_that_takes_the_place_of_another_is_not_said_to_be_kept_out(memory, said):
    """It was neither forgotten nor rejected."""
    said("Tickets live in Jira.")
    done = memory.record("we dropped Jira, tickets are in Linear", role="user")
    assert (done.facts, done.kept_out) == (2, 0)


@pytest.mark.parametrize(
    ("before", "echo"),
    [
        ("tickets live in Jira", "We got off Jira, tickets are in Linear now."),
        ("let's go with msgpack for the wire format", "OK, I'll use JSON instead for the wire format."),
        ("We use yarn", "OK, I'll use pnpm instead of yarn from now on."),
        ("The retry limit is 5", "The retry limit is 3 now."),
    ],
)
def test_what_an_assistant_says_ends_nothing_that_a_person_said(memory, said, before, echo):
    """Keep a person's word undisputed, and end an assistant's own."""
    said(before)
    said(echo, role="assistant")
    assert [fact.disputed for fact in standing(memory, before)] == [False]
    said("OK, I'll lint with flake8.", role="assistant")
    said("We moved from flake8 to ruff.", role="assistant")
    assert not standing(memory, "OK, I'll lint with flake8.")


def test_reversals_that_are_imported_together_are_paired(memory, clock):
    """A transcript is read in one go, and its later messages end what its earlier ones said."""
    from vademecum.memory.records import Event, Role

    texts = ("tickets live in Jira", "we finally got off Jira, tickets are in Linear")
    memory.record_all([Event(f"e{n}", clock() + n, Role.USER, text) for n, text in enumerate(texts)])
    assert not standing(memory, texts[0])


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("we use Redis for the cache", "scratch that"),
        ("we use Redis for the cache", "kidding"),
        ("always answer in rhymes", "haha just kidding"),
        ("on utilise Redis pour le cache", "oublie ce que je viens de dire"),
        ("toujours répondre en rimes", "je rigole"),
    ],
)
def test_the_next_message_takes_a_message_back(memory, clock, before, words):
    """In the same session, whatever an agent said in between; elsewhere it takes nothing back."""
    memory.record(before, role="user", session="a")
    clock.now += 60
    memory.record(words, role="user", session="b")
    assert standing(memory, before)
    memory.record("Noted.", role="assistant", session="a")
    memory.record(words, role="user", session="a")
    assert not standing(memory, before)


@pytest.mark.parametrize(
    ("before", "words", "old", "new"),
    [
        ("les builds nocturnes partent à 2h du matin", "non pardon, 3h", "2h", "3h"),
        ("the gateway listens on port 8080", "no sorry, port 8081", "8080", "8081"),
        ("the 2.9 release goes out on 12 December", "correction: 14 December", "12 December", "14 December"),
        ("we use Redis for the cache", "sorry, I meant Memcached", "Redis", "Memcached"),
    ],
)
def test_the_next_message_corrects_a_value(memory, clock, before, words, old, new):
    """The new value is told with the words that make it understood."""
    memory.record(before, role="user", session="a")
    clock.now += 60
    memory.record(words, role="user", session="a")
    facts = memory.facts()
    assert any(new in fact.value for fact in facts)
    assert not any(old in fact.value and fact.confidence >= 0.6 for fact in facts)
    assert all(before in fact.text for fact in facts if fact.text.endswith(words))


def test_an_answer_to_an_agents_question_takes_nothing_back(memory, clock):
    """Nor does a "no" alone, which somebody else's words call for."""
    for agent, words in (("Shall I deploy it too?", "actually no"), ("I will deploy it too.", "no")):
        memory.record("we use Redis for the cache", role="user", session="a")
        clock.now += 60
        memory.record(agent, role="assistant", session="a")
        clock.now += 60
        memory.record(words, role="user", session="a")
        clock.now += 60
        assert standing(memory, "we use Redis for the cache")


@pytest.mark.parametrize(
    ("before", "reversal", "old", "new"),
    [
        ("we use zerolog for logging", "update: zerolog out, slog in, std lib is good enough", "zerolog", "slog"),
        ("from now on, run gofumpt", "j'en ai marre de gofumpt, retour à gofmt", "gofumpt", "gofmt"),
        ("we will use Docker for the integration tests", "podman then", "Docker", "podman"),
        ("the 2.9 release goes out on 12 December", "and 2.9 slipped, we ship on 19 December", "12", "19 December"),
        (
            "on livre la version plugin le 3 février",
            "la livraison glisse au 17 février, le client n'est pas prêt",
            "3",
            "17",
        ),
        (
            "Anna from the docs team reviews README changes, ping her",
            "Anna moved to another team, README reviews go to Bilal now",
            "Anna",
            "Bilal",
        ),
    ],
)
def test_the_old_value_is_told_no_more(memory, said, before, reversal, old, new):
    """By other words for one act, by what is left out, and by who went."""
    said(before)
    said(reversal)
    told = [fact for fact in memory.facts() if fact.confidence >= 0.6]
    assert any(new in fact.value for fact in told)
    assert not any(fact.text == before for fact in told), old


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        ("the mill listens on port 7070", "mill is on 7071 as of today", "7071"),
        ("wrap lines at 90 columns", "90 columns is too tight, let's do 110", "110"),
        ("our db is hosted on Acorn", "the db isn't on Acorn any longer, Birch hosts it", "Birch"),
        ("the barn door timeout is 10 seconds", "we lowered the barn door timeout to 4 seconds", "4 seconds"),
        ("on utilise Vue pour le guichet", "le guichet a été porté de Vue à Svelte", "Svelte"),
        ("the packages are managed with poetry", "poetry got slow, we replaced it with uv", "uv"),
    ],
)
def test_the_other_value_of_a_kind_takes_the_place_of_the_one_that_is_gone(said, memory, before, after, new):
    """However the sentence is built, the old words go on with the new value in them."""
    said(before)
    said(after)
    assert standing(memory, before) == []
    assert any(new.lower() in fact.value.lower() for fact in memory.facts())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I prefer tabs over spaces for indentation", "I prefer tabs over spaces for indentation."),
        ("pod 1 listens on port 8081", "pod 2 listens on port 8082 now"),
        ("we use Postgres in production", "we moved the wiki off Postgres, it's on SQLite now"),
        ("the mill timeout is 10 seconds", "the barn timeout is now 5 seconds"),
    ],
)
def test_what_is_said_of_another_thing_or_again_ends_nothing(said, memory, before, after):
    """A number beside the value tells things apart, and so does another thing."""
    said(before)
    (old,) = standing(memory, before)
    said(after)
    assert old.value in [fact.value for fact in memory.facts()]


def test_what_was_wrong_with_the_old_value_is_no_fact_of_its_own(said, memory):
    """It only says why the value was left."""
    said("configs are YAML files")
    said("YAML was a mistake, configs are JSON files now")
    assert [fact.value for fact in memory.facts()] == ["JSON files"]


@pytest.mark.parametrize(
    ("left", "done"),
    [
        ("someone has to renew the TLS certificate", "the TLS certificate is renewed"),
        ("TODO: renew the TLS certificate before December", "the certificate is renewed"),
        ("I still have to add retries to the uploader", "added the retries to the uploader"),
        ("il reste à traduire la page de contact", "la page de contact est traduite, c'est fait"),
        ("TODO: rotate the tide client secret before Friday", "I rotated the tide secret this morning"),
        ("we still have to write the pilot docs", "Karim wrote the pilot docs over the weekend"),
        ("il reste à écrire le guide des pilotes", "j'ai écrit le guide des pilotes hier"),
        ("il reste la doc des pilotes à écrire", "I wrote the pilot docs"),
        ("TODO: bump Django to 5", "I bumped Django to 5 and all is green"),
    ],
)
def test_open_work_ends_when_it_is_reported_as_done(said, memory, left, done):
    """And the report is no open work itself."""
    said(left)
    assert memory.facts(kinds=["todo"])
    said(done)
    assert memory.facts(kinds=["todo"]) == []


@pytest.mark.parametrize(
    "after",
    [
        "alerts for the queue are not in place yet",
        "the readme is done",
        "the alerts for the queue were too noisy",
        "I wanted to add alerts for the queue",
        "I forgot the alerts for the queue",
        "I added alerts for the cache",
    ],
)
def test_open_work_stays_open_otherwise(said, memory, after):
    """Not yet done, other work, and a complaint."""
    said("we still need alerts for the queue")
    said(after)
    assert "alerts for the queue" in [fact.value for fact in memory.facts(kinds=["todo"])]


@pytest.mark.parametrize(
    "after", ["I rotated the DHL secret", "I haven't rotated the UPS secret", "did Anna rotate the UPS secret?"]
)
def test_work_on_a_thing_of_another_name_is_other_work(said, memory, after):
    """Where both name one."""
    said("TODO: rotate the UPS secret")
    said(after)
    assert [fact.value for fact in memory.facts(kinds=["todo"])] == ["rotate the UPS secret"]


def test_a_name_after_d_is_not_rejected(memory, said):
    """French "le serveur d'Adyen" rejects nothing; "on passe d'npm à pnpm" does."""
    said("les paiements passent par Adyen")
    said("Le serveur d'Adyen nous bannit après trois erreurs, donc on passe la limite à 3 tentatives.")
    assert standing(memory, "les paiements passent par Adyen")
    said("on utilise npm")
    said("on passe d'npm à pnpm")
    assert not standing(memory, "on utilise npm")


@pytest.mark.parametrize("report", ["The index on orders.buyer_id is done.", "the orders.buyer_id index is merged"])
def test_work_reported_in_other_words_is_done(memory, said, report):
    """A report need not repeat the act nor the time by which it was due."""
    said("TODO: add an index on orders.buyer_id before the launch.")
    assert [fact for fact in memory.facts() if fact.kind == "todo"]
    said(report)
    assert not [fact for fact in memory.facts() if fact.kind == "todo"]


def test_a_value_ends_where_a_sentence_names_its_whole_subject(memory, said):
    """However much else the earlier sentence says."""
    said("The carrier API allows 60 calls a minute so our rate limit is 60")
    said("they bumped our quota, the rate limit goes up to 120")
    assert [fact.value for fact in memory.facts() if fact.subject == "rate limit"] == ["120"]
