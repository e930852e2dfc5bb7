"""Find the value in a sentence of a known kind.

    From now on use pnpm, not npm        pnpm, over npm
    we've moved off npm, it's pnpm now   pnpm, over npm
    no default exports                   not default exports

The patterns are long, in English and French: forms of speech are many. Four steps: cut off the words around the statement (greetings, reasons, alternatives, conditions); ask which of the tools named is
chosen and which rejected; try the shapes of the kind; take off the words that only lead to the value. What remains is the value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice, pairwise

from vademecum.index.stopwords import TALK
from vademecum.memory.choices import CHOICE, is_known, named, up_to_another
from vademecum.memory.extract.sentences import probability
from vademecum.memory.kinds import FactKind
from vademecum.memory.reversals import kinds_of

_MOST = 300  # characters of a value
_MOST_READ = 360  # characters of a sentence in which a value is looked for
_TAIL, _LAST = 280, 80  # characters, in which a reason or a condition, and polite words, end a sentence
_MOST_PARTS = 6  # of a sentence that are weighed


@dataclass
class Found:
    """A statement's value and the words around it.

    Attributes:
        value: The value, without its denial.
        parts: Other parts by name: `subject`, `attribute`, `part`, `topic`, `object`, `other`, `reason`.
        negative: The value is denied.
        corrects: The sentence says that something changed.
        clause: The words that hold the value and its purpose.
    """

    value: str
    parts: dict[str, str] = field(default_factory=dict)
    negative: bool = False
    corrects: bool = False
    clause: str = ""


# -- the words around a statement ---------------------------------------------------------------------------------------------

_HELLO_TEXT = """
    please pls plz also and but so then ok okay nope yes yeah yep actually wait hmm hm btw fyi just oh well hey hi right fine
    alright honestly personally basically careful remember sorry ah generally finally
    bon donc du_coup alors et mais oui ouais stp svp s'il_te_plaît s'il_vous_plaît aussi enfin finalement désormais dorénavant
    attention sinon hein moi_je au_fait au_passage en_fait au_final en_général en_règle_générale par_défaut partout à_l'avenir
    à_partir_de_maintenant d'habitude c'est_bon pour_info
    from_now_on from_here_on going_forward in_future in_the_future in_general by_default as_a_rule as_a_general_rule heads_up on_second_thought
    for_future_reference scratch_that from_here_on_out i_think changed_my_mind change_of_plans? after_all merci_de prière_de in_this_repo in_this_project in_our_repo dans_ce_projet dans_ce_dépôt chez_nous here around_here toujours always
