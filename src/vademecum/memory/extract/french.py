"""Rules for lasting statements in French; the forms follow the English table."""

from __future__ import annotations

import re

from vademecum.memory.extract.rules import OPENING, Language, Rule
from vademecum.memory.extract.scope import FRENCH_LIMITS
from vademecum.memory.records import FactKind

PREFERENCE, INSTRUCTION, DECISION = FactKind.PREFERENCE, FactKind.INSTRUCTION, FactKind.DECISION
FACT, TODO, FIX = FactKind.FACT, FactKind.TODO, FactKind.FIX

_OPENER = (
    r"(?:(?:s'il (?:te|vous) pla[iî]t|stp|svp|aussi|et|mais|donc|alors|ok|non|oui|en fait|attends?|attention|important|note|rappel|règle"
    r"|désormais|dorénavant|à l'avenir|à partir de maintenant|en général|par défaut|finalement|plutôt|partout)\b[,:!.\s-]*|(?:pour|dans|en|sous) [^,;:]{1,60}?(?:,\s*|\s+(?=(?:utilise|préfère|ne|toujours|jamais|évite)\b))){0,4}"
)
_LINKS = r"(?:et|mais|donc)\s"
_START = rf"{OPENING}(?:et|mais|donc)\s+){_OPENER}"
_END = (
    r"(?<!\s)(?=[\s.!?,;]|$)(?=\s*(?:$|\s(?:dans|pour|sur) (?:ce|notre|le|tout le) (?:projet|dépôt|repo|code)\b|[.!?;](?:\s|$)|[,;]\s*(?:et|mais|donc|car|parce|puisque|peux|pouvez|pourrais|comment|est-ce|sachant|surtout|qui|que|il|elle|je|on|nous|tu|vous|pas|ce)\b"
    r"|\s[-\u2013\u2014(]|\s(?:car|(?:parce |puis|lors)qu\w*|pour (?:que|éviter|ne pas)|afin|mais|donc|si|s'il|sauf si|quand|à cause|grâce)\b))"
)
_BEHIND = rf"(?:{_END}|(?=\s(?:avec (?:le|la|les|mon|ma|mes)|peut|pourrait|va|est|sera|risque|influence|aide)\b))"  # the end of a value in the middle of a clause
_VALUE = r"(?P<value>\S(?:.*?\S)??)"
_NOT = r"(?:,?\s+(?:plutôt que|plutôt qu'|au lieu de|au lieu d'|à la place de|et pas|et non|pas|à)\s*(?P<other>\S.*?))"
_I = r"(?:qu'elle|qu'il|je|j'|on|nous|elle|il|ils|elles|l'équipe|(?!(?:certains|certaines|beaucoup|tous|plusieurs|quelques-uns)\b)(?-i:[A-Z][a-zé]+))"
_INF = r"[a-zà-ÿ]{2,}(?:er|ir|re)"
_VERB = r"(?!(?:ne|été|eu|fait|vu|le|la|les|un|une|de|du|aussi|pas|rien|personne|plus)\b)[a-zà-ÿ][a-zà-ÿ'-]+"
# Verbs of orders to agents; any other word may open a clause
_TASK = (
    r"(?:utilise|écri[st]|écrivez|ajoute|inclu[st]|montre|donne|liste|explique|demande|lance|exécute|vérifie|garde|mets|mettez|nomme|teste|formate|mentionne|cite|décri[st]|propose|fai[st]|faites|crée|évite|préfère|sui[st]"
    r"|commence|termine|finis|valide|importe|commite|pousse|relis|confirme|tradui[st]|réponds?|répondez|compile|préviens|résume|attends|arrête|corrige|documente|indente)[zr]?(?:-(?:moi|nous|les?|la))*\b"
)
_ONES = r"(?:réponse|message|commit|modification|changement|pr|pull request|fusion|version|déploiement|session|tâche|étape|nouvelle (?:fonction|classe|méthode|fonctionnalité)|nouveau (?:fichier|test|module))"  # recurring things
_AIM = r"(?:j'essaie|j'essaye|j'aimerais|je (?:veux|voudrais|souhaite|cherche|tente|tiens)|on (?:essaie|essaye|veut|souhaite|cherche|tente)|nous (?:essayons|voulons|souhaitons|cherchons|tentons))"
_SUCH = r"(?:très |plus |assez |aussi )?(?:courte?s?|petite?s?|simples?|légère?s?|légers?|minima(?:le?s?|ux)|basse?s?|bas|propres?|rapides?|lisibles?|privée?s?|loca(?:le?s?|ux)|cohérente?s?|séparée?s?|stables?|stricte?s?|sûre?s?|à jour|sous|en dessous)\b"
_STYLE = r"(?:réponses?|explications?|exemples?|code|commentaires?|commits?|messages?(?: de commit)?|résumés?|tests?|fonctions?|noms?|sorties?|docs?|documentation|diffs?|prs?|rapports?)"
_WHEN = r"(?P<topic>(?:je|tu|on|nous|vous|il|elle|j'|l'|le|la|un|une)\s?.{2,160}?)"

_NAME_OF_ONE = r"[\w./-]*(?:\d|(?-i:[A-Z])\w|\w[_/]\w)[\w./-]*"
_WISH = r"(?:(?:je (?:veux|voudrais|souhaite)|j'aimerais) (?:bien )?que (?:tu|vous) )?"

_ONE = r"[\w@`.+#/-]+(?: (?-i:[A-Z])[\w.+#-]*)?"  # a name
_ANY_TOOL = r"(?:outils?|solutions?|options?|bibliothèques?|paquets?)"  # nouns too general for a subject
_FONDLY = rf"(?:mon|ma|mes|notre|nos) (?:{_ANY_TOOL}|(?P<subject>(?!{_ANY_TOOL}\b)[\w-]+(?: (?:de |d')?[\w-]+)?)) de (?:prédilection|choix)(?: pour \S[^,;]{{0,60}}?)?"
_PLACE = (
    r"(?P<subject>(?:(?:la|le|les|notre|nos|mon|ma) |l')[\w`./-]+(?: (?!(?:dit|dis|pense|croit|que|qui|si|est|sont)\b)(?:de |du |des |d')?[\w`./-]+){0,2}?"
    r"|(?!(?:il|elle|ils|elles|ça|cela|ce|ceci|qui|on|tout|rien)\b)[\w`./-]+)"
)

