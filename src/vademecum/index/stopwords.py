"""Words that say nothing of what a sentence is about."""

from __future__ import annotations

# What carries no content in talk, English and French. Short forms lose their apostrophe before they are looked up.
TALK = frozenset(
    """
    a able about above after again all also am an and any anything are arent as at be because been before being between
    both but by can cant cannot could couldnt did didnt do does doesnt doing dont down during each either else etc ever
    every few for from further get gets getting got had hadnt has hasnt have havent having he hed her here hers herself
    hes hey hi him himself his how hows however i id if ill im in into is isnt it itd itll its itself ive just kind lets
    like likely lot may maybe me might more most much must my myself need no nor not now of off oh ok okay on once one
    only onto or other our ours out over own please really s said same say says see shall she shed shes should shouldnt
    so some something still such sure t tell than thank thanks that thats the their theirs them then there theres these
    they theyd theyll theyre theyve thing things think this those though through to too under until up upon us use
    used uses using very was wasnt way we wed well went were werent weve what whats when whens where wheres whether
    which while who whod whom whos whose why will with within without wont would wouldnt yeah yes yet you youd youll
    your youre yours youve
    au aux avec ce ces cet cette ca comme dans de des donc du elle elles en est et ete etre eux il ils je jai la le les
    leur leurs lui ma mais me mes moi mon ne nos notre nous on ont ou par pas plus pour qu que quel quelle quels qui sa
    se ses si soi son sont sur ta te tes toi ton tu un une vos votre vous y
    """.split()  # noqa: SIM905 -- a list of two hundred quoted words is no easier to read
)