"""


def _any_of(text: str) -> str:
    words = sorted(text.split(), key=len, reverse=True)
    return "|".join(word.replace("_", " ") for word in words)


_HELLO = re.compile(
    rf"(?i)(?:(?:(?:never mind|unless|peu importe|sauf si)\b[^,]*,|(?:no|non|nan)(?=[,.!]|\s+(?:wait|not|pas)\b)|(?:{_any_of(_HELLO_TEXT)})(?![\w']))[\s,:;.!\u2013\u2014-]*)+"
)
_TITLE = re.compile(
    r"(?i)(?:(?:final )?(?:decision|verdict|answer|outcome|conclusion|result|new plan|plan|note|rule|rule of thumb|house rule|convention|team convention|policy|our (?:rule|policy)|reminder"
    r"|important|todo|to do|to-do|fixme|next steps?|next(?: up)?|action item|follow[ -]?up|remaining|left(?: to do)?|still (?:open|missing|to do)|open|later|tomorrow|solution|workaround|cause|resolved|solved|fixed"
    r"|confirmed|just confirmed|fact|quick fact[^:]*|for context|for the record|good to know|useful to know"
    r"|décision|conclusion|règle|rappel|à faire|prochaine étape|ensuite|la cause|la solution|résolu|réglé|corrigé|trouvé|contournement|à savoir|adr \d+)(?: (?:on|for|pour|with|avec|de|of|du) [^:,]{1,60})?\s*[:\u2013\u2014]|todo\b)\s*"
)
_GOODBYE = re.compile(
    r"(?i)(?:[\s,]*(?:\b(?:please|pls|thanks|stp|svp|merci|s'il (?:te|vous) plaît|from now on|from here on|going forward|from here|now|then|alors|du coup|désormais|dorénavant|à partir de maintenant|maintenant|finalement|after all|any ?more|all the way"
    r"|for me|in my book|i guess|hein|as of [^,;]*|these days|again|à nouveau|instead|ever|but|mais|across the board|as far as i'm concerned|if possible|no thanks|no exceptions?|sans exception|aucune exception|like i prefer|as i prefer|comme je préfère|(?:in|for|on|across) (?:this|our|the) (?:repo|repository|project|codebase|app)|dans (?:ce|notre|le) (?:projet|dépôt|repo)|here|ici|around here|for now|for good|by the way|btw|yesterday|last (?:night|week)|over the weekend|hier|la semaine dernière|ce week-end)|[.!?\u2026:;,\u2013\u2014-]))+\s*$"
)
_REASON = re.compile(
    r"(?i)[,;]?\s*(?:\b(?:because(?: of)?|since(?! (?:last|yesterday|monday))|due to|so that|given that|as (?=it|we|they|the|this)|car|parce qu(?:e\b|')|puisqu(?:e\b|')|afin (?:de|que)|vu que|à cause d(?:e\b|u\b|')|in order to)(?:\b|(?<='))\s*)(?P<reason>[^;]{3,240})$"
)
# How people came to what follows: "after some back and forth", "we slept on it and"
_WEIGHED = re.compile(
    r"(?i)^(?:(?:we|i)(?:'ve| have)? (?:\w+ ){0,2}?(?:talked|thought|slept|chatted|argued|discussed|weighed|debated|mulled|looked|went back and forth|compared)\b[^.;]{0,40}?(?:,|\b(?:and|but|so)\b)\s+(?=(?:we|i|let's|decided|chose|picked|settled|took|agreed)\b)"
    r"|(?:after|following)\s[^,.;]{3,50}?[, ]\s*(?=(?:we|i)(?:'|\b))"
    r"|(?:on|nous)\s(?:(?:en|y) )?(?:a|avons)\s(?:\w+ )?(?:parlé|discuté|débattu|réfléchi|comparé)\b[^.;]{0,40}?(?:,|\bet\b)\s+(?=(?:on|nous|je)\b)"
    r"|après\s[^,.;]{3,50}?[, ]\s*(?=(?:on|nous|je)\b))"
)
_OTHER = re.compile(
    r"(?i)(?:,?\s+(?:over(?! (?:\d|it\b))|rather than|instead of|as opposed to|and not|but not|plutôt qu(?:e\b|')|au lieu d(?:e\b|u\b|')|à la place d(?:e\b|u\b|')|et (?:pas|non))|,\s+(?:not|no(?! (?:need|idea|longer|more|matter|exceptions?)\b)|pas(?: de| d')?|jamais de|never(?! \w+ (?:it|them)\b)))\s*(?P<other>[^\s,;][^,;]*)"
)
_BLANKED = re.compile(r"\s{6,}")  # code and quotations, of which five blanks say enough
_BEYOND = re.compile(r" (?:because|since|for |in |pour |dans )")  # behind the alternative
_WHEN = r"(?P<topic>(?!(?:i prefer|this is)\b)\w.{1,160}?)"
_CONDITION = re.compile(
    rf"(?i)(?:when(?:ever)?|every time|each time|any ?time|if|quand|lorsque?|(?:à )?chaque fois qu(?:e |')|si|en cas de) {_WHEN},\s*(?:then |please |alors |always |toujours )?(?P<value>\S.*)|(?:before|after|avant|après) (?P<moment>[^,]{{2,60}}),\s*(?P<done>\S.*)"
)
_AT_END = re.compile(
    rf"(?i),?\s+(?:when(?:ever)?|every time|each time|if|quand|lorsqu(?:e |')|chaque fois qu(?:e |')|si (?=tu|on|je)) ?{_WHEN}$"
)
_PARTS = re.compile(
    r"[,;(](?! (?:not|no|pas|jamais|it's|it is|it'll) )\s*|\s[\u2013\u2014-]+\s|\s(?:but|mais|so|hence|thus|therefore|donc|du coup)\s(?!that\b|que\b)"
)

_SO = re.compile(r"(?i)\s(?:so|hence|thus|therefore|donc|du coup)\s$")
_RELATIVE = re.compile(r"(?i)(?:which|que)\b")
# A further word of a list: "simple, minimal dependencies"
_LISTED = re.compile(
    r"(?i)(?!(?:no|not|too|it|that|is|was|much|so|don't|pas|trop|c'est|ça|please|instead)\b)(?!(?:but|mais|in|on|at|for|with|how|what|dans|pour|avec|even|otherwise|sinon)\b)(?:and |et )?[\w-]+(?: (?!(?:is|are|was|were|got|gets|broke|it|me|rame|plante|coûte|tient|casse)\b)[\w-]+){0,2}"
)

# -- which of the tools is chosen ----------------------------------------------------------------------------------------------

_REJECTING = re.compile(
    r"(?i)(?:\b(?:over|than|instead of|off|from|not(?: (?:using|use|to use))?|no more|no|never|dropp?(?:ed|ing)?|scrap(?:ped)?|ditch(?:ed|ing)?|abandon(?:ed|ing)?|remov(?:ed?|ing)|replac(?:ed?|es|ing)|out of|rid of|kill(?:ed)?|forget(?: about)?|against|goodbye|bye|left|leaving"
    r"|nobody (?:wants|needs|uses)|ripped out|threw out|gave up on|ruled out|rejected|swap(?:ped)?|turn(?:ed)? down|tried|retired?|sunset|don't (?:do|use|want|need)|not doing|without|anti|stopp?(?:ed|ing)?(?: using)?|no longer (?:\w+ )?(?:use|using|on|in|at|with|through|to|via|from)|tired of|done with"
    r"|plutôt qu'?e?|au lieu d[eu]|lâche|lâché|laisse tomber|laissé tomber|oublie|abandonne[rz]?|abandonné|arrête(?: avec)?|arrêté|vire|viré|jette|jeté|quitté|quitte|renonce(?:r)? à|renoncé à|remplace|remplacé|remplacer|plus de|pas(?: des| de| les)?|fini(?: avec)?|terminé|adieu|sans|préf\w+ [\w.+#-]+ à|pass(?:és?|e|er|ons) de|migr(?:és?|e|er|ons) de|n'utilise(?:ra)? (?:plus|pas)|n(?:e |')\w+ plus (?:sur|chez|dans|avec|par|à|en)|c'est plus)\s+(?:the |that |our |le |la |l'|les |d')?|\bd')$"
)
_REJECTED = re.compile(
    r"(?i)(?: (?:idea|plan|thing|stuff|setup))?,?(?: (?:is|was|are|'s|has been|have been|got|gets|est|c'est|a été|sont))*(?:'s)? ?(?:just |now |finally |too |being |finally |officially )*"
    r"(?:out\b|écartée?|gone|dead|history|off the (?:table|list)|(?:dropped|removed|replaced|abandoned|abandonnée?|remplacée?)(?! (?!by\b|with\b|in\b|for\b|now\b|par\b|avec\b|pour\b)\w)|(?:less|slower|worse|heavier|moins \w+|plus (?:lent|lourd)) (?:than|que)\b|over\b|no longer|not (?:an option|happening|coming back|it\b)|phased out|deprecated|retired|done for|locks?|locked|couldn't|can't|can not|too (?:slow|heavy|complicated|pricey|expensive|flaky)|was a nightmare|broke|didn't|was (?:slow|flaky|a pain)|got (?:too|silly)"
    r"|mort|morte|terminée?|finie?|non\b|exclu|hors de question|dégage|on oublie|oublie|trop (?:lent|lourd|cher|lourde)|(?:ne )?tient pas|rame|plant)"
)
_CHOOSING = re.compile(
    r"(?i)(?:\b(?:to|use|using|with|on|it's|it is|now|so|then|hello|take|took|chose|picked|adopt(?:ed)?|by|for|à|au|vers|sur|par|c'est|prend|prends|garde|utilise|sera|donc|alors|en|place à|mais)\s+(?:plain |the |le |la |l')?|[:=](?!//)\s*)$"
)
_ASKED = re.compile(
    r"(?i)\b(?:discussed|agreed|talked|spoke|checked|d'accord|vu|discuté) (?:with|to|avec|à) $"
)  # a person
_CHOSEN = re.compile(
    r"(?i)(?: (?:(?:\w+s|does) (?:it|that|this|them|everything)\b|s'en (?:charge|occupe)|prend (?:le relais|la place|la suite)|it is|then|now|instead|in\b|is in\b|won|wins|everywhere|replaced|replaces|handles|from (?:now|here) on|alors|maintenant|à la place|remplace|désormais)|,? it is\b|$)"
)
_ENDS = re.compile(
    r"(?i)$|[,.;:!?)]| (?:idea|plan|thing|for|in|on|as|at|to|and|but|so|because|since|from|by|with|today|now|last|this|pour|dans|sur|chez|et|mais|car|donc|à|hier|maintenant)\b"
)
_NAME = re.compile(r"(?<![\w.'-])[A-Z][\w+#]*(?:[.-]\w+)*(?![\w'])")
_CHANGES = re.compile(
    r"(?i)^(?:no|nope|non|nan|not|pas|actually|wait|sorry|correction)\b|\b(?:moved|switch(?:ed|ing)|migrat(?:ed|ing)|swapped|replaced?|replaces|replacing|drop(?:ped|ping)?|scrap(?:ped)?|ditch(?:ed)?|abandon\w*|no (?:longer|more)|any ?more|is out|are out|gone|dead|history|back to|went back|changed?|change of plans?|ripped out|got rid|ended up|not doing"
    r"|forget|instead(?! of)|after all|actually|on second thought|come around|moves? to|moved to|slips|bump(?:ed|ing)|upgraded|rewritten|rewrote|went (?:up|down)|(?:got|was|were) removed|(?:'re|are|'m) off|ended|expired|got off|quit|(?:i|we|i've|we've|has|have) left|left (?:the|our|my)|gave up|redoing|relicensed|lowered|raised|slipped|pushed|postponed|(?<!for )(?<!from )now|retired|got too|took over|takes over|handed|ported|i meant|i said|sorry|scratch|kill|goodbye|renamed|then$"
    r"|pass(?:e|ent|er|és?|ons) (?:de|du|à|au|aux|en|sur|chez)|réécrit\w*|quitt(?:e|ons|é)|déménag\w+|déplac\w+|devien(?:t|nent)|migr\w+|bascul\w+|remplac\w+|lâché?|laisse tomber|oublie|abandonn\w*|arrêt[eé]\w*|vir[eé]|fini\b|finalement|terminé|ne .* plus|n'\w+ plus|plus de|à la place|dégage\w*|écartée?|exit\b|repass\w+|revien[st]|revenus?|retour|désormais|maintenant|décal\w+|repouss\w+|report\w+|porté|j'ai dit|je voulais dire)\b"
)

# -- shapes -------------------------------------------------------------------------------------------------------------------

_V = r"(?P<value>\S.*)"
_NP = r"(?!(?:only|please|just|toujours|jamais|ne|pas|no|zero|avoid|i|we|you|it|this|that|they|there|he|she|who|what|which|on|je|tu|il|elle|ça|ce|c'est|nous|vous|let's|don't|never|always|to|not|use|keep)\b)[\w`'./*_-]+(?: (?!(?:always|never|only|use|uses|prefer|ne|told|says?|said|is|are|was|were|must|should|runs?|lives?|doit|doivent|est|sont|s'appelle)\b)[\w`'./*_-]+){0,4}?"
_THE = r"(?:(?:the|our|my|this|all|every|each|any|new|le|la|les|notre|nos|mon|ma|mes|chaque|tous les|toutes les|tout|toute) |l'|-\s*){0,3}"
_BANNED = r"(?:(?:strictly |absolutely |strictement |formellement )?(?:banned|forbidden|prohibited|off[ -]limits|frozen|verboten|not (?:allowed|welcome|permitted|ok|okay)|not (?:my|our) thing|a no[- ]go|a no|out of the question|interdit(?:e|s|es)?|banni(?:e|s|es)?|proscrit\w*|geléd?e?s?|pas mon truc|pas pour moi)|aren't (?:allowed|welcome))"
_WEEKDAY = r"(?:(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d|(?:the )?\d{1,2}(?:st|nd|rd|th| of| [a-zé]{3}|er)|\d{4}-\d|(?:next |this )?(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|next\b|the end of\b|tomorrow\b|q[1-4]\b|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|demain|la semaine|le mois|\d{1,2}$)"


def _reversals(rule: frozenset[FactKind], told: frozenset[FactKind]) -> list[tuple[frozenset[FactKind], str, bool]]:
    """Return the shapes of replacing and ending something."""
    return [
        (told, r"(?:we |i |on |nous )?(?:have |has |had |'ve |a |ont |avons )?(?:replaced?|replacing|swapped|swapping|remplacé|remplace) (?:out )?(?P<other>\S[^,;]*?) (?:with|for|by|par) (?P<value>\S.*)", False),
        (told, rf"(?P<value>{_NP}) (?:replaces|replaced|takes over from|remplace|succède à) (?P<other>\S[^,;]*?)(?: (?:as|for|comme|pour) (?P<subject>\S[^,;]*))?", False),
        (told, r"(?:c'est|it's|it is|ce n'est) (?:plus|no longer|not|pas) (?P<other>[\w-]+),? (?:mais|but|c'est|it's) (?P<value>[\w-]+) (?:qui|who|that) (?:\w+|s'occupe) (?:de |du |des |the |la |le |les )?(?P<subject>\S[^,;]*)", False),
        (rule | told, r"(?:the |les? |la |l')?(?P<value>(?!(?:it|that|this|ça|ce|c')\b)\S.{1,60}?) (?:is|are|was|has been|est|sont|a été|c'est) (?:now |just |finally )?(?:switched off|turned off|shut down|dead|gone|retired|decommissioned|mort\w*|terminée?s?|finie?s?|désactivée?s?|supprimée?s?)", True),
        (rule | told, r"(?:the |les? |la |l')?(?P<value>(?!(?:it|that|this|ça)\b)\S+)(?: (?:support|contract|licen[cs]e|suite|setup))? (?:ends?|ended|expired|dehors|dégage|nous a lâchés?)(?: (?:with|in|this|last) .*)?", True),
    ]  # fmt: skip


@lru_cache(maxsize=1)
def _shapes() -> tuple[tuple[frozenset[FactKind], re.Pattern[str], bool], ...]:
    """Return each shape's kinds, pattern and polarity, in order."""
    rule = frozenset((FactKind.INSTRUCTION, FactKind.PREFERENCE, FactKind.DECISION))
    told = frozenset((FactKind.FACT, FactKind.DECISION, FactKind.INSTRUCTION))
    preference, instruction, decision, fact, todo, fix = (frozenset((kind,)) for kind in FactKind)
    table: list[tuple[frozenset[FactKind], str, bool]] = [
        (instruction | fact, r"(?P<user>call me|appelle-moi|my name is|je m'appelle) (?P<value>(?-i:[A-Z])[\w-]+(?: (?-i:[A-Z])[\w-]+)*).*", False),
        (instruction | preference, r"(?:please )?(?:keep|garde[zr]?|i (?:really )?(?:like|want)|j'aime) (?P<object>(?:the |your |all |any |my |our |tes |vos |nos |mes |les |la |l')?[\w-]+(?: messages?| descriptions?| names?)?) (?P<value>(?:as |so |very |really |plus |bien )?(?:short|small|brief|simple|flat|lean|light|clean|concise|terse|thin|pure|private|local|tidy|minimal|consistent|under|below|courte?s?|simples?|brèves?|propres?|petite?s?|légère?s?|sous)\b.*)", False),
        (instruction, r"(?:only |always )?(?:answer|reply|respond|write|speak|talk|réponds|répondez|écris|parle)(?:[ -]moi)?(?: to)?(?: me)?(?: everything| tout)? (?:in|en) (?P<value>(?:(?-i:[A-Z])\w+|français|anglais|allemand|espagnol|italien))", False),
        (preference, r"(?:i|we)?\s?(?:'d|would)?\s?rather (?:use|have|see|take|do)? ?(?P<value>\S.*?) than (?P<other>\S.*)", False),
        # what is not to be, said after its name
        (rule, rf"(?:the |les? |la )?(?P<value>{_NP}) (?:(?:is|are|get|est|sont|c'est)(?: all)? )?{_BANNED}(?: (?:here|in|dans|ici)\b.*)?", True),
        (rule, r"(?:it is |it's |il est |c'est )?(?:strictly |strictement |formellement )?(?:forbidden|prohibited|interdit|interdiction) (?:to |de |d')(?P<value>\S.*)", True),
        (preference, r"(?:les? |la |l')?(?P<value>\S.{2,80}?) (?:and (?:i|me) (?:don't|do not|will never|never) .*|et moi ça (?:fait|passe) .*|et moi on .*)", True),
        (preference, r"(?:(?:i |we )?find|je trouve) (?:les? |la |l')?(?P<value>\S.*?) (?:confusing|annoying|hard|painful|ugly|unreadable|distracting|pointless|noisy|harmful|pénibles?|illisibles?|lourde?s?|moche?s?|inutiles?|confuse?s?|fatigante?s?)\b.*", True),
        (preference, r"(?:the |les? |la |l')?(?P<value>\S.{2,80}?) (?:annoys?|bugs?|confuses?|drives?|loses?|tires?|puts?) me\b.*|(?:les? |la |l')?(?P<values>\S.{2,80}?) (?:me (?:perd|gêne|fatigue)\w*|m'(?:énerve|agace|insupporte)\w*)\b.*", True),
        (preference, r"(?:the |les? |la |l')?(?P<value>\S.{2,80}?) (?:(?:is|are) (?:annoying|confusing|the worst|awful|evil|ugly)|gives? me (?:a headache|headaches|the creeps)|makes? me (?:nervous|angry|sad))\b.*", True),
        (preference, r"(?:i |we )?find (?P<value>(?!it\b)\S.*?) (?:easy|easier|useful|helpful|clear|clearer|nice|simpler|better)\b.*|(?:i find it (?:easier|simpler|clearer|better) to |je trouve (?:bien |beaucoup )?plus (?:simple|clair|facile|pratique|agréable|utile) (?:de |d'))(?P<values>\S.*)", False),
        (preference, r"(?:the |les? |la |l')?(?P<value>\S.{2,80}?) (?:(?:works?|suits?|helps?|fits?)(?: (?:me|us))?(?: better| best| well| a lot| more)*(?: for (?:me|us))?|(?:matters?|counts?) (?:more|most)(?: to me| for me| to us)?|makes? me happy|(?:is|are) (?:a must|important|my thing|our (?:top )?priority|what i like|my tool of choice)|me convien\w+|me plai\w+|m'aide\w*|compte(?:nt)? plus(?: pour moi)?|c'est ce que j'aime)\b(?: for (?:me|us)| to (?:me|us)| mieux| pour moi)?(?: than (?P<other>\S.*)| que (?P<others>\S.*))?.*", False),
        (preference, rf"(?:my|our|mon|ma|mes|notre|nos) (?:(?:top )?(?:favou?rite|preferred|go-to|top|first)(?: (?P<subject>(?!(?:for|tools?|choices?|options?|solutions?|librar\w+|packages?|ones?|is|are)\b)[\w-]+(?: (?!is\b)[\w-]+){{0,3}}?))?(?: (?:tool|choice|option|library|package|priority))?(?: for (?P<part>\S[^,;]{{0,60}}?))?|(?P<subjects>(?!outil\b)[\w-]+(?: [\w-]+)?) (?:préférée?s?|de prédilection|de choix)|outil (?:préféré|de prédilection)|(?P<priority>(?:top )?priority|priorité)) (?:is|are|est|c'est|reste|sont) {_V}", False),
        (rule | told, rf"(?P<value>{_NP}) (?:is|are|est|sont|reste) (?:my|our|mon|notre) (?:go-to|tool of choice|favou?rite|preferred|outil de prédilection|outil préféré)?(?:\b ?(?P<subject>(?!(?:tools?|choices?)\b)[\w-]+(?: [\w-]+){{0,2}}))?", False),
        (preference, rf"(?:my|our|mon|ma) (?P<subject>editor|shell|terminal|theme|os|ide|browser|éditeur|terminal|thème|navigateur) (?:is|est|c'est) {_V}", False),
        (told, r"(?:the |our |le |la |l')?(?P<subject>[\w-]+(?: [\w-]+){0,3}?)\s?[:=](?!//)\s*(?P<value>\S.*)", False),
        *_reversals(rule, told),
        (instruction, r"(?:(?:do not|don't|dont) use|n'utilise[zr]? (?:pas|plus)) (?P<other>[^,;]+?)[,;:] ?(?:but |please |mais )?(?:use|utilise[zr]?|plutôt) (?P<value>[^,;]+?)(?: instead)?", False),
        (rule, rf"{_THE}(?P<subject>{_NP}) (?:must|should|ought to|needs? to|ha(?:s|ve) to|doit|doivent)(?: (?:always|only ever|toujours|absolument|impérativement|systématiquement))? (?!(?:never|not|jamais)\b){_V}", False),
        (rule, rf"{_THE}(?P<subject>{_NP}) (?:must|should|needs? to|ha(?:s|ve) to|ne doit|ne doivent|doit|doivent) (?:never|not|jamais|pas|plus) {_V}", True),
        (instruction, rf"{_THE}(?P<subject>{_NP}) (?:never|ne \w+ jamais|don't|do not) {_V}", True),
        (instruction, rf"{_THE}(?P<subject>{_NP}) (?P<value>(?:needs?|gets?|goes?|lives?|starts?|ends?|is|are|begins?|belongs?|use|uses|stays?|come|comes|ont|sont|est|vont|va|commencent?|restent?|passent?)\b \S.*)", False),
        (told, rf"(?:the|our|my|this|le|la|notre|mon|ma|l')?\s?(?P<subject>{_NP}) (?:has |have |had |got |gets? |is |was |est |sont |ont |a |a été |ont été |moves? |passes? )*(?:now |just |been |finally |finalement )*(?:moved|switched|migrated|pushed(?: back| out)?|postponed|rescheduled|shifted|extended|brought forward|delayed|moves?|repoussée?s?|déménagée?s?|déplacée?s?|migrée?s?|devien(?:t|nent)|reportée?s?|avancée?s?|décalée?s?|passe(?:nt)?)(?: from [^,;]{{1,40}}?| du [^,;]{{1,40}}?)?(?: (?:to|until|till|au|à|now))? (?P<value>{_WEEKDAY}.*)", False),
        (told, rf"{_THE}(?P<subject>{_NP}) [^,]{{3,40}}, (?:and |so )?(?:it's|it is|it'll be|c'est) {_V}", False),
        (told, rf"{_THE}(?P<subject>{_NP}) (?:is no longer|are no longer|isn't|aren't|n'est (?:plus|pas)|ne (?:sont|est) (?:plus|pas)|est (?:plus|pas)|sont (?:plus|pas)) {_V}", True),
        (told, rf"{_THE}(?P<subject>{_NP}) (?P<attribute>uses?|is built (?:on|with)|depends? on|utilise|dépend de) {_V}", False),
        (told, rf"(?:the |our |my |this |le |la |notre |nos |mon |ma |l')?(?P<subject>{_NP}) (?:is|are|est|sont|s'appelle|se nomme)(?: (?:now|currently|officially|planned for|scheduled for|due|prévue?s?|hosted|based|stored|located|served|hébergée?s?|stockée?s?|basée?s?))* (?:(?P<attribute>called|named|at|on|in|under|le|à|au|sur) )?(?:the new )?{_V}", False),
        (told, rf"(?:we|i|on|nous|je) (?!(?:don't|do not|ne|can't|won't)\b)(?:\w+ (?P<subject>{_NP})|(?P<verb>\w+)) (?:with|on|at|in|via|through|using|avec|sur|chez|via|sous) (?P<value>(?-i:[A-Z])[\w.+#-]*|{CHOICE.pattern.removeprefix('(?i)')})", False),
        (fact, r"(?P<value>(?-i:[A-Z])[\w-]+(?: and (?-i:[A-Z])\w+| et (?-i:[A-Z])\w+)?) (?:owns|maintains|handles|does|took over|takes over|looks after|leads|runs|manages|covers|is responsible for|s'occupe (?:de |du |des )|gère|pilote|suit|encadre|maintient|fait|is (?:our|the)|est (?:notre|le|la)) ?(?:the |our |les? |la |l')?(?P<subject>[^,;]+).*", False),
        (told, rf"(?-i:[A-Z])\w+ (?:handed|passed|gave|laisse|confie|transmet) {_THE}(?P<subject>{_NP})(?: over)? (?:to|à) (?P<value>(?-i:[A-Z])\w+)", False),
        (fact, rf"{_THE}(?P<subject>{_NP}) (?P<attribute>(?!\w+n't)[\w-]+(?: up| out| off| over)? (?:on|at|to|in|with|by|under|behind|after|until|through|sur|à|au|aux|le|en|chez|avec|dans|sous|vers|jusqu'au|après|au bout de)|s'appelle|se nomme|runs?|lasts?|durent?|starts?|begins?|ends?|commence) {_V}", False),
        (fact | decision, r"(?:ask|talk to|demande à|vois avec|c'est|for .*? ask) (?P<value>(?-i:[A-Z])[\w-]+) (?:about|qui (?:gère|s'occupe de|pilote|suit|fait)|pour) (?:anything |the |les? |la |l')?(?P<subject>[^,;]+).*", False),
        # problems and what solved them
        (fix, r"(?P<reason>\S.*?)(?:[,:] | )(?:solved|fixed|cured|resolved|sorted|avoided) (?:it )?(?:by|with|via) (?P<value>\S.*)|(?:i |we )?(?:fixed|solved|cured|resolved|worked around)(?: it| this| that)?(?: (?P<reasons>the \S.*?))? (?:by|with|via) (?P<values>\S.*)", False),
        (fix, r"(?:j'ai |on a |nous avons )?(?:corrigé|résolu|réglé)(?: (?P<reason>l\S+ ?\S.*?))? en (?P<value>[\wéè]+ant\b.*)", False),
        (fix, r"(?P<value>\S.{2,160}?) (?:fixed|solved|resolved|cured|did the trick|did it|sorted|took care of|helped|made|got rid of|a réglé|a corrigé|a suffi)(?: (?P<reason>\S.*))?", False),
        (fix, r"(?:(?P<reason>\S.{2,120}?) )?(?:turn(?:s|ed) out to be|turn(?:s|ed) out (?:that )?(?:it was )?|was due to|(?:was|were) caused by|came from|comes from|venait d(?:e |es |u |')|plantait à cause d(?:e |es |u |')|à cause d(?:e |es |u |'))(?P<value>\S.*)", False),
        (fix, r"(?P<reason>\S.{2,120}?) (?:went away|disappeared|vanished|is gone|are gone|gone|stopped|a disparu|depuis qu(?:e |'))\s?(?:once|after|when|since|now that|après)? ?(?P<value>\S.*)", False),
        (fix, r"(?:in the end |en fait |finalement |so )?(?:it was|c'était|it is)(?: just| juste)? (?P<value>\S.*?)(?: all along| after all| tout bêtement)?", False),
        (fix, r"(?:the |la |le |l')?(?:root cause|cause|culprit|problem|issue|bug|fix|solution|workaround|answer|cure|coupable|problème|erreur|correctif)(?: (?:for|of|de|du) (?P<reason>[^:]+?))? ?(?:was|is|:|était(?: de)?|c'était(?: de)?|c'est(?: de)?|turned out to be)(?: to| that)? (?P<value>\S.*)", False),
        # open work
        (todo, r"(?:the |les? |la )?(?P<value>\S.{2,120}?) (?:(?:is|are) (?:still |not |all )*(?:missing|open|pending|done|finished|implemented|outstanding|left)|isn't (?:done|finished)|aren't (?:done|finished)|not done|still needs?|n'est pas faite?|est pas faite?|sont pas faite?s?|ne sont pas faite?s?|is on my list|are on my list)\b.*", False),
    ]  # fmt: skip
    return tuple((kinds, re.compile(f"(?:{pattern})", re.IGNORECASE), negative) for kinds, pattern, negative in table)