_STATE = r"(?P<value>en (?:lecture seule|écriture seule|ajout seul)|intouchables?|hors limites)(?=\s*(?:[.!;,]|$)|\s(?:pour|et|car|parce)\b)"
_DAY = r"(?:(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\b|\d{1,2}(?:er)? (?:janv|févr|mars|avr|mai|juin|juil|août|sept|oct|nov|déc)|\d{4}-\d|demain\b|(?:la semaine|le mois) prochaine?\b)"

RULES: tuple[Rule, ...] = (
    Rule(INSTRUCTION, 0.9, "quand,lorsque,fois que", rf"(?:quand|lorsque|chaque fois que|à chaque fois que) {_WHEN},\s*(?P<value>{_VERB}\b.*?){_END}"),
    Rule(INSTRUCTION, 0.9, "toujours", rf"{_START}{_WISH}(?P<value>{_VERB} toujours (?P<object>\S.*?))(?:,?\s+(?:quand|lorsque|chaque fois que)\s+{_WHEN})?{_END}"),
    Rule(INSTRUCTION, 0.9, "toujours", rf"{_START}(?:merci de |prière de |(?:veille[zr]?|pense[zr]?) (?:bien )?à )?toujours (?P<value>{_VERB}\b.*?)(?:,?\s+(?:quand|lorsque|chaque fois que)\s+{_WHEN})?{_END}"),
    Rule(INSTRUCTION, 0.9, "jamais", rf"{_START}(?:merci de |prière de )?(?:(?:tu|vous|il faut|on doit|je veux que tu|je voudrais que tu) ?(?:dois |devez |ne |n')?)?(?:ne |n')?(?P<value>(?:{_VERB} jamais (?:de |d')?|jamais (?:{_INF} )?(?:de |d')|jamais {_INF} )(?P<object>\S.*?)){_END}"),
    Rule(INSTRUCTION, 0.85, "veille", rf"{_START}veille[zr]? (?:bien )?à ne (?:jamais|pas|plus) (?P<value>{_INF}\b.*?){_END}", negative=True),
    Rule(INSTRUCTION, 0.85, "désormais,dorénavant,avenir,maintenant,défaut,règle", rf"(?:^|[,;:]\s*)(?:désormais|dorénavant|à l'avenir|à partir de maintenant|par défaut|en règle générale)[,:]?\s+(?P<value>(?!(?:et|ou|mais)\b){_VERB}\b.*?){_END}"),
    Rule(INSTRUCTION, 0.85, "toujours,systématiquement,uniquement,absolument,impérativement,obligatoirement", rf"{_START}(?:(?:tous les|toutes les|chaque|les|le|la) |l')(?P<subject>[\w`./*'-]+(?: [\w`./*'-]+){{0,3}}?) (?:doit|doivent) (?:toujours|systématiquement|uniquement|absolument|impérativement|obligatoirement) (?P<value>\S.*?){_END}", besides="doit ,doivent "),
    Rule(INSTRUCTION, 0.85, "toujours,systématiquement,uniquement,absolument,impérativement,obligatoirement", r"(?:il faut|on doit|tu dois|vous devez|doit|doivent) (?:toujours|systématiquement|uniquement|absolument|impérativement|obligatoirement) (?P<value>\S.*?)" + _END),
    Rule(INSTRUCTION, 0.85, "faut,dois,doit,devez,devons", r"\b(?:il ne faut|on ne doit|tu ne dois|vous ne devez|nous ne devons) (?:jamais|pas|plus) (?P<value>\S.*?)" + _END, negative=True),
    Rule(INSTRUCTION, 0.75, " ne doit, ne doivent", rf"{_START}(?:(?:tous les|toutes les|chaque|les|le|la|aucun|aucune) |l')?(?P<subject>[\w`./*'-]+(?: [\w`./*'-]+){{0,3}}?) ne (?:doit|doivent) (?:jamais |pas |plus )?(?P<value>\S.*?){_END}", negative=True),
    Rule(INSTRUCTION, 0.75, "doit,doivent", rf"{_START}(?:tous les|toutes les|chaque|les) (?P<subject>[\w`./*'-]+(?: [\w`./*'-]+){{0,3}}?) (?:doit|doivent) (?P<value>\S.*?){_END}"),
    Rule(INSTRUCTION, 0.8, "ne ,n'", rf"{_START}(?:merci de |prière de )?(?:ne |n')(?P<value>(?!(?:t'inquiète|oublie[zr]?|hésite[zr]?|sais|suis|comprends|pense|crois|peux)\b)(?:{_VERB} (?:pas|plus)|(?:pas|plus) {_INF}) (?P<object>(?:de |d'|le |la |les |l')?\S.*?)){_END}", besides="pas ,plus "),
    Rule(INSTRUCTION, 0.75, "évite,arrête", rf"{_START}(?:évite[zr]?|arrête[zr]?) (?:de |d')?{_VALUE}{_END}", negative=True),
    Rule(INSTRUCTION, 0.8, "utilise,emploie,prends,prenez,mets", rf"{_START}(?:utilise[zr]?|emploie[zr]?|prends|prenez|mets) (?P<value>[^,;]+?){_NOT}{_END}"),
    Rule(INSTRUCTION, 0.7, "utilise,emploie,prends,prenez,indente", rf"{_START}(?:utilise[zr]?|emploie[zr]?|prends|prenez|indente[zr]? avec) (?P<value>[^,;]+?){_END}", known=True),
    Rule(INSTRUCTION, 0.75, "m'a ,nous a ,consigne,instruction,règle", rf"(?<!jamais )\b(?:(?<!ne )on (?:m'a|nous a) (?:dit|demandé)|consigne|instructions?|pour règle) (?:est )?de (?:toujours |ne (?=jamais\b))(?P<value>(?!le faire\b)(?:jamais )?{_VERB}\b.*?)(?:,?\s+(?:quand|lorsque|chaque fois que)\s+{_WHEN})?{_END}", besides=" de toujours , de ne jamais ", presupposed=True),
    Rule(INSTRUCTION, 0.7, "répon,écri,parle,rédige", rf"{_START}(?:réponds|répondez|écris|écrivez|parle|rédige)(?:-moi| moi)?(?: toujours| tout)? en (?P<value>\w+){_END}"),
    Rule(INSTRUCTION, 0.7, "écri,rédige", rf"{_START}(?P<value>(?:écris|écrivez|rédige[rz]?) (?P<object>(?:l'|(?:le|la|les|des|tes|nos|tous les|toutes les) )[\w' -]+? en \w+)){_END}"),
    Rule(INSTRUCTION, 0.7, "gard", rf"{_START}garde[zr]? (?P<object>(?:l'|(?:le|la|les|tes|vos|nos|mes|des) )?{_STYLE}) (?P<value>\S.*?){_END}"),
    Rule(INSTRUCTION, 0.75, "préf,privilégi,favoris", rf"{_START}(?:préfère[zr]?|privilégie[zr]?|favorise[zr]?) {_VALUE}{_NOT}?{_END}"),
    Rule(INSTRUCTION, 0.8, "interdi", rf"{_START}(?:il est |c'est )?(?:strictement |formellement )?(?:interdit|interdiction) (?:de |d'){_VALUE}{_END}", negative=True),
    Rule(INSTRUCTION, 0.75, "tu dois,vous devez", rf"{_START}(?:tu dois|vous devez) (?P<value>(?!(?:être|avoir|savoir|penser|croire)\b){_INF}\b.*?){_END}"),
    Rule(INSTRUCTION, 0.65, "pas d,aucun", r"^(?:pas de |pas d'|aucun |aucune )(?P<value>(?P<object>(?!(?:problème|souci|soucis|idée|doute)\b)[\w'-]+(?: [\w'-]+){0,6}?))(?:,? (?:s'il (?:te|vous) pla[iî]t|stp|svp|merci))?[ .!]*$", negative=True),
    Rule(DECISION, 0.8, "pass,migr,bascul,chang", rf"(?:on est|nous sommes|je suis|on a|nous avons|j'ai) (?:maintenant |désormais |finalement )?(?:passés?|migrés?|migré|basculés?|basculé|changé)(?: (?:de|du|depuis) (?P<other>[^,;]+?))? (?:à|au|vers|sur|pour) (?P<value>[^,;]+?){_END}", corrects=True, besides="on est ,nous sommes ,je suis ,on a ,nous avons ,j'ai "),
    Rule(DECISION, 0.8, "pass,migr,bascul", rf"{_START}(?:on|nous|je) (?:pass(?:e|ons)|migr(?:e|ons)|bascul(?:e|ons)) (?:de |du |d')(?P<other>[^,;]{{1,60}}?) (?:à|au|vers|sur) (?P<value>[^,;]+?){_END}", corrects=True),
    Rule(INSTRUCTION, 0.75, "j'ai dit ,je voulais dire ", rf"(?:^|[,;.]\s*)pas (?:de |des |d'|les )?(?P<other>[^,;]{{1,60}}?)[,;.:\u2013\u2014-]+\s*(?:mais )?(?:j'ai dit|je voulais dire) (?:de |des |d'|les )?(?P<value>[^,;]+?){_END}", corrects=True, known=True),
    Rule(INSTRUCTION, 0.75, "pas ", rf"^(?:(?:non|nan|attends?|désolée?|pardon|ah)\b[,.!\s]*){{0,2}}pas (?!(?:seulement|que)\b)(?P<other>{_ONE})\s*[,;:\u2013\u2014-]+\s*(?:mais |plutôt |utilise )?(?P<value>{_ONE})[\s.!]*$", corrects=True, known=True, dear=0),
    Rule(INSTRUCTION, 0.75, " pas ", rf"^(?:non|nan)[,.!\s]+(?:utilise )?(?P<value>{_ONE}),? (?:et )?pas (?P<other>{_ONE})[\s.!]*$", corrects=True, known=True, dear=0),
    Rule(FACT, 0.7, "en lecture seule,en écriture seule,en ajout seul,intouchable,hors limites", rf"{_START}{_PLACE} (?:est|sont|reste|restent) (?:désormais |maintenant |toujours |strictement |encore )?{_STATE}"),
    Rule(FACT, 0.7, "en lecture seule,en écriture seule,en ajout seul,intouchable,hors limites", rf"{_START}{_PLACE} (?:ne )?(?:n')?(?:est|sont) (?:plus|pas) {_STATE}", negative=True, corrects=True, besides=" plus , pas "),
    Rule(PREFERENCE, 0.8, "prédilection,de choix", rf"\b{_FONDLY} (?:est|sont|reste|restent|c'est) (?:toujours )?(?:le |la |les |l')?{_VALUE}{_NOT}?{_END}"),
    Rule(PREFERENCE, 0.8, "prédilection,de choix", rf"(?:^|[,;:]\s|\b(?:et|mais|donc) )(?P<value>(?!(?:c'est|ce|ça|cela|il|elle|qui|que|quel|quelle)\b)[\w`.+#-]+(?: [\w`.+#'-]+){{0,3}}?) (?:est|sont|reste|restent) (?:toujours )?{_FONDLY}{_END}"),
    Rule(FACT, 0.75, "repoussé,déplacé,reporté,avancé,décalé,passe", rf"\b(?:(?:mon|ma|notre|nos|le|la|les) |l')(?P<subject>[\w-]+(?: (?:de |du |des |d')?[\w-]+){{0,3}}?) (?:passe(?:nt)?|(?:(?:est|sont|a été|ont été) (?:finalement |désormais |encore )?)(?:repoussée?s?|déplacée?s?|reportée?s?|avancée?s?|décalée?s?)) (?:du [^,;]{{1,40}}? )?(?:(?:au|à) )?(?P<value>{_DAY}[^,;?]{{0,60}}?){_END}", corrects=True),
    Rule(FACT, 0.7, " s'appelle , se nomme ", rf"\b(?:mon|ma|notre|nos|le|la|l'|les) ?(?P<subject>[\w-]+(?: (?:de |du |des |d')?[\w-]+){{0,3}}?) (?P<attribute>s'appelle|se nomme) (?P<value>{_NAME_OF_ONE}){_END}"),
    Rule(FACT, 0.7, " plus ", rf"(?:on|nous|je) (?:n'|ne )(?P<value>{_VERB} plus (?P<object>\S.*?)){_END}", negative=True, corrects=True),
    Rule(PREFERENCE, 0.8, "préférence", rf"\b(?:ma|notre|sa|leur) (?:nette |forte |propre )?préférence pour (?:le |la |les |l')?{_VALUE}{_NOT}?{_BEHIND}", presupposed=True),
    Rule(PREFERENCE, 0.7, "que je préf,que nous préférons,que je trouve ", rf"\b(?P<value>\w[^\s,;:?]*(?: [^\s,;:?]+){{0,4}}), que (?:je préfère|nous préférons|je trouve plus (?:simple|clair|lisible|facile|pratique)e?s?)\b(?: (?:à|aux?|plutôt que) (?P<other>\S.*?)(?:{_END}|(?=,)))?", reach=6, presupposed=True),
    Rule(PREFERENCE, 0.7, " qui ", rf"(?-i:\b[A-Z][\w-]+), qui (?:préfère|adore|aime)(?: (?:bien|beaucoup|vraiment))? (?P<value>\S[^,;?]*?){_NOT}?(?:{_END}|(?=,))", besides="préfère,adore,aime", reach=1, presupposed=True),
    Rule(PREFERENCE, 0.7, "moi qui ,quelqu'un qui ", rf"\b(?:moi qui|(?:en tant que|comme) quelqu'un qui) (?:préfère|aime|adore|apprécie|privilégie) {_VALUE}{_NOT}?{_END}", presupposed=True),
    Rule(PREFERENCE, 0.65, "pourquoi j'ai choisi,pourquoi nous avons choisi,pourquoi on a choisi", rf"\bpourquoi (?:j'ai|nous avons|on a) choisi {_VALUE} (?:plutôt que|plutôt qu'|au lieu de|au lieu d') ?(?P<other>\S.*?){_END}", presupposed=True),
    Rule(PREFERENCE, 0.65, "ma décision ,mon choix ,notre décision ,notre choix ", rf"\b(?:ma décision|mon choix|notre (?:décision|choix)) (?:de |d')(?:utiliser |prendre )?{_VALUE} (?:plutôt que|plutôt qu'|au lieu de|au lieu d') ?(?P<other>\S.*?){_END}", besides="plutôt qu,au lieu d", presupposed=True),
    Rule(PREFERENCE, 0.65, "privilégié,priorité", rf"\b(?:j'ai|nous avons|on a) (?:toujours |plutôt )?(?:privilégié|donné la priorité (?:à|aux?)) {_VALUE}{_NOT}?{_END}"),
    Rule(PREFERENCE, 0.65, "plutôt qu,au lieu d", rf"\b(?:je (?:veux|voudrais|souhaite)|j'aimerais|on veut|nous voulons) (?P<value>(?!(?:que|qu|te|vous|savoir|{_INF})\b)\S[^,;:]{{0,80}}?) (?:plutôt que|plutôt qu'|au lieu de|au lieu d'|au lieu du) ?(?P<other>\S.*?){_END}"),
    Rule(PREFERENCE, 0.7, "pour habitude d,pour règle d,pour principe d,point d'honneur à ", rf"\b(?:j'ai|nous avons|on a|je mets un|nous mettons un) (?:pour (?:habitude|règle|principe) (?:de |d')|point d'honneur à )(?P<value>{_INF} (?P<object>\S.*?)){_END}"),
    Rule(PREFERENCE, 0.7, "je trouve ,nous trouvons ", rf"\b(?:je trouve|nous trouvons) (?:bien |beaucoup )?plus (?:simple|clair|facile|pratique|agréable|utile) (?:de |d')(?P<value>{_INF}(?: (?P<object>\S.*?))?){_NOT}?{_END}"),
    Rule(PREFERENCE, 0.7, " me convien, nous convien", rf"{_START}(?:l'|(?:le|la|les) )?(?P<value>(?!(?:ça|cela|ce|il|elle|qui)\b)[\w`.+#-]+(?: [\w`.+#'-]+){{0,4}}?) (?:me|nous) convien(?:t|nent) (?:mieux|le mieux|davantage)(?: (?:que |qu')(?P<other>\S.*?))?{_END}"),
    Rule(PREFERENCE, 0.9, "préf", rf"\b{_I} ?(?:(?:bien|vraiment|nettement|toujours|largement) )*préf(?:ère|érons|èrent|érerais|érerait) que (?:tu|vous|on|nous) (?:ne |n')(?P<value>{_VERB} (?:pas|plus|jamais) (?:de |d')?(?P<object>\S.*?)){_END}", besides=" ne , n'"),
    Rule(PREFERENCE, 0.9, "préf", rf"\b{_I} ?(?:(?:bien|vraiment|nettement|toujours|largement|fortement|beaucoup) )*préf(?:ère|érons|èrent|érerais|érerait)(?: (?:nettement|vraiment|toujours|largement|de loin))* (?:le |la |les |l')?(?P<value>[\w`.+#-]+) aux? (?P<other>[\w`.+#-]+){_END}", besides=" au , aux "),
    Rule(PREFERENCE, 0.9, "préf", rf"\b{_I} ?(?:(?:bien|vraiment|nettement|toujours|largement|fortement|beaucoup) )*préf(?:ère|érons|èrent|érerais|érerait|éré|érait|érais)(?: (?:nettement|vraiment|toujours|largement|fortement|de loin|utiliser|avoir|que))* {_VALUE}{_NOT}?{_END}"),
    Rule(PREFERENCE, 0.85, "préférence", rf"\b(?:ma|notre|sa|leur) (?:nette |propre )?préférence (?:est|va|serait|irait)(?: de| à| aux| au| pour)? {_VALUE}{_END}"),
    Rule(PREFERENCE, 0.7, "aime,aimons,adore,apprécie", rf"\b(?:j'aime(?:rais)?(?: bien| mieux| beaucoup)|j'aime(?= (?:les|des|mes|tes|vos|quand|avoir)\b)|j'adore|j'apprécie|on aime(?: bien)?|nous aimons) (?!(?:ça|cela|bien|ce|cet|cette|ces)\b){_VALUE}{_NOT}?{_END}"),
    Rule(PREFERENCE, 0.75, "déteste,aime,veux,horreur", rf"\b(?:je déteste|je n'aime pas|on n'aime pas|j'aime pas|on aime pas|je ne veux (?:pas|plus)(?: de| d')?|j'ai horreur de) {_VALUE}{_END}", negative=True),
    Rule(PREFERENCE, 0.75, "évit,refus,fuis,fuit,fuyons", rf"\b(?:j'évite|je (?:refuse|fuis)|on (?:évite|refuse|fuit)|nous (?:évitons|refusons|fuyons)) (?:toujours |absolument |généralement |autant que possible )?(?:de |d')?(?:utiliser )?(?!(?:ça|cela|ce|cet|cette|ces)\b){_VALUE}{_END}", negative=True),
    Rule(PREFERENCE, 0.75, "aversion,allergi,phobie,horreur", rf"\b(?:j'ai|nous avons|on a) (?:une |un )?(?:\w+ )?(?:aversion|allergie|phobie|horreur)(?: \w+)? (?:pour |contre |envers |de |d'|des |du |à |aux? ){_VALUE}{_END}", negative=True),
    Rule(PREFERENCE, 0.7, "opposé,contre ,allergique,réticent,intéress,aucun intérêt,mal à l'aise", rf"\b(?:(?:je suis|nous sommes|on est) (?:\w+ment |plutôt |très )?(?:opposée?s? (?:à|au|aux)|contre|allergiques? (?:à|au|aux)|réticente?s? (?:à|au|aux)|mal à l'aise avec)|je ne (?:suis pas intéressée? par|m'intéresse pas (?:à|au|aux))|je n'ai aucun intérêt pour) (?!(?:ça|cela|ce|cet|cette|ces)\b){_VALUE}{_END}", negative=True),
    Rule(PREFERENCE, 0.7, "uniquement ,exclusivement ,strictement ", rf"\b(?:je|j'|on|nous) ?(?P<value>(?!(?:veux|vois|sais|peux|viens|ai|as|a|suis|est|avons|sommes|voulais|voudrais)\b){_VERB} (?:uniquement|exclusivement|strictement) (?P<object>\S.*?)){_END}"),
    Rule(PREFERENCE, 0.7, "n'utilis", rf"\b(?:je n'utilise|on n'utilise|nous n'utilisons) que (?:de |d'|des |du |le |la |les |l')?{_VALUE}{_END}"),
    Rule(PREFERENCE, 0.7, "n'utilis", rf"\b(?:je n'utilise|on n'utilise|nous n'utilisons) (?:pas|jamais) (?:de |d')?(?!(?:ça|cela|ce|cet|cette|ces)\b){_VALUE}{_END}", negative=True),
    Rule(PREFERENCE, 0.65, "je trouve ", rf"\bje trouve (?:que )?(?:les |des )(?P<value>\S.*?) (?:sont )?(?:trop |très |vraiment |assez |plus )*(?:ennuyeu(?:x|ses?)|pénibles?|confuse?s?|fatigante?s?|inutiles?|lourde?s?|agaçante?s?|désagréables?|stressante?s?|difficiles? à \w+){_END}", negative=True),
    Rule(PREFERENCE, 0.65, "crois fermement,suis convaincu,sommes convaincus", rf"\b(?:je crois fermement|je suis convaincue?|nous sommes convaincus) (?:que |qu'|de |d'|à |aux? |en ){_VALUE}{_END}"),
    Rule(PREFERENCE, 0.7, "priorité", rf"\b(?:ma|notre) (?:première |principale |grande )?priorité,? (?:c'est|est|reste)(?: la| le| les)? (?:l')?{_VALUE}{_END}"),
    Rule(PREFERENCE, 0.7, "suivons ,suit ,respect,insist,privilégi,mise sur,misons sur", rf"\b(?:je|j'|on|nous) ?(?P<value>(?:suivons|suit|respecte|respectons|insiste sur|insistons sur|privilégie|privilégions|mise sur|misons sur) (?P<object>(?!(?:ça|cela|ce|cet|cette|ces)\b)\S.*?)){_END}"),
    Rule(PREFERENCE, 0.75, "passionn,partisan,adepte", rf"\b(?:je suis|nous sommes) (?:un |une |des )?(?:\w+ )?(?:passionnée?s? (?:par |de |d')|(?:partisane?|adepte)s? (?:de |d'|du |des )){_VALUE}{_END}"),
    Rule(PREFERENCE, 0.65, "garder ,limiter ,minimiser ,rester ", rf"\b{_AIM} (?:à |de )?(?P<value>(?:garder (?!(?:ça|cela|un œil|en tête)\b)|limiter |minimiser |rester (?:sous|dans|sur|avec|en dessous de) )(?P<object>\S.*?)(?: (?:{_SUCH}).*?)?){_END}"),
    Rule(PREFERENCE, 0.65, "d'éviter , éviter ", rf"\b{_AIM} (?:à |de |d')?éviter (?:de |d')?(?!(?:ça|cela|ce|cet|cette|ces)\b){_VALUE}{_END}", negative=True),
    Rule(PREFERENCE, 0.7, "mieux", rf"\b(?:j'apprends|je (?:comprends|travaille|retiens|réfléchis)|on (?:apprend|comprend|travaille|retient)) (?:bien |beaucoup )?mieux (?:(?:quand|lorsque?|si|s')(?: ?il y a| ?j'ai| ?on a)? )?(?P<value>\S.*?){_END}"),
    Rule(PREFERENCE, 0.65, "compte,importe,important", rf"{_START}(?:l'|(?:le|la|les) )?(?P<value>[\w`.+#-]+(?: [\w`.+#'-]+){{0,4}}?) (?:compten?t?|importent?|(?:est|sont) (?:très |plus |le plus |la plus )?importante?s?) (?:plus |le plus |beaucoup |énormément )?pour (?:moi|nous)(?: (?:que |qu')(?P<other>\S.*?))?{_END}", besides="pour moi,pour nous"),
    Rule(PREFERENCE, 0.65, "important,tiens à,tenons à", rf"\b(?:(?:c'est|il est) (?:très |vraiment )?important pour (?:moi|nous) (?:que |qu'|de |d')|je tiens à (?:ce que |ce qu')?|nous tenons à (?:ce que |ce qu')?)(?!(?:te|vous|toi|remercier|m'excuser|préciser|dire|signaler|souligner)\b){_VALUE}{_END}"),
    Rule(PREFERENCE, 0.75, " fan,à l'aise avec", rf"\b(?:je suis|on est|nous sommes) (?:très |plus |vraiment |plutôt |assez |un grand |une grande |grand |grande )*(?:fans? (?:de |d'|des |du )|à l'aise avec ){_VALUE}{_NOT}?{_END}"),
    Rule(PREFERENCE, 0.75, "fan,à l'aise avec", rf"(?:\b(?:(?:je (?:ne )?suis|on (?:n')?est|nous (?:ne )?sommes) pas|(?:je n'ai|on n'a|nous n'avons) jamais été) |^pas )(?:(?:très|trop|vraiment|un|une|grande?s?|énorme) ){{0,3}}(?:fans? (?:de |d'|des |du )|à l'aise avec )(?!(?:ça|cela|ce|cet|cette|ces)\b){_VALUE}{_END}", negative=True, besides="pas ,jamais "),
    Rule(PREFERENCE, 0.8, "préféré,favori", rf"\b(?:mon|ma|mes|notre|nos) (?P<subject>[\w-]+(?: (?:de |d')?[\w-]+)?) (?:préférée?s?|favorite?s?) (?:est|sont|reste) {_VALUE}{_END}"),
    Rule(PREFERENCE, 0.6, "comme j", rf"(?:^|[,;:]\s)(?P<value>[^\W\d_]+ (?P<object>[^,;:?]{{3,160}}?)),? comme je (?:le |la |les )?préfère{_END}", besides="préfère"),
    Rule(INSTRUCTION, 0.75, "avant ,après ", rf"{_START}(?:avant|après) (?P<topic>(?:(?:de |d')(?!(?:faire|continuer|aller)\b){_INF}|chaque \w+|tout \w+|toute \w+)\b(?! (?:ce|cet|cette|ces|le|la|l')\b)[^,]{{0,60}}?),\s*(?P<value>{_TASK} \S.*?){_END}"),
    Rule(INSTRUCTION, 0.7, "avant ,après ", rf"{_START}(?:pense à |n'oublie pas de )?(?P<value>{_TASK} ?[^,;]{{2,80}}? (?:avant|après) (?:(?:de |d')(?!(?:faire|continuer|aller|passer)\b){_INF}|de (?:l'|les |le ){_INF}|chaque \w+|tout \w+|toute \w+)\b.*?){_END}"),
    Rule(INSTRUCTION, 0.7, "avant d", rf"{_START}(?P<value>{_TASK} ?avant (?:de |d'){_INF}\b.*?){_END}"),
    Rule(INSTRUCTION, 0.7, "chaque ", rf"{_START}(?P<value>{_TASK} [^,;]{{2,100}}?\bchaque {_ONES}\b.*?){_END}"),
    Rule(INSTRUCTION, 0.75, "partout,dans tou,pour tou,dans chaque", rf"{_START}(?P<value>(?:utilise|garde|préfère|suis)[zr]? [^,;]{{2,80}}? (?:partout|dans tout(?:e|es)? \S.*?|dans tous \S.*?|pour tou(?:s|tes) \S.*?|dans chaque \S.*?)){_END}"),
    Rule(INSTRUCTION, 0.75, "qu", rf"{_START}ne (?P<value>{_VERB} (?:que |qu'|qu(?=aux?\b))(?P<object>\S.*?)){_END}", besides="ne "),
    Rule(INSTRUCTION, 0.7, "traite", rf"{_START}(?P<value>traite[zr]? [^,;]{{2,60}}? comme \S.*?){_END}"),
    Rule(INSTRUCTION, 0.8, "appelle-moi ,appelez-moi ", r"\bappel(?:le|ez)-moi (?P<value>(?-i:[A-Z])[\w-]+)(?=[\s.,!]|$)", about="user's name"),
    Rule(INSTRUCTION, 0.7, "tutoie-moi,tutoyez-moi,vouvoie-moi,vouvoyez-moi", r"\b(?P<value>(?:tutoie|tutoyez|vouvoie|vouvoyez)-moi)\b", dear=2),
    Rule(INSTRUCTION, 0.65, "sois ,soyez ", r"^(?:sois|soyez) (?:plus |très )?(?P<value>(?:concise?|bref|brève|brefs|directe?|explicite|critique|honnête|stricte?|précise?|cohérente?|formelle?|poli|polie|détaillée?|spécifique)s?(?:,? (?:et |mais )?\w+)?)[ .!]*$"),
    Rule(INSTRUCTION, 0.65, "étape par étape,en détail,brièvement,simplement", rf"{_START}(?P<value>(?:explique|décris|montre|réponds)[zr]?(?:-moi)?(?: tout| les choses| tes \w+)? (?:étape par étape|en détail|brièvement|simplement)){_END}"),
    Rule(INSTRUCTION, 0.65, "d'abord,avant d", rf"\b(?:je (?:veux|voudrais|souhaite)|j'aimerais) que (?:tu|vous) (?P<value>[a-zà-ÿ]+ [^,;]{{2,100}}? (?:d'abord|avant (?:de |d').*?)){_END}"),
    Rule(INSTRUCTION, 0.75, "projet,dépôt,repo,équipe,code", rf"^(?:pour|dans|sur) (?:ce|notre|le|l') ?(?:projet|dépôt|repo|équipe|code),? (?P<value>(?:(?:on|nous) (?!(?:a|avons|est|sommes|avait|peut|veut|doit|va|voit)\b)\w+|{_TASK}) \S.*?){_END}"),
    Rule(INSTRUCTION, 0.75, "si tu ,si vous ,si quelque", rf"^si (?P<topic>(?:tu|vous|quelque chose) .{{2,80}}?),\s*(?P<value>(?:{_TASK}|ne) ?\S.*?){_END}"),
    Rule(INSTRUCTION, 0.75, "jamais", rf"\b(?:on|nous) (?:ne |n')(?!(?:[mtls]')?(?:a|as|ai|ont|avons|avez|est|sont)\b)(?P<value>{_VERB} jamais (?:de |d')?(?P<object>\S.*?)){_END}"),
    Rule(INSTRUCTION, 0.65, "je veux ,je voudrais ,je souhaite ,j'aimerais ,j'ai besoin ", rf"{_START}(?:je (?:veux|voudrais|souhaite)|j'aimerais) (?P<object>(?:des|les|tes|vos) (?:réponses|explications)) (?P<value>\S.*?){_END}", besides=" réponses , explications "),
    Rule(INSTRUCTION, 0.65, "que tout ", rf"{_START}(?:je (?:veux|voudrais|souhaite)|j'aimerais|j'ai besoin) que (?P<object>tout) (?P<value>\S.*?){_END}"),
    Rule(PREFERENCE, 0.7, "habitude,général", rf"\b(?:d'habitude|en général|généralement)[, ]+(?:je|j'|on|nous) ?(?P<value>{_VERB}(?: (?P<object>\S.*?))??){_END}"),
    Rule(DECISION, 0.85, "décision", rf"(?:^|[.;,]\s*)décision(?: prise)?(?: (?:concernant|sur|pour|quant à) [^:.]{{0,60}})?\s*:\s*{_VALUE}{_END}"),
    Rule(DECISION, 0.8, "décision", rf"(?:^|[.;,]\s*)décision (?:de |d')(?:utiliser |passer à |prendre )?{_VALUE}(?:\s+(?:plutôt que|plutôt qu'|au lieu de)\s*(?P<other>\S.*?))?{_END}"),
    Rule(DECISION, 0.75, "adopt", rf"\b(?:j'adopte|on adopte|nous adoptons) {_VALUE}{_END}"),
    Rule(DECISION, 0.85, "décidé,choisi,convenu,accord", rf"\b(?:(?:on a|nous avons|j'ai|il a|elle a|ils ont|(?-i:[A-Z][a-zé]+) a) (?:finalement |donc )?(?:décidé|choisi|convenu)|(?:nous nous|on s'est|nous) sommes mis d'accord|on s'est mis d'accord)(?: pour)? (?:de |d')?(?:ne (?:pas|plus|jamais) (?:utiliser|prendre|passer à|garder|adopter)|abandonner|arrêter d'utiliser|se passer de|renoncer à) (?:de |d'|le |la |les |l')?{_VALUE}{_END}", negative=True),
    Rule(DECISION, 0.85, "décidé,choisi,convenu,accord", rf"\b(?:(?:on a|nous avons|j'ai|il a|elle a|ils ont|(?-i:[A-Z][a-zé]+) a) (?:finalement |donc )?(?:décidé|choisi|convenu)|(?:nous nous|on s'est|nous) sommes mis d'accord|on s'est mis d'accord)(?: pour)? (?:de |d')?ne (?:pas|plus|jamais) (?P<value>{_INF} (?P<object>\S.*?)){_END}", negative=True),
    Rule(DECISION, 0.75, "renonc,abandonn,écart,va pas ,allons pas ,vais pas ", rf"\b(?:(?:on|nous|j'|je) ?(?:a|avons|ai)? ?(?:finalement |donc )?(?:renonc(?:é|e|ons) à|abandonn(?:é|e|ons)|écart(?:é|ons))|(?:on ne va|nous n'allons|je ne vais) pas (?:utiliser|prendre|adopter|garder)) (?!(?:ça|cela|ce|cet|cette|ces)\b)(?:de |d'|le |la |les |l')?{_VALUE}{_END}", negative=True),
    Rule(DECISION, 0.85, "décidé,choisi,opté,retenu,tranché,convenu,adopté,accord", rf"\b(?:(?:on a|nous avons|j'ai|il a|elle a|ils ont|(?-i:[A-Z][a-zé]+) a) (?:finalement |donc )?(?:décidé|choisi|opté|retenu|tranché|convenu|adopté)|(?:nous nous|on s'est|nous) sommes mis d'accord|on s'est mis d'accord)(?: (?:de|d'|que|pour|sur))?(?: (?:utiliser|prendre|passer à|garder))?\s*:? ?{_VALUE}(?:\s+(?:plutôt que|plutôt qu'|au lieu de|au lieu d')\s*(?P<other>\S.*?))?{_END}"),
    Rule(DECISION, 0.8, "on va,allons,on par,partons,on passe,on garde,on reste", rf"{_START}(?:on va|nous allons|on part sur|partons sur|on passe à|on garde|on reste sur)(?: utiliser| prendre| garder| rester sur| passer à)? {_VALUE}(?:\s+(?:plutôt que|au lieu de)\s+(?P<other>\S.*?))?{_END}"),
    Rule(PREFERENCE, 0.6, "plutôt,au lieu", r"\b(?:avec|en utilisant|utiliser|choisir) (?P<value>[\w`.+#-]+(?: [\w`.+#-]+){0,4}?) (?:plutôt que|plutôt qu'|au lieu de|au lieu d') ?(?P<other>\S.*?)" + _END),
    # --- taking back, in plain words -----------------------------------------------------------------------------------------
    Rule(FACT, 0.75, "quitté,abandonné,laissé tomber,passé,fini avec", rf"\b(?:on a|nous avons|j'ai|on est|nous sommes|on en a|j'en ai) (?:quitté|abandonné|laissé tomber|passée?s? de|fini avec) (?P<other>{_ONE}),? (?:et )?(?:c'est|on est (?:sur|passés? à)|nous sommes (?:sur|passés à)|on utilise|nous utilisons)(?: maintenant| désormais)? (?P<value>{_ONE})(?: maintenant| désormais)?(?=\s*(?:[.,;!]|$))", corrects=True, known=True),
    Rule(FACT, 0.7, "c'est ", rf"{_START}c'est (?P<value>{_ONE}) (?:maintenant|désormais)(?=\s*(?:[.,;!]|$))", corrects=True, known=True, besides=" maintenant, désormais"),
    Rule(DECISION, 0.75, "oubli,laiss,abandonn,tant pis pour", rf"{_START}(?:oubli(?:e[zr]?|ons)|laiss(?:e[zr]?|ons) tomber|abandonn(?:e[zr]?|ons)|tant pis pour) (?:l'idée d(?:e |')|le (?:plan|projet) (?:de |d'|avec )?)(?:utiliser |prendre )?(?P<value>{_ONE})(?=\s*(?:[.,;!]|$))", negative=True, corrects=True),
    Rule(DECISION, 0.75, "oubli,laiss,abandonn,tant pis pour", rf"{_START}(?:oubli(?:e[zr]?|ons)|laiss(?:e[zr]?|ons) tomber|abandonn(?:e[zr]?|ons)|tant pis pour) (?P<value>{_ONE})(?=\s*(?:[.,;!]|$))", negative=True, corrects=True, known=True),
    Rule(INSTRUCTION, 0.75, "retour ,revenons ,reviens ,revenez ,repass", rf"{_START}(?:retour|reven(?:ons|ez)|reviens|repass(?:e[zr]?|ons)) (?:à l'|au |en )(?P<value>anglais|français|allemand|espagnol)(?=\s*(?:[.,;!]|$|s'il|stp|svp))", corrects=True, known=True),
    Rule(DECISION, 0.7, "retour à ,revient à ,revenons à ", rf"{_START}(?:retour|on revient|revenons) à (?P<value>{_ONE})(?=\s*(?:[.,;!]|$))", corrects=True, known=True),
    Rule(FIX, 0.85, "corrigé,réglé,résolu,réparé", rf"\b(?:(?:a été|est|et) )?(?:corrigé|réglé|résolu|réparé)e?s? (?:en|par|grâce à|avec) {_VALUE}{_END}", problem_before=True),
    Rule(FIX, 0.8, "corrigé,réglé,résolu,réparé", rf"\b(?:j'ai|on a|nous avons) (?:corrigé|réglé|résolu|réparé) (?P<reason>(?:le |la |les |l'|ce |cette )\S[^,;]{{1,80}}?) (?:en|grâce à|avec) {_VALUE}{_END}"),
    Rule(FIX, 0.8, "le correctif,le problème,la solution,la cause,la correction,l'erreur,le bug", rf"\b(?:le (?:correctif|problème)|la (?:solution|cause|correction)|l'erreur|le bug) (?:de (?P<reason>[^,;.]+?) )?(?:est|était|venait|vient)(?: de| d'| du| que| qu')? ?{_VALUE}{_END}"),
    Rule(TODO, 0.85, "à faire,étape", rf"^(?:à faire|reste à faire|prochaine étape)\s*:\s*{_VALUE}{_END}"),
    Rule(TODO, 0.8, "reste,faut,faudra,encore", rf"\b(?:il (?:me |nous )?reste(?: encore)? (?:à|encore à)|il (?:faut|faudra) (?:encore|aussi)|il faudra|je dois encore|on doit encore|nous devons encore) {_VALUE}{_END}"),
    Rule(TODO, 0.8, "oublie,pense,rappelle", rf"{_START}(?:n'oublie(?:z)? pas (?:de|d')|pense(?:z)? à|rappelle-moi (?:de|d')) ?{_VALUE}{_END}"),
    Rule(TODO, 0.75, "j'ai promis,je me suis engag,je m'engage,nous nous engageons", rf"\b(?:j'ai promis|je me suis engagée?|je m'engage|nous nous engageons)(?: \S+){{0,2}} (?:à|que|de|d') ?{_VALUE}{_END}"),
    Rule(TODO, 0.75, "demain,plus tard,prochaine,avant ,d'ici ,bientôt", rf"\b(?:je|on|nous) (?P<value>(?!verra|dira)\S[^,;?]{{0,200}}?\b(?:demain|plus tard|la semaine prochaine|avant (?:la |le )?\w+|d'ici \S+|bientôt)\b.*?){_END}"),
    Rule(TODO, 0.6, "rai ,vais ,rons ,allons ", rf"(?:^|[.;]\s*|\b(?:et|donc) )(?:j'|je |nous |on )(?P<value>(?!(?:serai|aurai|verrai|dirai|pourrai|saurai|devrai)\b)(?:[a-zà-ÿ]{{3,}}r(?:ai|ons)|(?:vais|allons) [a-zà-ÿ]+r) \S.*?){_END}"),
    Rule(FACT, 0.75, "info,savoir,note,confirmé", rf"^(?:note|(?:pour info|pour information|info|info rapide|à savoir|confirmé|vient d'être confirmé)[^:,]*)\s*[:,]\s*{_VALUE}{_END}"),
    Rule(FACT, 0.7, "utilise,utilisons,tourne sur,tournons sur,dépend de,est écrit en,est sur,déploie sur", rf"\b(?:on|nous|ce projet|le projet|ce dépôt|l'équipe|notre (?:équipe|projet|application)|le (?:serveur|backend|frontend)) (?:utilis(?:e|ons)|tourn(?:e|ons) sur|dépend de|est (?:écrit en|sur)|déploie sur) {_VALUE}{_END}"),
    Rule(FACT, 0.7, " est , sont , tourne , écoute , se trouve ", rf"\b(?:mon|ma|notre|nos|le|la|l'|les) ?(?P<subject>(?!(?:problème|question|but|erreur|code|idée|même|plus)\b)[\w-]+(?: (?:de |du |des |d')?[\w-]+){{0,3}}?) (?:est|sont|tourne|écoute|se trouve)(?: (?P<attribute>à|sur|dans|au|en|le))? (?P<value>[^,;?]*?(?:\d|(?-i:[A-Z])\w+|/)[^,;?]*?){_END}"),
    Rule(FACT, 0.7, "m'appelle", r"\bje m'appelle (?P<value>(?-i:[A-Z])[\w-]+(?: (?-i:[A-Z])[\w-]+)*)", about="user's name"),
)  # fmt: skip

