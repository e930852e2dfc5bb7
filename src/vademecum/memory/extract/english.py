"""Rules for lasting statements in English.

Each rule names a form of sentence, never a subject: "always", "I prefer", "we decided to", "the fix was". Some forms have a
one-off twin: "make sure to add a test" concerns this task, "always add a test" concerns all. Only the lasting form is
matched, or the rule has a confidence too low to be shown unasked.
"""

from __future__ import annotations

import re

from vademecum.memory.extract.rules import OPENING, Language, Rule
from vademecum.memory.extract.scope import ENGLISH_LIMITS
from vademecum.memory.records import FactKind

PREFERENCE, INSTRUCTION, DECISION = FactKind.PREFERENCE, FactKind.INSTRUCTION, FactKind.DECISION
FACT, TODO, FIX = FactKind.FACT, FactKind.TODO, FactKind.FIX

_OPENER = (
    r"(?:(?:please|also|and|but|so|then|ok(?:ay)?|no|nope|yes|yeah|actually|wait|hmm|btw|just|oh|well|hey|hi|remember|note|important|rule"
    r"|reminder|correction|from now on|going forward|in future|in the future|for future reference|in general|generally|as a rule"
    r"|by default|scratch that|on second thought|everywhere)\b[,:!.\s-]*|(?:for|in|on|under|inside|within) [^,;:]{1,60}?(?:,\s*|\s+(?=(?:always|never|use|prefer|don't|do not|keep|avoid)\b))){0,4}"
)
_LINKS = r"(?:and|but|so)\s"
_START = rf"{OPENING}(?:and|but|so)\s+(?=(?:please|always|never|don't|do not)\b)){_OPENER}"
_END = (
    r"(?<!\s)(?=[\s.!?,;]|$)(?=\s*(?:$|\sas (?:the|our|my)\b|\sand (?:i|we|the [\w-]+ (?:is|are|uses?|runs?))\b|\s(?:in|for|on|across) (?:this|our|the|all|every) (?:repo|repository|project|codebase)\b|[.!?;](?:\s|$)|[,;]\s*(?:and|but|so|can|could|how|considering|given|while|which|where|because|since|as|especially|please|then"
    r"|do|does|is|are|i|we|you|it|that|not|maybe|what)\b|\s[-\u2013\u2014(]|\s(?:because|since|due to|so that|so|but|if|unless|when(?:ever)?|while|every time)\b))"
)
_NAMED = (
    r"(?:(?!\d|(?-i:[A-Z])\w|/|\w_\w)[^,;?]){0,60}(?:\d|(?-i:[A-Z])\w|/|\w_\w)"  # up to the first figure, name or path
)
_BEHIND = rf"(?:{_END}|(?=\s(?:with (?:the|my|our|his|her|their)|will|would|might|may|can|could|should|does|doesn't|is|isn't|are|has|affects?|impacts?|influences?|helps?)\b))"  # the end of a value in the middle of a clause
_VALUE = r"(?P<value>\S(?:.*?\S)??)"
_NOT = r"(?:,?\s+(?:over|rather than|instead of|as opposed to|in favou?r of not|and not|not)\s+(?P<other>\S.*?))"
_WE = r"(?:we|i|they|she|he|the team|(?!(?:some|any|every|no)(?:one|body)\b|people\b|who\b|which\b|that\b|it\b|others\b|almost\b|nearly\b)[A-Z][a-z]+(?: [A-Z][a-z]+)?)"
_I = r"(?:i|we|she|he|they|the (?:team|user|client|customer)|(?-i:[A-Z][a-z]+(?: [A-Z][a-z]+)?))"
_WHEN = r"(?P<topic>(?:i|we|you|they|it|there|a|the|any|my)\b.{2,160}?)"
_VERB = r"(?!(?:and|or|but|mind|been|had|has|was|were|is|are|the|a|an|any|all|some|every|each|this|that|my|our|your|in|on|at|there|keen|mine|yours?|again|before|worked?|heard|tried|seen|got|[a-z]+ing|[a-z]+ed)\b)[a-z][a-z'-]+"
_DO = r"(?:prioriti[sz](?:ed|ing)|favou?r(?:ed|ing)|use|go with|choose|chose|chosen|pick(?:ed)?|opt(?:ed)? for|stick(?:ing)? (?:with|to)|stuck with|settle(?:d)? (?:on|for)|using|choosing|going with)"
# Verbs of orders to agents; any other word may open a clause
_TASK = (
    r"(?:use|write|add|include|show|give|list|explain|ask|run|check|keep|put|name|update|document|test|format|mention|cite|quote|link|summari[sz]e|describe|provide|suggest|propose|make"
    r"|create|avoid|prefer|follow|start|end|begin|return|log|handle|validate|wrap|import|split|commit|push|review|verify|confirm|translate|answer|reply|respond|build|lint|prefix|limit|look|read|stop|wait)\b"
)
_ONES = r"(?:(?:answer|response|reply|message|commit|change|pr|pull request|merge|release|deploy|deployment|session|task|edit|step)|new (?:function|file|test|endpoint|class|module|method|feature))"  # recurring things
_TOLD = r"\b(?<!never )(?<!not )(?<!n't )(?<!nobody )(?<!no one )(?<!not been )(?<!never been )(?<!n't been )"
_AIM = r"(?:i|we)(?:'m| am|'re| are|'ve been| have been|'d| would)? (?:also |really |just |still |always |generally ){0,2}(?:trying|try|aiming|aim|want|like|looking|hoping|hope)"
_SUCH = r"(?:as |so |very |more |fairly )?(?:short|small|simple|light|lightweight|lean|minimal|low|clean|fast|quick|readable|private|local|consistent|separate|tidy|flat|pure|safe|secure|stable|strict|easy|up to date)\b"
_TOO = r"\b(?:i|i'm|i've|we|we're)(?: [^\s.;:?!]+){1,20}?(?:(?<=,)| and| but| so)(?: i| we)? (?:\w+ly |much |always |instead ){0,2}"  # the same person's next act
_WHOSE = r"(?P<subject>(?!(?:i|we|you|it|this|that|they|there|he|she|who|one|people|everyone|nobody|and|but|so|if|or|to|not|then|which|what|when)\b)[\w`./*-]+(?: (?!(?:that|which|you|we|i|they|it)\b)[\w`./*-]+){0,2}?)"  # the subject of an obligation
_STYLE = r"(?:answers?|responses?|replies|explanations?|examples?|code|comments?|commits?|commit messages|summar(?:y|ies)|tests?|functions?|names?|output|messages?|docs|documentation|diffs?|prs?|pull requests|reports?|updates?)"

_ONE = r"[\w@`.+#/-]+(?: (?-i:[A-Z])[\w.+#-]*)?"  # a name
_STOPS = r"(?=\s*(?:[.,;:!]|$)|\s(?:please|now|again|for|from|because|since|then|and)\b)"
_ANY_TOOL = (
    r"(?:tools?|choices?|options?|solutions?|librar(?:y|ies)|packages?|ones?)\b"  # nouns too general for a subject
)
_KIND = (
    rf"(?:{_ANY_TOOL}|(?P<subject>(?!{_ANY_TOOL}|for\b)[\w-]+(?: (?!for\b)[\w-]+){{0,3}}?(?: for \S[^,;]{{0,60}}?)?))"
)
_PLACE = (
    r"(?P<subject>(?:the|our|my) [\w`./-]+(?: (?!(?:says?|said|thinks?|claims?|that|if|whether|which|who|is|are|was)\b)[\w`./-]+){0,2}?"
    r"|(?!(?:it|this|that|these|those|he|she|they|we|you|i|which|what|who|there|everything|nothing|something|all|none|one|both|each)\b)[\w`./-]+"
    r"(?: (?:db|database|environment|env|server|cluster|branch|bucket|replica|schema|registry))?)"
)

_STATE = r"(?P<value>read[ -]?only|write-only|append-only|write-protected|off[ -]limits)(?: any ?more)?(?=\s*(?:[.!;,]|$)|\s(?:for|to|and|because|since)\b)"
_DAY = r"(?:(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d|(?:the )?\d{1,2}(?:st|nd|rd|th| of| [a-z]{3})|\d{4}-\d|(?:next |this )?(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|(?:next|the end of)\b|tomorrow\b|q[1-4]\b)"