# -- words that lead to the value -----------------------------------------------------------------------------------------------

_WHO = (
    r"(?:(?:we|i|you|they|he|she|the team|everyone|(?-i:[A-Z][a-z]+)(?: and (?:i|(?-i:[A-Z]\w+)))?)(?:'(?:ve|re|ll|m|d|s)\b| (?:have|has|had|are|am|is|will|would)\b)?"
    r"|(?:my|our|the|mon|ma|notre|le|la|l')\s?(?:boss|lead|team|client|customers?|users?|manager|chef|équipe)(?: told us to)?|(?:.*\b)?(?:someone |quelqu'un |moi )?(?:who|qui|me)\b"
    r"|(?:on|nous|je|tu|il|elle|vous|l'équipe|(?-i:[A-Z][a-zé]+))(?: (?:est|a|avons|sommes|suis|va|vais|allons))?|j'(?:ai )?)"
)
_HOW = r"(?:\s*\b(?:been|all|both|just|finally|now|already|also|really|strongly|much|usually|generally|normally|only|currently|mainly|always|definitely|totally|quite|honestly|then|kind of|more of|do|to|plutôt|bien|vraiment|largement|nettement|tous|finalement|maintenant|désormais|donc|absolument|impérativement))*\s*"
_LEADS = re.compile(
    rf"(?i)(?:(?:{_WHO}{_HOW})?\s*\b(?:"
    r"(?:decided|agreed|resolved|settled|we voted|opted|elected|voted|chosen?|chose)(?: together| unanimously)?(?: (?:on|for|in favou?r of|that|upon|to (?:use|go with|stick with|adopt|rely on)|with [A-Z]\w+ (?:on|to|that)))?"
    r"|(?:pick(?:ed)?|select(?:ed)?|adopt(?:ed|ing)?|took|take|land(?:ed)? on|went (?:with|for)|gone with|going (?:with|for|to use)|go with|goes? (?:to|through)|end(?:ed)? up (?:choosing|using|with|on)|standardi[sz](?:ed?|ing) on|introduc(?:ed|ing))"
    r"|(?:switch(?:ed|ing)?|mov(?:ed?|ing|es)|migrat(?:ed?|ing)|chang(?:ed?|ing)|bump(?:ed|ing)?)(?: everything)?(?: over)? (?:to|onto)|(?:stick(?:ing)?|stuck|stay(?:ing)?) (?:with|to|on)|keep(?:ing)? using|keeping"
    r"|(?:going|go|went|get|gets) back to|back (?:to|on)|let'?s (?:just )?(?:go with|use|stick with|keep|switch to|adopt|settle on|do)|us(?:e|es|ing)|deals? with"
    r"|prefer(?:s|red|ring)?(?: to)?|like(?:s|d)?(?: to)?|love(?:s)?|enjoy(?:s)?|adore|favou?r|valu(?:e|es|ing)|appreciate|insist on|care about|believe in|lean(?: towards)?|tend to|try(?:ing)? to|aim(?:ing)? to|want to|rather (?:use|have|see|take)|would rather (?:use|have)|(?:'m |am )?(?:a )?(?:big |huge )?fan of|prioriti[sz](?:e|ed|ing)|go for|firmly believe in"
    r"|(?:should|must|need to|have to|ought to|can)(?: always| first)?|make sure (?:that |to |you )?(?:always )?|be sure to|remember to|expect you to|want you to|'d like you to|would like you to|told to always|instruction to always"
    r"|always|only ever|only use|still (?:need|have)(?: to)?|need to|have to|don't forget to|don't let me forget to|remind me to|(?:'ll|will)"
    r"|will be|(?<='re )on|it'?s|it is|it'll be|this will be|owe|promised(?: \w+)? to"
    r"|décidé(?: de (?:passer à|partir sur|prendre|garder|rester sur)|(?: de|) d'utiliser| d'utiliser| de| d')?|choisi(?: de)?|opté pour|retenu|pris|mis d'accord sur|convenu|tranché"
    r"|pass(?:e|ons|é|és|er) (?:à|au|sur|en)|part(?:ira)? sur|reste sur|garde|prend|va prendre|va utiliser|utilis(?:e|era|ons|ez|er)|est sur|tourne (?:sur|en)|migr\w+ vers|revien[st]? (?:à|au)|revenus? à|retour (?:à|au)|repass\w+ (?:en|à|au)|ce sera|ça sera|c'est|sera|va pour"
    r"|préf(?:ère|érons|érerais)(?: que (?:tu|vous|on))?|aim(?:e|ons|erais)(?: bien| mieux)?|adore|apprécie|privilégi\w+|fan (?:de|du|des)|tiens (?:à ce que|à|aux?)|essaie (?:de |d')|ai tendance à|ai pour habitude (?:de |d')"
    r"|il faut(?: toujours| absolument)?(?: utiliser)?|faut(?: qu'on)?|dois|doit|devez|merci de(?: toujours)?|pense[zr]? (?:toujours )?à|veille[zr]? à(?: toujours)?|il reste (?:à |les? )|reste (?:à |la |les? )|il manque (?:encore )?|n'oublie pas (?:de |d')|rappelle-moi (?:de |d')|à (?=\w+er\b)"
    r"|(?:like|want|need|expect|would like|'d like|voudrais|veux|aimerais|souhaite|voulons|veut)(?: to| bien| que (?:tu|vous|tout))?|make a point of|follow(?:s|ing)?|suivons|suit|on (?:m'|nous )a (?:dit|demandé) de(?: toujours)?|(?:learn|understand|work|comprends?|apprends?)(?: \w+)? (?:best|better|faster|mieux|plus vite)(?: quand il y a)?|crois fermement aux?|faudra(?:it)?|indent(?:e[zr]?|er)? (?:avec|with)|n'utilise que|trouve plus \w+ de"
    r"|it's important (?:to|for) (?:me|us) that|important (?:to|for) (?:me|us) that|tiens à ce que|ai pour (?:habitude|règle|consigne) (?:de |d')(?:toujours )?|a dit de toujours|(?:usually|normally|generally|mostly|only|always) (?=\w)"
    r"))(?:(?<=[\s'])|(?![\w']))\s*"
)
# What is taken for granted, in a question too
_MINE = re.compile(
    r"(?i).*?\b(?:(?:my|our|ma|notre|mon) (?:strong |clear |nette |forte )?(?:preference|préférence|choice|decision|choix|décision) (?:for|pour|to use|to|of|d'utiliser|de|d')|why (?:i|we) (?:chose|picked|prefer|use)|pourquoi (?:j'ai|on a|nous avons) choisi)\s*(?:les? |la |l')?(?P<value>\S.*?)(?: (?:is|are|with the|sound|right|est)\b.*)?"
)
_NOT = re.compile(
    rf"(?i)(?:{_WHO}{_HOW})?\s*(?:"
    r"(?:ne )?(?:suis |sommes )?pas (?:trop |très |vraiment )*fans? (?:de |des |du |d')|(?:not|never been)(?: (?:really|very|a|big|huge))* fans? of|(?:il )?(?:ne )?faut (?:jamais|pas|plus)|(?:ne )?(?:dois|doit|devons|doivent) (?:jamais|pas|plus)|(?:has |have )?(?:no interest in|a strong aversion to)|(?:ai |une |forte )*aversion pour(?: les?| la)?"
    r"|(?:ne )?va(?:s|is)? pas(?: utiliser)?|à ne (?:jamais|pas|plus)|veille[zr]? (?:bien )?à ne (?:jamais|pas|plus)|(?:il )?ne (?:jamais|pas|plus)"
    r"|(?:(?:should|must|shall|will|'ll|would) )?(?:never|not)(?: ever)?(?: to)?(?: (?:use|using|be (?:using|adopting)|going to (?:use|go with|adopt)))?|(?:(?:do not|don't|dont)(?! (?:forget|hesitate))|won't|doesn't|shouldn't|mustn't|can't stand|cannot stand|no longer)(?: (?:ever|be|need to))?(?: (?:use|want|like|enjoy|do|support))?(?![\w'])"
    r"|no(?: more)?(?= )|zero|avoid(?:s|ing)?|stop|quit|hates?|dislikes?|refuse to(?: use)?|(?:'m |am |are )?(?:really |big |a |huge |any )*(?:not|never been)(?: (?:really|very|a|big|huge|keen|too))* ?(?:fans? of|on)|not a (?:big |huge )?fan of|(?:has|have) (?:no interest in|a strong aversion to)|(?:'m |am )?(?:strongly )?(?:opposed to|allergic to|against)"
    r"|(?:decided|agreed|chose|opted) (?:against|not to|never to|to never|to (?:drop|abandon|ditch|stop using))(?: using| use)?|ruled out|gave up on|let'?s (?:not(?: use)?|drop(?: the)?|scrap(?: the)?|kill(?: the)?|ditch(?: the)?)|(?:you can )?skip|hands off|stay (?:away from|out of)|keep (?:out of|your hands off)|leave|forget (?:about )?"
    r"|(?:dropp(?:ed|ing)|ditch(?:ed|ing)|abandon(?:ed|ing)|scrap(?:ped|ping)?|kill|remov(?:ed|ing)|reject(?:ed|ing)|not doing|ended up not (?:doing|using)|ripped out|got rid of|nobody|nothing|goodbye|say goodbye to)(?: the idea of| the)?"
    r"|(?:ne |n')?(?:utilise\w* )?(?:jamais|pas|plus|aucune?)(?: (?:de|d')| d')?(?! (?:besoin|fan))|pas besoin (?:de |d')|zéro|évite[zr]?(?: de| d'| les?| la)?|arrête[zr]?(?! (?:après|avant|quand|dès))(?: de| d'| avec)?|déteste|ai horreur (?:de|des|du|d')|supporte pas|(?:suis |)pas (?:trop |très )*fan (?:de|des|du|d')|suis contre|allergique aux?|renoncé à|décidé (?:de ne (?:pas|plus)|d'abandonner)(?: utiliser)?|on oublie|laisse tomber|on abandonne|lâche|vire|fini|touche pas à|on touche pas à|personne(?: ne)? touche à|rien(?: ne)? part"
    r")(?:(?<=[\s'])|(?![\w']))\s*"
)
_KEPT = re.compile(r"(?i)(?:keep|garder) (?P<object>(?:the |my |our |les? |la )?[\w-]+)\b.*")
_MOVED = re.compile(r"(?:switch|mov|migrat|chang|back|bump|stick|stuck|stay|pass)\w*(?: \w+)* ?(?:to|de)$")
_NOUN_LEAD = re.compile(r"no(?: more)?|zero|zéro|pas de|pas d'|plus de|plus d'|aucune?")
_ACT_LEAD = re.compile(r"(?:\bto|\bde|\bd'|usually|normally|generally|mostly|only)$")
_PLACE = re.compile(
    r"(?i)(?:for|pour|in|dans|en) (?:the |la |le |l')?[^,;:]{1,60}?(?:,\s*|\s+(?=(?:we|i|on|je) \w|(?:always|never|use|prefer|toujours|utilise|ne)\b))"
)
_FRENCH_NOT = re.compile(
    r"(?i)(?:(?:on|tu|je|nous|vous|j') ?)?(?:ne |n')(?P<verb>(?!(?:suis|sommes|faut|dois|doit|oublie|oublions|hésite|va|vas|vais)\b)[\w-]+) (?:pas|plus|jamais|aucune?)(?: (?:de |d'))?\s*(?P<rest>.*)|(?P<bare>(?!(?:ne|il|on|je|tu)\b)[a-zà-ÿ]+) (?:jamais|pas|plus) (?P<after>\S.*)"
)
_LITTLE = re.compile(r"(?i)^(?:that|to be|du|de la|des|d'|de)\s+(?=\S)")