FRENCH = Language(
    rules=RULES,
    hedges=(
        "peut-être", "sans doute", "probablement", "éventuellement", "je pense", "je crois que", "je crois qu'", "je crois bien", "il me semble",
        "pour l'instant", "pour le moment", "provisoirement", "cette fois", "suis pas sûr", "est pas sûr", "pas sûr que", "pas sûre que",
    ),
    asks=re.compile(
        r"(?i)\s*(?:(?:et|mais|donc|ou|ok)[,\s]+)*(?:est-ce|comment|pourquoi|quand est-ce|quels?|quelles?|qui|où|combien|peux-tu|pouvez-vous|pourrais-tu|dois-je|devrais-je|doit-on|faut-il|si|s'il(?! (?:te|vous))|sauf si)\b"
    ),
    wonders=re.compile(r"(?i)\b(?:(?:sais|sait|savons|souviens|rappelle) (?:pas|plus)|pas (?:sûre?|clair|certaine?)|me demande) (?:si |s')"),
    reason=re.compile(
        r"(?i)\b(?:parce qu(?:e |')|car |puisqu(?:e |')|à cause d(?:e |u |es |')|pour éviter |afin (?:de |d'|que )|grâce à )(?P<reason>[^.;!?\n]{3,240})"
    ),
    takes_back=re.compile(
        r"(?i)^(?:non[,.!]|en fait\b|correction\b|plutôt\b|finalement\b|oublie(?:z)? (?:ça|ce que)|je voulais dire|attends?[,.])"
    ),
    taken_back=re.compile(r"(?i)\b(?:j'ai changé d'avis|je me suis trompée?|à la place$)"),
    back=("j'ai changé d'avis", "je me suis trompé", "à la place"),
    links=_LINKS,
    clause=re.compile(
        r"(?i)[,;:(\u2014\u2013]\s*|\s(?:et|mais|donc)\s+(?=(?:je|j'|on|nous|tu|vous|peux|pourrais|comment|toujours|jamais|ne|n'|utilise)\b)"
    ),
    limits=FRENCH_LIMITS,
    unsaid=re.compile(
        r"(?i)(?:\b(?:jamais|pas) (?:dit|prétendu|affirmé|vrai|exact|le cas)|\b(?:c'est|il est) faux|\b(?:un |mon |ma |mes )?(?:collègues?|amie?s?|stagiaire|quelqu'un|certains|les gens|ils|elles) (?:pense(?:nt)?|croi(?:t|ent)|prétend(?:ent)?|di(?:t|sent)) |\b(?:imagine|imaginons|imaginez|suppose|supposons|supposez|admettons|mettons|disons|je doute|comme si))"
        r"(?: de dire)?(?: ?(?:que|qu'))?(?:\s*$|\s?(?=(?:on|nous|je|il|elle|le|la|notre)\b))"
    ),
    denied=re.compile(
        r"(?i)\b(?:ne |n')\w+ (?:pas|jamais|plus)(?: (?:encore|vraiment|toujours|\w+ment))* \w+(?:é|i|u|is|it)e?s?(?: (?:de|d'|sur|pour))?(?: ?(?:utiliser|prendre|passer à|garder))?\s*$"
    ),
    refused=re.compile(
        r"(?i)(?:[,;(\u2013\u2014-]\s*|\s)(?:(?:mais|et) (?:je m'en (?:fiche|moque)|peu m'importe|ça m'est égal|je ne suis pas d'accord)|(?:ce qui|mais c'|et c'|mais ce n'|c'|ce n') ?est (?:pas vrai|faux|une erreur|absurde|n'importe quoi))"
    ),
    head_first=True,
    no="pas",
)  # fmt: skip