RULES: tuple[Rule, ...] = (
    # --- standing rules: always, never ---------------------------------------------------------------------------------
    Rule(INSTRUCTION, 0.9, "always", rf"(?:when(?:ever)?|every time|each time|any time|anytime|if) {_WHEN},\s*(?:please |then |you should |you must |i want you to |i'd like you to )?always (?P<value>\S.*?){_END}", besides="when,time,if "),
    Rule(INSTRUCTION, 0.9, "never", rf"(?:when(?:ever)?|every time|each time|any time|anytime|if) {_WHEN},\s*(?:please |then |you should |you must |i want you to |i'd like you to )?never (?P<value>\S.*?){_END}", negative=True, besides="when,time,if "),
    Rule(INSTRUCTION, 0.9, "always", rf"{_START}(?:you (?:should|must|need to|have to) |i(?:'d like| would like| want| need| expect) you to |make sure (?:that )?(?:you |to )|be sure to |remember to )?always (?P<value>{_VERB}\b.*?)(?:,?\s+(?:when(?:ever)?|every time|each time|if)\s+{_WHEN})?{_END}"),
    Rule(INSTRUCTION, 0.9, "never", rf"{_START}(?:you (?:should|must) |i(?:'d like| would like| want| need| expect) you to |make sure (?:that )?(?:you |to ))?never (?:ever )?(?!gonna\b)(?P<value>{_VERB}\s+\S.*?)(?:,?\s+when(?:ever)?\s+{_WHEN})?{_END}", negative=True),
    Rule(INSTRUCTION, 0.85, "whenever,every time,each time,any time,anytime", rf"(?:^|[,;.]\s)(?:please )?(?:whenever|every time|each time|any time|anytime) {_WHEN},\s*(?:please |then )?(?P<value>{_VERB}\b.*?){_END}"),
    Rule(INSTRUCTION, 0.8, "when", rf"^(?:please )?when {_WHEN},\s*(?:please |then |you should |you must |make sure (?:that )?(?:you |to ))(?P<value>{_VERB}\b.*?){_END}", besides="please ,then ,you should ,you must ,make sure "),
    Rule(INSTRUCTION, 0.85, "from now,from here,forward,future,rule,default", rf"(?:from (?:now|here) on(?: out)?|going forward|in (?:the )?future|for future reference|as a (?:general )?rule|by default)[,:]?\s+(?:please |i want you to |i'd like you to |you should |let's )?(?P<value>(?:don't |do not |only )?{_VERB}\b.*?){_END}", besides="from now on,from here on,going forward,in future,in the future,for future reference,as a rule,as a general rule,by default"),
    Rule(INSTRUCTION, 0.8, "from now on,going forward,every time,each time,whenever ", rf"{_START}(?P<value>{_VERB}\b[^,;]*?),?\s+(?:from now on|going forward|(?:every|each) time|whenever {_WHEN}){_END}"),
    Rule(INSTRUCTION, 0.85, "always,ever", rf"{_START}(?:(?:the|our|all|every|each) )?{_WHOSE} (?:must|should|needs? to|has to|have to) (?:always|only ever) (?P<value>\S.*?){_END}", besides="must always ,should always ,to always ,must only ever ,should only ever ,to only ever "),
    Rule(INSTRUCTION, 0.85, "never", rf"{_START}(?:(?:the|our|all|every|each) )?{_WHOSE} (?:must|should|needs? to|has to|have to) never (?P<value>\S.*?){_END}", negative=True, besides="must never ,should never ,to never "),
    Rule(INSTRUCTION, 0.85, "always,ever", rf"(?:you must|you should|must|should|need to|needs to|have to|has to) (?:always|only ever) (?P<value>\S.*?){_END}", besides="must always ,should always ,to always ,must only ever ,should only ever ,to only ever "),
    Rule(INSTRUCTION, 0.75, "must,should,need,has to,have to", rf"{_START}(?:all|every|each|any|no) (?P<subject>[\w`./*-]+(?: [\w`./*-]+){{0,3}}?) (?:must|should|needs? to|needs?(?= (?:an? |[\w-]+s\b))|has to|have to) (?P<value>\S.*?){_END}", besides="all ,every ,each ,any ,no "),
    Rule(INSTRUCTION, 0.7, "must,should", rf"{_START}(?:the |our )?(?P<subject>(?!(?:i|we|you|it|this|that|they|there|he|she|who|one|people|everyone|nobody|and|but|so|if|or)\b)[\w`./*-]+(?: [\w`./*-]+){{0,2}}?) (?:must|should) (?:not (?=(?:be|use|have|contain|depend|import|call|touch|go|live|hit|read|write|reach|access|rely|block|log|print|raise|throw|return)\b)|never )(?P<value>{_VERB}\b.*?){_END}", negative=True, besides="must not ,must never ,should not ,should never "),
    Rule(INSTRUCTION, 0.85, "never", rf"(?:you must|you should|must|should|need to|needs to|have to|has to) never (?P<value>\S.*?){_END}", negative=True, besides="must never ,should never ,to never "),
    Rule(INSTRUCTION, 0.7, "must", rf"{_START}(?:the |our )?(?P<subject>(?!(?:i|we|you|it|this|that|they|there|he|she)\b)[\w`./*-]+(?: [\w`./*-]+){{0,2}}?) must (?P<value>(?:be|use|have|go|live|pass|follow|start|end|stay)\b.*?){_END}", besides="must be,must use,must have,must go,must live,must pass,must follow,must start,must end,must stay"),
    Rule(INSTRUCTION, 0.85, "do not use ,don't use ,dont use ", rf"{_START}(?:do not|don't|dont) use (?P<other>[^,;]+?)[,;:] ?(?:but |please )?use (?P<value>[^,;]+?)(?: instead)?{_END}"),
    Rule(INSTRUCTION, 0.8, "do not,don't,dont", rf"{_START}(?:do not|don't|dont) (?:ever )?(?P<value>(?!(?:worry|know|think|understand|forget|hesitate|see|get|mind|care|need|have|want|like|remember|recall)\b)[a-z]+\b(?!.*\b(?:yet|for now|this time|right now|here)\b).*?(?:,?\s+unless\b.*?)?){_END}", negative=True),
    Rule(INSTRUCTION, 0.75, "stop,avoid,quit", rf"{_START}(?:(?:stop|quit) (?!(?:it|that|this|the|these|those|here|there|now|and|or)\b)|avoid (?!(?:it|that|this)\b))(?P<value>(?:[a-z]+ing|[\w-]+(?: [\w-]+)*?)\b.*?){_END}", negative=True),
    Rule(INSTRUCTION, 0.8, "use ", rf"{_START}use (?P<value>[^,;]+?){_NOT}{_END}", besides="over,rather than,instead of,opposed to,not"),
    Rule(INSTRUCTION, 0.7, "answer,reply,respond,write,speak,talk", rf"{_START}(?:only )?(?:answer|reply|respond|write|speak|talk)(?: to)?(?: me)?(?: everything)? in (?P<value>(?-i:[A-Z])\w+){_END}", besides=" in "),
    Rule(INSTRUCTION, 0.7, "write", rf"{_START}(?:always )?(?P<value>write (?P<object>(?:all |the |your |our )?[\w' -]+? in (?-i:English|French|German|Spanish|Italian|Portuguese))){_END}", besides="english,french,german,spanish,italian,portuguese"),
    Rule(INSTRUCTION, 0.7, "keep", rf"{_START}keep (?P<object>(?:the |your |all |any )?{_STYLE}) (?P<value>\S.*?){_END}", besides="answer,response,repl,explanation,example,code,comment,commit,summar,test,function,name,output,message,doc,diff,pr,pull request,report,update"),
    Rule(INSTRUCTION, 0.65, "no", r"^(?:please,? |remember: |note: )?no (?:more )?(?P<value>(?P<object>(?!(?:problem|worr|idea|thank|need|way|one|luck|error|doubt|rush|longer|more|matter|issue)\w*)[a-z][\w-]+(?: [\w-]+){0,3}?))(?:,? please)?[.!]?$", negative=True),
    Rule(INSTRUCTION, 0.7, "i want ,i need ,i expect ,i would like ,i'd like ", rf"{_START}(?:i (?:want|need|expect|would like)|i'd like) (?:all |every |each |my |your )(?P<object>(?:of )?(?:the |your |my )?{_STYLE}) (?:to (?:be |have |include |use |stay )|in |with |as )(?P<value>\S.*?){_END}", besides=" all , every , each , my , your "),
    Rule(INSTRUCTION, 0.75, "before ,after ", rf"{_START}(?:before|after) (?P<topic>(?:you \w+|each \w+|every \w+|any \w+|(?!(?:this|that|something|nothing|being|having)\b)\w+ing)\b(?! (?:this|that|the|it)\b)[^,]{{0,60}}?),\s*(?:please |then |always )*(?P<value>{_TASK} \S.*?){_END}"),
    Rule(INSTRUCTION, 0.7, "before ,after ", rf"{_START}(?:remember to |don't forget to |be sure to |make sure to )?(?P<value>{_TASK} [^,;]{{2,80}}? (?:before|after) (?:you (?!(?:said|told|did|were|are)\b)\w+(?! it\b)|each \w+|every \w+|any \w+|(?!(?:this|that|something|nothing)\b)\w+ing)\b(?! (?:this|that|the)\b).*?){_END}"),
    Rule(INSTRUCTION, 0.75, "when", rf"{_START}(?P<value>{_TASK} [^,;]{{2,80}}?) when(?:ever)? (?P<topic>(?:you|i) (?!(?:are done|finish|have time|can|get|got|do|did|run|ran)\b).{{2,80}}?){_END}"),
    Rule(INSTRUCTION, 0.75, "when", rf"^(?:please )?when (?P<topic>(?:you|i)\b.{{2,80}}?),\s*(?P<value>{_TASK} \S.*?){_END}"),
    Rule(INSTRUCTION, 0.85, "i say ", rf"(?:^|[,;.]\s)when(?:ever)? i say (?P<topic>[^,]{{1,60}}?),? i mean {_VALUE}{_END}"),
    Rule(INSTRUCTION, 0.7, "each ,every ", rf"{_START}(?:remember to |don't forget to |be sure to |make sure to )?(?P<value>{_TASK} [^,;]{{2,100}}?\b(?:each|every) (?:[\w-]+ ){{0,2}}?{_ONES}\b.*?){_END}"),
    Rule(INSTRUCTION, 0.75, "everywhere,throughout,across the ,for all ,for every ,in all ,in every ", rf"{_START}(?P<value>(?:use|keep|prefer|follow) [^,;]{{2,80}}? (?:everywhere|throughout|across the (?:codebase|code base|project|repo|repository)|(?:for|in) (?:all|every) \S.*?)){_END}"),
    Rule(INSTRUCTION, 0.75, "only ", rf"{_START}only (?P<value>(?:touch|edit|modify|change|write to|commit|push|import|add|rely on|depend on|read|look at|run|answer|respond|reply) \S.*?){_END}"),
    Rule(INSTRUCTION, 0.75, "stick to ,stick with ", rf"{_START}stick (?:to|with) {_VALUE}{_END}"),
    Rule(INSTRUCTION, 0.7, "treat ,refer to ", rf"{_START}(?P<value>(?:treat|refer to) [^,;]{{2,60}}? as \S.*?){_END}"),
    Rule(INSTRUCTION, 0.65, "be ", r"^(?:please,? |just )?(?:always )?be (?:more |very )?(?P<value>(?:concise|brief|terse|succinct|direct|explicit|critical|honest|strict|precise|thorough|consistent|formal|informal|polite|friendly|detailed|specific|blunt)(?:,? (?:and |but )?\w+)?)(?:,? please)?(?: in your \w+)?[.!]?$"),
    Rule(INSTRUCTION, 0.65, "step by step,in detail,briefly,in simple ", rf"{_START}(?P<value>(?:explain|describe|show|answer|walk me through)(?: me)?(?: things| everything| it all| your \w+)? (?:step by step|in detail|briefly|in simple (?:terms|words))){_END}"),
    Rule(INSTRUCTION, 0.65, "you to ", rf"\bi(?: want| need| expect|'d like| would like| prefer) you to (?P<value>(?:{_TASK} [^,;]{{2,100}}? (?:first|before (?!this|that|the )\S.*?|after each \S.*?|each time|every time))){_END}"),
    Rule(INSTRUCTION, 0.75, "project,repo,codebase,code base,team", rf"^(?:for|in|on) (?:this|our|the) (?:whole |entire )?(?:project|repo|repository|codebase|code base|team),? (?:please )?(?P<value>(?:we (?!(?:are|were|have|had|need|want|can|could|will|would|get|got|see|saw|do not know)\b)\w+|{_TASK}) \S.*?){_END}"),
    Rule(INSTRUCTION, 0.75, "if you,if something,if anything", rf"^if (?P<topic>(?:you(?:'re)? (?!(?:have|can|could|want|like|prefer|need|would|think|know|look)\b)|something |anything ).{{2,80}}?),\s*(?:please |then |just )*(?P<value>(?:{_TASK}|don't|do not) \S.*?){_END}"),
    Rule(INSTRUCTION, 0.7, "make sure ,ensure ", rf"{_START}(?:make sure|ensure)(?: that)? (?P<value>(?:all|every|each|any|no) (?!(?:the|of|tests? (?:still )?pass)\b)(?P<object>\S.*?)){_END}"),
    Rule(INSTRUCTION, 0.75, "you should not ,you shouldn't ,you may not ,you cannot ,you can't ,not allowed to ", rf"{_START}you (?:should not|shouldn't|may not|cannot|can't|are not allowed to) (?P<value>(?!(?:be|have|see|need|get|worry|know|expect|use it|do (?:it|that|this))\b){_VERB} (?!(?:it|this|that)\b)\S.*?){_END}", negative=True),
    Rule(INSTRUCTION, 0.65, "should,must", rf"^(?P<subject>(?!(?:the|this|these|that|those|there|it|they|we|you|i|he|she|results?|what|which|who|things|tests? in)\b)(?:[\w`'-]+ ){{0,3}}?[\w`'-]+s) (?:should|must) (?P<value>(?:be|use|have|follow|start|go|contain|include)\b \S.*?){_END}", besides=" be , use , have , follow , start , go , contain , include "),
    Rule(INSTRUCTION, 0.8, "call me ", r"(?i:\b)call me (?P<value>(?-i:[A-Z])[\w-]+)(?=[\s.,!]|$)", about="user's name"),
    Rule(INSTRUCTION, 0.65, "i want ,i need ,i expect ,i would like ,i'd like ", rf"{_START}(?:i (?:want|need|expect|would like)|i'd like) (?:answers|responses|replies|(?P<object>everything)) (?:to (?:be |have |include |use |stay )?|in |with |as )(?P<value>\S.*?){_END}", besides=" answers , responses , replies , everything "),
    Rule(INSTRUCTION, 0.75, "convention,policy,rule,standard,guideline,style", rf"{_START}(?:our|the|my) (?:convention|policy|rule|standard|guideline|house style|style guide)(?: here)?(?: is| says)(?: to| that)? (?P<value>\S.*?){_END}", besides=" is , says "),
    Rule(INSTRUCTION, 0.75, "only use ", rf"{_START}only use (?P<value>[^,;]+?){_END}"),
    Rule(INSTRUCTION, 0.8, "you must not ,you mustn't ", rf"{_START}you must(?: not|n't) (?P<value>{_VERB}\b.*?){_END}", negative=True),
    Rule(INSTRUCTION, 0.8, "forbidden,not allowed", rf"{_START}(?:it is |it's )(?:strictly )?(?:forbidden|not allowed) to {_VALUE}{_END}", negative=True),
    Rule(INSTRUCTION, 0.75, "you must ", rf"{_START}you must (?P<value>(?!(?:not|never|always|only|be|have|know|think|see|mean)\b){_VERB}\b.*?){_END}"),
    Rule(INSTRUCTION, 0.7, "use", rf"{_START}(?:only |just )?use (?P<value>[^,;]+?){_END}", known=True),
    Rule(INSTRUCTION, 0.75, "prefer,favor,favour", rf"{_START}(?:prefer|favou?r) (?:to use |using )?{_VALUE}{_NOT}?{_END}"),
    # Orders from others hold for the author as well, in a question too
    Rule(INSTRUCTION, 0.75, "told ,instructed ,asked ,required ,instruction,rule", rf"{_TOLD}(?:(?:told|instructed|asked)(?: me| us| you)?|required|(?:instructions?|rules?)(?: is| are| was)?) to (?:always|only) (?P<value>(?!do (?:so|it|this|that)\b){_VERB}\b.*?)(?:,?\s+(?:when(?:ever)?|every time|each time|if)\s+{_WHEN})?{_END}", besides=" to always , to only ", presupposed=True),
    Rule(INSTRUCTION, 0.75, "told ,instructed ,asked ,required ,instruction,rule", rf"{_TOLD}(?:(?:told|instructed|asked)(?: me| us| you)?|required|(?:instructions?|rules?)(?: is| are| was)?) (?:to never|never to) (?P<value>(?!do (?:so|it|this|that)\b){_VERB}\b.*?)(?:,?\s+(?:when(?:ever)?|every time|each time|if)\s+{_WHEN})?{_END}", besides=" to never , never to ", negative=True, presupposed=True),
    # --- corrections, which hold from then on ------------------------------------------------------------------------
    Rule(INSTRUCTION, 0.75, "i said ,i meant ,i asked for ", rf"(?:^|[,;.]\s*)not (?P<other>[^,;]{{1,60}}?)[,;.:\u2013\u2014-]+\s*(?:but )?i (?:said|meant|asked for) (?P<value>[^,;]+?){_END}", corrects=True, known=True),
    Rule(INSTRUCTION, 0.75, "i said ,i meant ,i asked for ", rf"(?:^|[,;.]\s*)i (?:said|meant|asked for) (?P<value>[^,;]+?),? (?:and )?not (?P<other>[^,;]+?){_END}", corrects=True, known=True),
    Rule(INSTRUCTION, 0.75, "not ", rf"^(?:(?:no|nope|nah|wait|sorry|hey|ah|oh)\b[,.!\s]*){{0,2}}not (?!(?:only|just|sure)\b)(?P<other>{_ONE})\s*[,;:\u2013\u2014-]+\s*(?:but |use )?(?P<value>{_ONE})[\s.!]*$", corrects=True, known=True, dear=0),
    Rule(INSTRUCTION, 0.75, " not ", rf"^(?:no|nope|nah)[,.!\s]+(?:use )?(?P<value>{_ONE}),? (?:and )?not (?P<other>{_ONE})[\s.!]*$", corrects=True, known=True, dear=0),
    Rule(DECISION, 0.8, "switched,moved,migrated,changed,went back,gone back", rf"(?:we|i)(?: have|'ve)?(?: just)? (?:(?:switched|moved|migrated|changed)(?: over| back)?|(?:went|gone) back)(?: from (?P<other>[^,;]+?))? to (?P<value>[^,;]+?){_END}", corrects=True),
    Rule(FACT, 0.75, "no longer", rf"(?P<subject>(?:we|i|the [\w-]+(?: [\w-]+)?|it))(?:'re| are| is|'s)? no longer (?P<value>{_VERB} (?P<object>\S.*?)|\S.*?){_END}", negative=True, corrects=True),
    Rule(FACT, 0.7, "any more,anymore", r"(?:we|i) (?:don't|do not) (?P<value>\S[^,;]*?) any ?more\b", negative=True, corrects=True),
    # --- presupposed preferences ---------------------------------------------------------------------------
    Rule(PREFERENCE, 0.8, "preference", rf"\b(?:my|our|his|her|their|(?-i:[A-Z][a-z]+)'s) (?:own |\w+ly |personal |strong |general |clear |slight |stated |strict |ethical |moral )*preference (?:for|towards?) {_VALUE}{_NOT}?{_BEHIND}", presupposed=True),
    Rule(PREFERENCE, 0.7, "preference", rf"\b(?:my|our) (?:own |personal |strong |general |clear |\w+ly )*preference (?P<value>to {_VERB}\b.*?){_NOT}?{_END}", presupposed=True),
    Rule(PREFERENCE, 0.7, "which i prefer,which we prefer,which i find ,which we find ", rf"\b(?:(?:i|we)(?:'ve| have|'re| are|'m| am)? (?:use|used|using|chose|chosen|picked|went with|wrote|have) )?(?P<value>\w[^\s,;:?]*(?: [^\s,;:?]+){{0,4}}),? which (?:i|we) (?:prefer|find (?:much |far )?(?:easier|better|clearer|simpler|more \w+))\b(?: (?:over|to|than|rather than) (?P<other>\S.*?)(?:{_END}|(?=,| for | because )))?", reach=8, presupposed=True, dear=2),
    Rule(PREFERENCE, 0.7, "as someone who ,as somebody who ,as a person who ", rf"\bas (?:someone|somebody|a person) who (?:\w+ly |always |also )*(?:prefers|values|loves|likes|enjoys|favou?rs|appreciates|prioriti[sz]es) {_VALUE}{_NOT}?{_END}", presupposed=True),
    Rule(PREFERENCE, 0.7, " who ", rf"(?-i:\b[A-Z][\w-]+), who (?:\w+ly |always |also )*(?:prefers|loves|likes|enjoys|favou?rs) (?:to )?(?P<value>\S[^,;?]*?){_NOT}?(?:{_END}|(?=,))", besides="prefers,loves,likes,enjoys,favours,favors", reach=1, presupposed=True),
    Rule(PREFERENCE, 0.7, " who ", rf"(?-i:\b[A-Z][\w-]+), who (?:\w+ly |always |also )*(?:hates|dislikes|avoids) (?P<value>\S[^,;?]*?)(?:{_END}|(?=,))", besides="hates,dislikes,avoids", reach=1, negative=True, presupposed=True),
    Rule(PREFERENCE, 0.65, "why i chose,why i picked,why we chose,why we picked,why i opted,why we opted", rf"\bwhy (?:i|we) (?:chose|picked|opted for) {_VALUE} (?:over|rather than|instead of) (?P<other>\S.*?){_END}", presupposed=True),
    Rule(PREFERENCE, 0.65, "decision ,choice ", rf"\b(?:my|our) (?:decision|choice) (?:to (?:use |go with |stick with )?|of ){_VALUE} (?:over|rather than|instead of) (?P<other>\S.*?){_END}", besides=" over , rather than , instead of ", presupposed=True),
    # --- preferences ------------------------------------------------------------------------------------------------------
    Rule(PREFERENCE, 0.8, "my go-to ,our go-to ,my go to ,our go to ", rf"\b(?:my|our) go(?: to|-to(?: {_KIND})?)(?: for (?P<part>\S[^,;]{{0,60}}?))? (?:is|are|remains?|has (?:always )?been) (?:still |always |usually )?{_VALUE}{_NOT}?{_END}"),
    Rule(PREFERENCE, 0.8, " my go-to, our go-to", rf"(?:^|[,;:]\s|\b(?:and|but|so) )(?P<value>(?!(?:it|this|that|these|those|what|which|who|he|she|they|you)\b)[\w`.+#-]+(?: [\w`.+#-]+){{0,3}}?) (?:is|are|remains?|has (?:always )?been) (?:still |always |now )?(?:my|our) go-to(?: {_KIND})?(?: for (?P<part>\S[^,;]{{0,60}}?))?{_END}"),
    Rule(PREFERENCE, 0.8, "favorite,favourite,preferred", rf"\b(?:my|our) (?:absolute |all-time )?(?:favou?rite|preferred) (?P<subject>[\w -]+?) (?:is|are) {_VALUE}{_END}"),
    Rule(PREFERENCE, 0.9, "prefer", rf"\b{_I}(?:'ve| have| has)?(?: (?:really|much|strongly|generally|usually|always|also|still|personally|definitely|would|clearly|greatly|tend to)){{0,4}} prefer(?:s|red)?(?: to)? (?P<value>[\w`.+#-]+) to (?P<other>[\w`.+#-]+){_END}", besides=" to ", reach=11),
    Rule(PREFERENCE, 0.9, "prefer", rf"\b{_I}(?:'d| would|'ve| have| has)?(?: (?:really|much|strongly|generally|usually|always|also|still|personally|definitely|clearly|greatly|tend to)){{0,4}} prefer(?:s|red)?(?: to (?:use |have |see |get |work with |write )?| using| having| it if| that)? {_VALUE}{_NOT}?{_END}", reach=11),
    Rule(PREFERENCE, 0.85, "preference", rf"\b(?:my|our|his|her|their|personal|(?-i:[A-Z][a-z]+)'s) (?:own |personal |strong |general |clear |usual )*preferences? (?:is|are|would be|was|remains?)(?: to| for)? {_VALUE}{_NOT}?{_END}"),
    Rule(PREFERENCE, 0.8, "preference", rf"\b(?:my|our|his|her|their|(?-i:[A-Z][a-z]+)'s|a|have a) (?:own |\w+ly |personal |strong |general |clear |slight |stated |strict |ethical |moral )*preference (?:for|towards?) {_VALUE}{_NOT}?{_END}"),
    Rule(PREFERENCE, 0.85, "rather", rf"\b{_I}(?:'d| would) (?:much )?rather (?:not )?(?:use |have |see |get |you )?{_VALUE}(?:\s+(?:than|over|instead of)\s+(?P<other>\S.*?))?{_END}"),
    Rule(PREFERENCE, 0.75, "love,enjoy,favor,favour", rf"\b(?:i|we|she|he|they) (?:really |absolutely |just |personally |particularly |also |do )*(?:love|enjoy|favou?r|loves|enjoys|favou?rs)(?: to (?!(?:see|know|hear|get)\b))? (?!(?:it|this|that|the way|your|you)\b){_VALUE}{_NOT}?{_END}"),
    Rule(PREFERENCE, 0.75, "preferring", rf"(?:^|[,;]\s|\b(?:and|by|while|of|me|(?-i:[A-Z][a-z]+)) )(?:generally |always )?preferring (?:to )?{_VALUE}{_NOT}?{_END}"),
    Rule(PREFERENCE, 0.65, "enjoying,loving", rf"\bi(?:'m| am) (?:really |very much |also )*(?:enjoying|loving) (?!(?:it|this|that|the)\b){_VALUE}{_END}"),
    Rule(PREFERENCE, 0.65, "like", rf"\b(?:i|she|he|they) (?:really |also |do |generally )*likes?(?: to)? (?!(?:it|this|that|the|your|you|a|an)\b){_VALUE}{_NOT}?{_END}", besides="i like,he like,they like,really like,also like,do like,generally like"),
    Rule(PREFERENCE, 0.75, " hate, dislike,can't stand,cannot stand, detest, despise, loathe, avoid, refuse,steer clear,stay away from", rf"\b(?:i|we|she|he|they)(?:'d| would)? (?:\w+ly |also |just |always |tend to |try to )*(?:hate|dislike|can't stand|cannot stand|detest|despise|loathe|hates|dislikes|avoids?(?! the\b)|refuse to(?: use)?|steer clear of|stay away from)(?: it when)? (?!(?:it|this|that|these|those)\b){_VALUE}{_END}", negative=True),
    Rule(PREFERENCE, 0.75, "aversion,dislike,distaste,hatred,objection,bias,allerg,phobia,fear,intoleran", rf"\b(?:i|we)(?:'ve| have) (?:(?:a|an) )?(?:\w+ ){{0,2}}(?:aversion|dislike|distaste|hatred|objections?|bias|allerg(?:y|ies)|phobia|fear|intolerance) (?:to|for|of|towards?|against) {_VALUE}{_END}", negative=True),
    Rule(PREFERENCE, 0.7, "interest,willing to,uncomfortable with,opposed to,averse to,allergic to,sensitive to,wary of,tired of,against ,desire,patience,tolerance", rf"\b(?:(?:i'm|i am|we're|we are) (?:really |just |generally |strongly |firmly |completely |also )*(?:not (?:at all |really |particularly )?(?:interested in|willing to)|uninterested in|uncomfortable with|against|opposed to|averse to|allergic to|sensitive to|wary of|tired of)|(?:i|we)(?:'ve| have) (?:absolutely |really )?(?:no|little|zero) (?:interest|desire|patience|tolerance) (?:in|for|to|of)) (?!(?:it|this|that)\b){_VALUE}{_END}", negative=True),
    Rule(PREFERENCE, 0.7, "only ,exclusively ,strictly ,solely ", rf"\b(?:i|we) (?:will |would |can )?(?:only|exclusively|strictly|solely) (?P<value>(?!(?:want|need|see|get|have|imagine|hope|wish|guess|assume|think|say|know|care|mean|just|notice|find|do|can|could|got|had|did|saw|found|ran|knew|thought|made|wrote|meant|went|came|took|tried|asked|ask|use it|am|is|are|was|were|happens?|\w+ed|\w+ing)\b){_VERB}\b \S.*?){_END}"),
    Rule(PREFERENCE, 0.65, "i find ", rf"\bi find (?:it )?(?P<value>(?!(?:it|this|that|these|those|the|your|myself|out|a|an)\b)\S.*?) (?:too |very |extremely |really |quite |rather |somewhat |incredibly |so )*(?:boring|tedious|distracting|annoying|frustrating|confusing|overwhelming|ineffective|unhelpful|unappealing|unengaging|uncomfortable|stressful|tiring|exhausting|cumbersome|unpleasant|off-putting|intimidating|demotivating|unnecessary|pointless|hard to \w+|difficult to \w+){_END}", negative=True),
    Rule(PREFERENCE, 0.7, "i don't ,i do not ,i won't ,i will not ,i can't ,i cannot ,we don't ,we do not ,we won't ,we will not ,we can't ,we cannot ", rf"\b(?:i|we) (?:(?:don't|do not|won't|will not) (?:ever |usually |generally )?(?:use|work with|trust|rely on|tolerate|accept|allow|write|watch|read|eat|drink|wear|buy|consume|listen to|play|attend|support)|(?:can't|cannot) (?:tolerate|accept|eat|drink|wear|consume)) (?!(?:it|this|that|these|those|the|your|here|anything|any ?more)\b){_VALUE}{_END}", negative=True),
    Rule(PREFERENCE, 0.7, "avoid ,refuse to ,steer clear of ", rf"{_TOO}(?:must |need to |have to |try to ){{0,2}}(?:avoid|refuse to(?: use)?|steer clear of) (?!(?:it|this|that|these|those|the)\b){_VALUE}{_END}", negative=True, reach=32),
    Rule(PREFERENCE, 0.7, "follow ,adhere to ,stick to ,abide by ", rf"\b(?:i|we) (?:\w+ly |always |try to |also )*(?P<value>(?:follow|adhere to|stick to|abide by) (?P<object>(?!(?:it|this|that|these|those|the|you|your|up|up on|along|them)\b)\S.*?)){_END}"),
    Rule(PREFERENCE, 0.7, "priority", rf"(?:^|[,;:]\s|\bso )(?P<value>[\w`.+#'-]+(?: [\w`.+#'-]+){{0,5}}?) (?:is|are) (?:my|our) (?:top|number one|first|main|highest|biggest) priority{_END}"),
    Rule(PREFERENCE, 0.7, "priority,priorities", rf"\b(?:my|our) (?:top|number one|first|main|highest|biggest) priorit(?:y|ies) (?:is|are) {_VALUE}{_END}"),
    Rule(PREFERENCE, 0.7, "prefer ", rf"{_TOO}(?:would )?prefer(?: to(?: use)?| using)? {_VALUE}{_NOT}?{_END}", reach=32),
    Rule(PREFERENCE, 0.65, "firmly believe,strongly believe,truly believe,firm believer,big believer,strong believer", rf"\b(?:i|we)(?:'m| am| are)? (?:(?:firmly|strongly|truly) believe (?:that|in)|a (?:firm|big|strong) believer in) {_VALUE}{_END}"),
    Rule(PREFERENCE, 0.7, "thrive,insist on,swear by", rf"\b(?:i|we) (?:really |always |also )*(?:thrive (?:in|on|with|when)|insist on|swear by) {_VALUE}{_END}"),
    Rule(PREFERENCE, 0.7, "a must,an absolute must,must-have,dealbreaker,deal breaker,deal-breaker,non-negotiable", rf"{_START}(?P<value>[\w`.+#'-]+(?: [\w`.+#'-]+){{0,6}}?) (?:is|are) (?:(?:a|an absolute) (?:must-have|must|deal[ -]?breaker)|must-haves|deal[ -]?breakers|non-negotiable)(?: for (?:me|us))?{_END}"),
    Rule(PREFERENCE, 0.7, "like,enjoy,care for", rf"\b(?:i|we) (?:really |also |personally |generally )*(?:don't|do not|doesn't) (?:really |particularly )?(?:like|enjoy|care for)(?: it when| to)? {_VALUE}{_END}", negative=True, besides="don't,do not,doesn't"),
    Rule(PREFERENCE, 0.75, "passionate about,committed to,drawn to,adamant about,particular about,strict about, fan ,advocate,proponent,supporter,partial to,keen on,fond of,comfortable with,inclined,into", rf"\b(?:i'm|i am|we're|we are|she's|he's) (?:really |very |more |much more |most |also |quite )*(?:an? (?:big |huge |strong |firm )?(?:fan|advocate|proponent|supporter) (?:of|for)|passionate about|committed to|drawn to|adamant about|particular about|strict about|partial to|keen on|fond of|most comfortable with|more comfortable with|inclined to|inclined towards?|into) {_VALUE}{_NOT}?{_END}", besides="i'm ,i am ,we're ,we are ,she's ,he's "),
    Rule(PREFERENCE, 0.75, "i'm not ,i am not ", rf"\b(?:i'm|i am) not (?:really )?(?:fond of|keen on|into|comfortable with) (?!(?:it|this|that|these|those)\b){_VALUE}{_END}", negative=True, besides="fond of ,keen on ,into ,comfortable with "),
    Rule(PREFERENCE, 0.75, "fan of ,fans of ", rf"(?:\b(?:i|we)(?:'m|'re|'ve| am| are| have) (?:\w+ly |just |still )?(?:not|never)(?: been)? (?:\w+ly )?|^not (?:\w+ly )?)(?:an? )?(?:(?:big|huge|great|massive|real) )?fans? of (?!(?:it|this|that|these|those|how|the way)\b){_VALUE}{_END}", negative=True, besides="not ,never "),
    Rule(PREFERENCE, 0.75, "lean,gravitate", rf"\b(?:i|we) (?:generally |usually |tend to )?(?:lean|gravitate) (?:more )?towards? {_VALUE}{_NOT}?{_END}"),
    Rule(PREFERENCE, 0.7, "tend to,typically,usually,normally,generally,always,mostly", rf"\b(?:i|we) (?:tend to|typically|usually|normally|generally|always|mostly) (?P<value>(?:use|write|work|keep|put|name|start|go|avoid|stick|run|format|organi[sz]e|structure|add|include|split|do|choose|opt|pick|look|seek|insist|buy|wear|read|watch|eat|cook|drink|listen|play|travel|commit|push|deploy|merge|test)\b(?: (?P<object>\S.*?)|\S*?)){_END}"),
    Rule(PREFERENCE, 0.7, "never,rarely", rf"\b(?:i|we) (?:never|rarely) (?P<value>(?:use|write|work|keep|put|name|start|go|avoid|stick|run|format|organi[sz]e|structure|add|include|split|do|buy|wear|read|watch|eat|drink|listen|play|travel|trust|rely|commit|push|deploy|merge)\b(?: (?P<object>\S.*?)|\S*?)){_END}", negative=True, besides="i never ,i rarely ,we never ,we rarely "),
    Rule(PREFERENCE, 0.7, "for me", rf"(?:^|(?<=[^\w`.+# -]))[`.+# -]*(?P<value>\w[\w`.+# -]*?) (?:works?|is|are) (?:much |far |a lot )?(?:better|best|easier|easiest|clearer) for me{_END}"),
    Rule(PREFERENCE, 0.7, "i find ", rf"\bi find (?P<value>(?!(?:it|this|that|these|those)\b)\S.*?) (?:much |far |a lot )?(?:easier|clearer|better|helpful|useful|more \w+)(?: to \w+)?(?: than (?P<other>\S.*?))?{_END}"),
    Rule(PREFERENCE, 0.65, "to keep ,to minimi,to limit ,to stay ", rf"\b{_AIM} to (?P<value>(?:keep (?!(?:on|up|track|it|this|that|an eye|in (?:mind|touch)|\w+ing)\b)|minimi[sz]e |limit |stay (?:with|within|under|below|close to) )(?P<object>\S.*?)(?: (?:{_SUCH}).*?)?){_END}", reach=7),
    Rule(PREFERENCE, 0.65, "to avoid ,to stay away from ", rf"\b{_AIM} to (?:avoid|stay away from) (?!(?:it|this|that|these|those|the|any)\b){_VALUE}{_END}", negative=True, reach=7),
    Rule(PREFERENCE, 0.7, "best,better", rf"\b(?:i|we) (?:learn|understand|work|think|concentrate|focus|remember)(?: (?:things|concepts|ideas|code|them))? (?:much |far |a lot )?(?:best|better) (?P<value>(?:with|from|by|in|on|through|without|(?:when|if)(?: there (?:is|are)| i (?:have|see|get))?)\b \S.*?){_END}"),
    Rule(PREFERENCE, 0.65, "matter,count", rf"{_START}(?P<value>(?!(?:it|this|that|these|those|what|which|you|your|they|nothing|all|the same)\b)[\w`.+#-]+(?: [\w`.+#-]+){{0,4}}?) (?:matters?|counts?) (?:a lot |much |more |most )*(?:to|for) (?:me|us)(?: than (?P<other>\S.*?))?{_END}", besides=" to me, for me, to us, for us"),
    Rule(PREFERENCE, 0.65, "important", rf"\bit(?:'s| is) (?:really |very |also |more |most )*important (?:to|for) (?:me|us) (?:that|to) {_VALUE}{_END}", besides=" to me, for me, to us, for us"),
    Rule(PREFERENCE, 0.6, "like,as ,the way,how", rf"(?:^|[,;:]\s)(?P<value>[^,;:?]{{3,160}}?),? (?:just )?(?:like|as|the way|how) (?:i|we) (?:usually |always |generally |normally )?prefer(?: it)?{_END}", besides=" prefer"),
    Rule(PREFERENCE, 0.65, "value,appreciate,prioriti,care about", rf"\b(?:i|we) (?:really |also |highly |deeply )*(?:value|appreciate|prioriti[sz]e|care about) (?!(?:it|your|the|these|those|any|that|this|if|you)\b){_VALUE}{_NOT}?{_END}"),
    Rule(PREFERENCE, 0.65, "prioriti", rf"\b(?:i|we)(?:'ve| have|'m| am|'re| are)?(?: been)? (?:really |also |always |\w+ly )*prioriti[sz](?:ed|ing) (?!(?:it|the|these|those|any|that|this|them|my|our|your|what|which|how|tasks?|work|factors?)\b){_VALUE}{_NOT}?{_END}"),
    Rule(PREFERENCE, 0.65, "rather than ,instead of ", rf"\b(?:i|we)(?:'d| would)? (?:want|like|need) (?!to\b)(?P<value>\S[^,;:]{{0,80}}?) (?:rather than|instead of) (?P<other>\S.*?){_END}", besides="want ,like ,need "),
    Rule(PREFERENCE, 0.75, "loves ,enjoys ,prefers ", rf"\b(?:(?!(?:It|This|That|Which|Who|What|One|People|Everyone|Everybody|Nobody|Someone|Somebody|Anyone)\b)(?-i:[A-Z][a-z]+)|(?:my|our) [a-z]+(?-i: [A-Z][a-z]+)?) (?:really |also |absolutely |always ){{0,2}}(?:loves|enjoys|prefers) (?:to )?(?!(?:it|this|that|the|when|how|you|your)\b){_VALUE}{_NOT}?{_END}", reach=7),
    Rule(PREFERENCE, 0.7, "point of ,habit of ,point to ,habit to ", rf"\b(?:i|we)(?:'ve| have)? (?:always )?(?:make|made) (?:(?:a|it a) (?:point|habit) (?:of (?P<value>\w+ing \S.*?)|to (?P<object>\S.*?))){_END}"),
    Rule(PREFERENCE, 0.7, "i find it ,we find it ", rf"\b(?:i|we) find it (?:much |far |a lot |really |so )?(?:easier|better|clearer|simpler|helpful|more \w+) (?:(?:when|if) (?:i (?:can |have |see )?|we (?:can |have |see )?|there (?:is|are) )?|to )(?P<value>(?!(?:understand|see|follow|know)\b)\S.*?){_NOT}?{_END}"),
    Rule(PREFERENCE, 0.7, "suit", rf"(?:^|[,;:]\s|\b(?:and|but|so|that) )(?P<value>(?!(?:it|this|that|which|what|whatever)\b)[\w`.+#-]+(?: [\w`.+#-]+){{0,4}}?) suits? (?:me|us) (?:better|best|well|more)(?: than (?P<other>\S.*?))?{_END}"),
    # --- taking back, in plain words -----------------------------------------------------------------------------------------
    Rule(FACT, 0.75, " off ,away from ,rid of ,done with ,finished with ", rf"\b(?:we|i|the team)(?:'ve| have|'re| are|'m| am)?(?: all| finally| now)? (?:(?:moved|migrated|switched|got) (?:off|away from|rid of)|(?:done|finished) with) (?:of )?(?P<other>{_ONE})[,;]? (?:and |so )?(?:it's|it is|we're (?:on|using)|we are (?:on|using)|we use|now it's)(?: all| just)? (?P<value>{_ONE})(?: now| these days)?{_STOPS}", corrects=True, known=True),
    Rule(FACT, 0.7, " now, these days, from now on", rf"{_START}(?:it's|it is|we're on|we are on)(?: all| just)? (?P<value>{_ONE}) (?:now|these days|from now on){_STOPS}", corrects=True, known=True),
    Rule(DECISION, 0.75, "idea,plan,approach,option,proposal,experiment", rf"{_START}(?:let's )?(?:scrap|drop|forget(?: about)?|abandon|ditch|kill|shelve|never ?mind|bin) (?:the |that |this |our |my )?(?P<value>{_ONE}) (?:idea|plan|approach|option|proposal|experiment){_STOPS}", negative=True, corrects=True),
    Rule(DECISION, 0.75, "scrap,drop,forget,abandon,ditch,kill,shelve,mind", rf"{_START}(?:let's )?(?:scrap|drop|forget(?: about)?|abandon|ditch|kill|shelve|never ?mind) (?:the |that )?(?P<value>{_ONE})(?: thing)?{_STOPS}", negative=True, corrects=True, known=True),
    Rule(INSTRUCTION, 0.75, "back to ", rf"{_START}(?:let's )?(?:go |switch )?back to (?P<value>(?-i:English|French|German|Spanish|Italian|Portuguese)){_STOPS}", corrects=True, known=True),
    Rule(DECISION, 0.7, "back to ", rf"{_START}(?:(?:let's |we're |we are )?(?:go |going |switch |switching )?back to|we(?:'re| are) back to) (?P<value>{_ONE}){_STOPS}", corrects=True, known=True),
    # --- decisions -------------------------------------------------------------------------------------------------------
    Rule(DECISION, 0.85, "decision", rf"(?:^|[.;,]\s*)(?:final )?decision(?: made)?(?: is| was)?(?: on [^:,;]+)?[:,]\s*{_VALUE}(?:\s+(?:over|instead of|rather than)\s+(?P<other>\S.*?))?{_END}"),
    Rule(DECISION, 0.85, "decided,agreed,resolved,chose,opted,elected", rf"(?:\b{_WE}(?:'ve| have|'s| has)?|^|[.;]\s*)(?: just| finally| now| already| all)? ?(?:decided|agreed|resolved|chosen?|opted|elected)(?: together| unanimously)? (?:against(?: using| adopting| going with| moving to)?|(?:not|never) to(?: ever)? (?:use|go with|adopt|switch to|move to|rely on)|to never(?: ever)? use|to (?:drop|abandon|ditch|give up on|get rid of|stop using|phase out|rule out)) (?!(?:it|this|that|these|those)\b){_VALUE}{_END}", negative=True, reach=4),
    Rule(DECISION, 0.85, "decided,agreed,resolved,chose,opted,elected", rf"(?:\b{_WE}(?:'ve| have|'s| has)?|^|[.;]\s*)(?: just| finally| now| already| all)? ?(?:decided|agreed|resolved|chosen?|opted|elected)(?: together| unanimously)? (?:(?:not|never) to(?: ever)?|to never(?: ever)?) (?P<value>{_VERB} (?P<object>\S.*?)){_END}", negative=True, reach=4),
    Rule(DECISION, 0.85, "decided,agreed,resolved,settled,opted,elected", rf"(?:\b{_WE}(?:'ve| have|'s| has)?|^|[.;]\s*)(?: just| finally| now| already| all)? ?(?:decided|agreed|resolved|settled|opted|elected)(?: together| unanimously)?(?: (?:to (?:use |go with |stick with |stay with |switch to |adopt |move to )?|on|that|for|in favou?r of|upon|against))?(?:[:,]| that)? (?P<value>(?!(?:if|whether|between|what|how|yet|not to|never to|against)\b)\S.*?)(?:\s+(?:over|instead of|rather than)\s+(?P<other>\S.*?))?{_END}", reach=4),
    Rule(DECISION, 0.8, "chose,picked,selected,adopted,went with,gone with", rf"\b{_WE}(?:'ve| have)? (?:chose|chosen|picked(?! up)|selected|adopted|went with|gone with) (?!(?:to be)\b){_VALUE}(?:\s+(?:over|instead of|rather than)\s+(?P<other>\S.*?))?(?:\s+for (?P<reason>(?!(?:the|my|our|a|an|this|it|now)\b)\S.*?))?{_END}", reach=3),
    Rule(DECISION, 0.8, "going,switching,moving,migrating,sticking,adopting,standardi", rf"{_START}(?:we're|we are|i'm|i am|we will be|we'll be)? ?(?:going with|going to use|(?:switching|moving|migrating)(?: entirely)?(?: over)?(?: away)?(?: from [^,;]{{1,60}}?)? to|sticking with|adopting|standardi[sz]ing on) {_VALUE}(?:\s+(?:over|instead of|rather than|from)\s+(?P<other>\S.*?))?{_END}"),
    Rule(DECISION, 0.7, "let's,let\u2019s,lets", rf"{_START}let['\u2019]?s (?:just |rather )?(?:go with|use|stick with|keep|switch to|adopt|drop|settle on|do) {_VALUE}(?:\s+(?:over|instead of|rather than)\s+(?P<other>\S.*?))?{_END}"),
    Rule(DECISION, 0.75, "not going ,not be ,won't be ,not using ,not adopting ,not supporting ", rf"\b(?:we|i|the team)(?:'re| are|'m| am| is|'ll| will|) (?:not going to (?:use|go with|adopt|support)|(?:not be|won't be|not) (?:using|adopting|going with|supporting)) (?!(?:it|this|that|these|those)\b){_VALUE}{_END}", negative=True),
    Rule(DECISION, 0.75, "dropping,dropped,abandon,ditch,ruled out,ruling out,gave up on,giving up on,given up on,rejected", rf"\b(?:we|i|the team)(?:'ve| have| has|'re| are|'m| am| is)? (?:just |finally |now )?(?:dropp(?:ing|ed)|abandon(?:ing|ed)|ditch(?:ing|ed)|rul(?:ing|ed) out|(?:gave|giving|given) up on|rejected) (?!(?:it|this|that|these|those|the|my|your|an?|off|by|out|from|to|in|on|below|above|one|some)\b){_VALUE}{_END}", negative=True),
    Rule(DECISION, 0.7, "let's not ,let\u2019s not ,lets not ", rf"{_START}let['\u2019]?s not (?:use |go with |do |adopt |add )?{_VALUE}{_END}", negative=True),
    Rule(DECISION, 0.7, "we'll ,we will ,i'll ,i will ", rf"\b(?:we'll|we will|i'll|i will) (?:use|go with|stick with|keep using|switch to|adopt) {_VALUE}(?:\s+(?:over|instead of|rather than)\s+(?P<other>\S.*?))?{_END}", besides="use,go with,stick,keep,switch,adopt"),
    # A choice over a named alternative shows a preference, in any sentence.
    Rule(PREFERENCE, 0.6, "over,instead of,rather than", rf"\b(?:{_DO}|with|in|via) (?P<value>[\w`.+#-]+(?: [\w`.+#-]+){{0,4}}?) (?:(?<! by )(?<! for )(?<! in )over|instead of|rather than) (?P<other>\S(?:.*?\S)??)(?:\s+(?:to|for)\s+(?P<reason>\S.*?))?{_END}", reach=11),
    # --- problems and their solutions -------------------------------------------------------------------------------------
    Rule(FIX, 0.85, "fixed,solved,resolved,cured,worked around", rf"\b(?:(?:was|is|got|has been|and) )?(?:fixed|solved|resolved|cured|worked around)(?: it| this| that)? (?:by|with|via|after) {_VALUE}{_END}", problem_before=True, besides=" by , with , via , after "),
    Rule(FIX, 0.85, "fix,solution,workaround,answer,cure", rf"\b(?:the |a |its? )?(?:fix|solution|workaround|answer|cure)(?: for (?P<reason>[^,;.]+?))? (?:is|was|turned out to be)(?: to)? {_VALUE}{_END}", besides=" is , was , turned out to be"),
    Rule(FIX, 0.8, "fixed,solved,resolved,cured,did the trick", rf"{_START}(?P<value>\S[^,;]{{2,160}}?) (?:fixed|solved|resolved|cured|did the trick for) (?P<reason>(?:it|this|that|the \S.*?|\S.*?)){_END}"),
    Rule(FIX, 0.75, "cause,culprit,problem,issue,bug", rf"\b(?:the )?(?:root cause|cause|culprit|problem|issue|bug)(?: of (?P<reason>[^,;.]+?))? (?:is|was|turned out to be)(?: that)? (?P<value>(?!(?:that i|how|i |we )\b)\S.*?){_END}", besides=" is , was , turned out to be"),
    Rule(FIX, 0.7, "turns out,turned out", rf"\b(?:it )?turn(?:s|ed) out (?:that )?{_VALUE}{_END}"),
    Rule(FIX, 0.7, "caused by,due to,because of", rf"\b(?:was|were|is) (?:caused by|due to|because of) {_VALUE}{_END}", problem_before=True),
    # --- open work ----------------------------------------------------------------------------------------------
    Rule(TODO, 0.85, "todo,to do,to-do,fixme,action item,follow,next step,remaining,left,open", rf"^(?:todo|to do|to-do|fixme|action item|follow-?up|next steps?|remaining|left to do|open)\s*[:\u2014-]\s*{_VALUE}{_END}"),
    Rule(TODO, 0.8, "still need ,still have ,still got ", rf"\b(?:i|we)(?:'ve| have)? (?:still|also still) (?:need|have|got)(?: to)? {_VALUE}{_END}"),
    Rule(TODO, 0.8, "forget,remember,remind", rf"{_START}(?:don't forget|do not forget|remember|remind me) to {_VALUE}{_END}"),
    Rule(TODO, 0.75, "later,tomorrow,tonight,soon,eventually,point,next,before,by", rf"\b(?:i|we|you|someone) (?:need|have|ought|should|must|want)(?: to)? (?P<value>\S[^,;?]{{0,200}}?\b(?:later|tomorrow|tonight|soon|eventually|at some point|next (?:week|sprint|month|release)|before (?:the )?(?:release|launch|merge|merging|shipping|deploy\w*)|(?:by|before) (?:end of \w+|(?-i:[A-Z])\w+day\b|(?-i:[A-Z])\w+ \d+))\b.*?){_END}", besides="need,have,ought,should,must,want"),
    Rule(TODO, 0.75, "i'll ,i will ,we'll ,we will ", rf"\b(?:i'll|i will|we'll|we will) (?P<value>\S[^,;?]{{0,200}}?\b(?:later|tomorrow|tonight|soon|next (?:week|sprint|month|release)|(?:by|before|on|this|until) (?:the )?(?:end of \w+|weekend|month-end|(?-i:[A-Z])\w+day\b|(?-i:[A-Z])\w+ \d+))\b.*?){_END}", besides="later,tomorrow,tonight,soon,next,by,before,on,this,until"),
    Rule(TODO, 0.75, "promised,commit,pledged", rf"(?:^|\b{_I}(?:'ve| have|'s| has|'m| am)? )(?:promised|committed|committing|pledged)(?: \w+)?(?: (?:to|that))? (?:(?:i|we)(?:'d| would|'ll| will) )?{_VALUE}{_END}"),
    Rule(TODO, 0.7, "left to do,to be done,missing,open,pending,outstanding,unfinished", r"\b(?:is|are|remains?) (?:still )?(?:left to do|to be done|missing|open|pending|outstanding|unfinished)\b"),
    Rule(TODO, 0.6, "i'll,i will,we'll,we will", rf"(?:^|[.;]\s|\b(?:and|so) )(?:i'll|i will|we'll|we will) (?P<value>(?!(?:be|have|need|see|know|try|let|never|always|just|make sure|assume|admit|say|not|use|go with|stick|keep using|switch|adopt)\b)[a-z-]+\b \S.*?){_END}"),
    # --- facts -----------------------------------------------------------------------------------------------------------
    Rule(FACT, 0.7, "name", r"\bmy name is (?P<value>(?-i:[A-Z])[\w-]+(?: (?-i:[A-Z])[\w-]+)*)", about="user's name"),
    Rule(FACT, 0.75, "fact,fyi,record,information,context,note,know,confirmed", rf"^(?:quick fact(?: for the file)?|fyi|for the record|for your information|for context|note|useful to know|good to know|confirmed|just confirmed|fact)(?: with [^:]+| via [^:]+)?\s*[:,-]\s*(?:that )?{_VALUE}{_END}"),
    Rule(FACT, 0.7, " use, run, target, support,written in,built , deploy, depend, is on , are on ", rf"\b(?:we|our (?:team|project|company)|this (?:repo|project|codebase|app)|the (?:repo|project|codebase|team)|the (?:app|server)|our app|(?:the|our) (?P<part>backend|frontend|api|cli|worker|website|dashboard|mobile app)) (?:currently |already |now |mainly |only )?(?:uses?|runs? on|targets?|supports?|is written in|is built (?:with|on)|deploys? (?:to|on)|depends? on|(?:is|are) on) {_VALUE}{_NOT}?{_END}", besides="we ,our team,our project,our company,our app,this repo,this project,this codebase,this app,the repo,the project,the codebase,the team,our app,the app,the server,mobile app ,backend ,frontend ,api ,cli ,worker ,website ,dashboard "),
    Rule(FACT, 0.75, "moved ,pushed ,postponed ,rescheduled ,shifted ,extended ,brought forward ,delayed ", rf"\b(?:my|our|the|this) (?P<subject>[\w'\u2019-]+(?: [\w'\u2019-]+){{0,3}}?) (?:(?:has|have|had) (?:just |now )?(?:been )?|(?:is|are|was|were|got) (?:now |just )?)?(?:moved|pushed(?: back| out)?|postponed|rescheduled|shifted|extended|brought forward|delayed) (?:from [^,;]{{1,40}}? )?(?:to|until|till) (?P<value>{_DAY}[^,;?]{{0,60}}?){_END}", corrects=True),
    Rule(FACT, 0.7, " is , are , live, run, listen, sit, reside", rf"\b(?:my|our|the|this) (?P<subject>(?!(?:problem|issue|question|goal|error|code|thing|idea|point|reason|way|plan|function|method|result|output|same|answer)\b)[\w'\u2019-]+(?: [\w'\u2019-]+){{0,5}}?) (?:is|are|lives?|runs?|listens?|sits?|resides?) (?:(?P<attribute>at|on|in|under|behind|called|named|due|scheduled for) )?+(?<= )(?P<value>{_NAMED}[^,;?]{{0,120}}?){_END}", dear=4),
    Rule(FACT, 0.7, "read-only,read only,readonly,write-only,append-only,write-protected,off-limits,off limits", rf"{_START}{_PLACE} (?:is|are|stays?|remains?) (?:now |currently |always |strictly |still )?{_STATE}"),
    Rule(FACT, 0.7, "read-only,read only,readonly,write-only,append-only,write-protected,off-limits,off limits", rf"{_START}{_PLACE}(?: is| are)?(?: no longer|(?: not|n't)(?: \w+ly)?) {_STATE}", negative=True, corrects=True, besides=" no longer, not ,n't "),
    Rule(FACT, 0.65, "i'm ,i am ", rf"\bi(?:'m| am) (?P<value>(?:(?-i:[A-Z])[a-z]+, )?an? [\w -]{{3,60}}?)(?: (?:from|at|in|based in|working)\b|{_END})", about="user", besides=" a , an "),
    Rule(FACT, 0.65, "i work ,i live ", rf"\bi (?:work|live)(?: as| at| in| for| on) {_VALUE}{_END}", about="user's work"),
)  # fmt: skip