def value_of(sentence: str, kind: FactKind) -> Found:
    """Return the value that a sentence of a kind states.

    >>> value_of("we've moved off npm, it's pnpm now", FactKind.DECISION).value
    'pnpm'
    >>> found = value_of("- no default exports", FactKind.INSTRUCTION)
    >>> found.value, found.negative
    ('default exports', True)
    """
    sentence = _BLANKED.sub(" " * 5, sentence)[:_MOST_READ]
    found = _Reader(kind, {}).read(_bare(sentence))
    found.corrects = changes(sentence)
    return found


def changes(sentence: str) -> bool:
    """Return whether a sentence says that something changed."""
    return _CHANGES.search(sentence) is not None


@dataclass
class _Reader:
    """Reads one sentence, and collects its parts."""

    kind: FactKind
    parts: dict[str, str]

    def read(self, text: str) -> Found:
        text = _WEIGHED.sub("", text) if self.kind in (FactKind.DECISION, FactKind.PREFERENCE) else text
        text = self._without_reason(self._without_condition(text))
        chosen = self._chosen(text) if self.kind not in (FactKind.FIX, FactKind.TODO) else None
        if chosen is not None:
            return chosen
        part = self._part(text)
        place = _PLACE.match(part)
        core = part[place.end() :] if place is not None else part
        return self._shaped(core, part) or self._led(self._without_other(core), part)

    def _part(self, text: str) -> str:
        """Return the part that states the most, and all of a fix."""
        cuts = [0, *(each.end() for each in islice(_PARTS.finditer(text), _MOST_PARTS)), len(text) + 1]
        if len(cuts) == 2 or self.kind is FactKind.FIX:
            return text
        parts = [text[start:end].strip(" ,;(-\u2013\u2014") for start, end in pairwise(cuts)]
        odds = [0.0 if not part or _RELATIVE.match(part) else probability(part, self.kind) for part in parts]
        best = max(range(len(parts)), key=odds.__getitem__)
        concluded = [at for at in range(1, len(parts)) if _SO.search(text, 0, cuts[at]) and odds[at] >= odds[best] / 2]
        if concluded and self.kind is FactKind.DECISION:
            return _bare(text[cuts[concluded[-1]] :].strip(" ,;(-\u2013\u2014"))
        if self.kind not in (FactKind.INSTRUCTION, FactKind.TODO):
            first = next(at for at, odd in enumerate(odds) if odd >= odds[best] * 0.75)
            last = first + 1
            while last < len(parts) and _LISTED.fullmatch(parts[last]) and text[cuts[last] - 2 : cuts[last]] == ", ":
                last += 1
            return _bare(text[cuts[first] : cuts[last]].strip(" ,;(-\u2013\u2014"))
        last = max(at for at, part in enumerate(parts) if odds[at] >= odds[best] / 3 or (at > best and _denied(part)))
        is_alone = odds[0] < odds[best] / 3 and not parts[best].endswith((" it", " them"))
        return _bare(text[cuts[best if is_alone else 0] : cuts[last + 1]].strip(" ,;(-\u2013\u2014"))

    def _without_condition(self, text: str) -> str:
        if self.kind is not FactKind.INSTRUCTION:
            return text
        found = _CONDITION.fullmatch(text)
        if found is not None:
            self.parts["topic"] = found["topic"] or found["moment"]
            return _bare(found["value"] or found["done"])
        found = _AT_END.search(text, max(0, len(text) - _TAIL))
        if found is not None and len(text[: found.start()].split()) > 1:
            self.parts["topic"] = found["topic"]
            return text[: found.start()]
        return text

    def _without_reason(self, text: str) -> str:
        found = _REASON.search(text, max(0, len(text) - _TAIL))
        if found is None or not found.start() or self.kind is FactKind.FIX:
            return text
        self.parts["reason"] = found["reason"]
        return text[: found.start()]

    def _without_other(self, text: str) -> str:
        found = _OTHER.search(text)
        if (
            found is None
            or not found.start()
            or self.kind in (FactKind.FIX, FactKind.TODO)
            or _denied(text[: found.start()])
        ):
            return text
        other = _BEYOND.split(found["other"], maxsplit=1)[0]
        self.parts["other"] = other
        return text[: found.start()] + text[found.start("other") + len(other) :]

    def _chosen(self, text: str) -> Found | None:
        """Return the tool named as chosen, else the rejected one."""
        tools = _names(text)
        rejected = [
            each for each in tools if _REJECTING.search(text[: each.start()]) or _REJECTED.match(text, each.end())
        ]
        for one, other in pairwise(tools):
            if one in rejected and other not in rejected and other.start() - one.end() < 2:
                rejected.append(other)
        if not rejected:
            return None
        left = [each for each in tools if each not in rejected and (is_known(each[0]) or _judged(text, each))]
        if left:
            best = max(
                left,
                key=lambda each: bool(_CHOOSING.search(text[: each.start()])) + bool(_CHOSEN.match(text, each.end())),
            )
            self.parts["other"] = rejected[0][0]
            return Found(best[0], self.parts, clause=up_to_another(text))
        if _OTHER.search(text) and not _denied(text):
            return None
        if len(text[: rejected[0].start()].split()) > 4:
            return None
        return Found(rejected[0][0], self.parts, negative=True, clause=rejected[0][0] + text[rejected[0].end() :])

    def _shaped(self, text: str, whole: str) -> Found | None:
        for kinds, pattern, denying in _shapes():
            found = pattern.fullmatch(text) if self.kind in kinds else None
            if found is not None:
                said = {
                    name.removesuffix("s") if name != "values" else "value": part
                    for name, part in found.groupdict().items()
                    if part and name != "priority"
                }
                verb = said.pop("verb", "")
                if said.pop("user", ""):
                    said["subject"] = "user's name"
                elif verb and not is_known(said["value"]):
                    said["subject"] = verb
                value = _tidy(self._without_other(said.pop("value")))
                negative, denied = denying, _NOT.match(value) if not denying else None
                if denied is not None and denied.end() < len(value):
                    value, negative = value[denied.end() :], True
                return Found(value, self.parts | said, negative=negative, clause=whole)
        return None

    def _led(self, text: str, whole: str) -> Found:
        """Return the text behind the words that lead to a value."""
        negative, mine = False, _MINE.fullmatch(text)
        if mine is not None:
            return Found(_tidy(mine["value"]), self.parts, clause=whole)
        for _ in range(4):
            french = _FRENCH_NOT.fullmatch(text) if not negative else None
            if french is not None and self.kind is not FactKind.FIX:
                verb, rest = french["verb"] or french["bare"], french["rest"] or french["after"] or ""
                if not verb.startswith(("utilis", "aim", "support")) or not rest:
                    self.parts.setdefault("object", rest)
                    return Found(_tidy(text[french.start("verb") if french["verb"] else 0 :]), self.parts, clause=whole)
                negative, text = True, rest
                continue
            lead = _NOT.match(text) if not negative else None
            negative = negative or lead is not None
            lead = lead or _LEADS.match(text)
            if lead is None or lead.end() == len(text) or not lead.end():
                break
            led = lead[0].strip().lower()
            text = _bare(text[lead.end() :])
            if _NOUN_LEAD.fullmatch(led) or (
                self.kind in (FactKind.PREFERENCE, FactKind.DECISION)
                and _ACT_LEAD.search(led)
                and not _MOVED.search(led)
            ):
                kept = _KEPT.fullmatch(text)
                self.parts["object"] = (
                    kept["object"] if kept else text if _NOUN_LEAD.fullmatch(led) else text.partition(" ")[2]
                )
        value = _tidy(_LITTLE.sub("", text))
        return Found(value or _tidy(whole), self.parts, negative=negative, clause=whole)


def _names(text: str) -> list[re.Match[str]]:
    """Return the known choices and the names in a text, in order.

    The first word is a name where it is rejected or chosen; others are by their capital.
    """
    known = list(named(text))
    taken = {at for each in known for at in range(*each.span())}
    further = (
        each for each in _NAME.finditer(text) if _judged(text, each) or (each.start() and _ENDS.match(text, each.end()))
    )
    known += [
        each for each in further if each.start() not in taken and each[0].lower() not in TALK and not kinds_of(each[0])
    ]
    return sorted(known, key=re.Match.start)


def _judged(text: str, name: re.Match[str]) -> bool:
    """Return whether the words beside a name choose or reject it."""
    before, after = text[: name.start()], name.end()
    chosen = _CHOOSING.search(before) and _ENDS.match(text, after)
    signs = chosen, _CHOSEN.match(text, after), _REJECTED.match(text, after)
    return any(signs) and _ASKED.search(before) is None


def _denied(text: str) -> bool:
    return _NOT.match(text) is not None


def _bare(text: str) -> str:
    """Return a statement without greetings, titles and polite words."""
    text = text.lstrip(" -*\u2022\t")
    for _ in range(2):
        for pattern in (_HELLO, _TITLE):
            lead = pattern.match(text)
            text = text[lead.end() :] if lead is not None and lead.end() < len(text) else text
    tail = _GOODBYE.search(text, max(0, len(text) - _LAST))
    return text[: tail.start()] if tail is not None and tail.start() else text


def _tidy(text: str) -> str:
    text = " ".join(text.split()).strip(" .,;:!?\u2026-\u2013\u2014")
    return (text if text.count("`") % 2 == 0 and text.strip("`").count("`") else text.strip("`"))[:_MOST]