ENGLISH = Language(
    rules=RULES,
    hedges=(
        "maybe", "perhaps", "probably", "possibly", "might", "i think", "i guess", "i suppose", "i'm not sure", "i am not sure", "not sure if", "not sure whether", "not sure about", "not sure that",
        "not certain", "i kind of", "we kind of", "'s kind of", "is kind of", "'m kind of", "am kind of", "i sort of", "we sort of", "'s sort of", "is sort of", "for now", "temporarily", "for the moment", "just this once",
        "this time", "could be", "i wonder", "considering whether", "thinking about", "thinking of", "leaning",
    ),
    asks=re.compile(
        r"(?i)\s*(?:(?:and|but|so|or|ok|also|well|hmm|hey)[,\s]+)*(?:do|does|did|should|shall|can|could|would|will|is|are|was|were|has|have|what|which|who|how|why|where|am|may|if|whether|unless|suppose|when do|when should|when did)\b"
        r"(?!n't (?!i|we|you|they|it)\w)(?! not \w)"
    ),
    wonders=re.compile(
        r"(?i)\b(?:(?:do(?:es)?n['\u2019]t|do not|does not|didn['\u2019]t|did not|can['\u2019]t|cannot) (?:know|remember|recall|tell|say)|not (?:sure|clear|certain|decided)|unsure|unclear|no idea|wonder(?:ing|ed)?|depends(?: on)?) (?:if|whether)"
    ),
    reason=re.compile(
        r"(?i)\b(?:because(?: of)?|since|due to|as (?=it|we|they|the|this)|so that|given that|in order to|to avoid|to keep|to reduce)\s+(?P<reason>[^.;!?\n]{3,240})"
    ),
    takes_back=re.compile(
        r"(?i)^(?:no[,.!]|nope\b|wait[,.]|actually\b|correction\b|scratch that|on second thought|i meant\b|sorry,|not (?:that|what)\b|i changed my mind|i've changed my mind"
        r"|forget (?:that|what)|let me correct|that's (?:wrong|not right|incorrect))"
    ),
    taken_back=re.compile(r"(?i)\b(?:instead$|after all\b|changed my mind|contrary to what i said|i was wrong)"),
    back=("instead", "after all", "changed my mind", "contrary to what i said", "i was wrong"),
    links=_LINKS,
    clause=re.compile(
        r"(?i)[,;:(\u2014\u2013]\s*|\s(?:and|but|so)\s+(?=(?:i|we|you|can|could|would|should|do|how|what|please|always|never|don't|use)\b)"
    ),
    limits=ENGLISH_LIMITS,
    unsaid=re.compile(
        r"(?i)(?:(?:\b(?:never|not|nobody|no one|cannot)|n['\u2019]t) (?:ever |actually |even )?(?:said|say|says|saying|claim(?:ed)?|mean|meant|told (?:you|them)|true|the case|correct)"
        r"|\b(?:false|untrue|wrong|a myth|a lie)|\b(?:it's|it is) not that|\b(?:colleague|co-?worker|teammate|friend|intern|someone|somebody|some people|people|others|they) (?:thinks?|believes?|claims?|argues?|suggests?|suggested|argued|claimed|thought)|\b(?:imagine|suppose|supposing|pretend|assume|assuming|hypothetically|let's say|what if|as if|as though|i doubt|if only))"
        r"(?: to say| to claim)?(?: that| if)?(?:\s*$|\s(?=(?:we|i|you|they|he|she|it|the|our|my)\b))"
    ),
    denied=re.compile(
        r"(?i)(?:\b(?:not|never|nobody|hardly|(?:almost|nearly)(?! (?:always|only|every|never)\b))|n['\u2019]t)(?: (?:yet|even|really|actually|ever|all|\w+ly))* (?:been )?(?!(?:just|only|forget|hesitate)\b)[a-z]+(?: (?:to|on|that|for|with|in favou?r of|at|upon))?(?: (?:use|go with|using|going with|adopt|switch to|move to))?\s*$"
    ),
    refused=re.compile(
        r"(?i)(?:[,;(\u2013\u2014-]\s*|\s)(?:(?:but |and |though |although )(?:i|we) (?:really |do |just )?(?:don't|do not|couldn't) (?:care|agree|mind)\b"
        r"|(?:but |and )?(?:which|that|this|it)(?:'s| is| was) (?:just |simply |plain |completely |totally )?(?:wrong|false|nonsense|incorrect|not true|not so|bad advice|a mistake|a myth)\b)"
    ),
)  # fmt: skip
