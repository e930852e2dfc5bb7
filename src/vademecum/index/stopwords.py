"""Words without content: in questions about code, and in talk."""

from __future__ import annotations

# For questions about code. Identifiers keep these words: `is_open` keeps `is`.
STOP_WORDS = frozenset(
    """
    a an and are as at be been but by can could do does did for from had has have how i if in into is it its
    me my of on or our should so such than that the their them then there these they this those to us use used
    uses using was we were what when where which who why will with would you your all any about between each
    work works working handle handles handled happen happens get gets
    """.split()  # noqa: SIM905 -- a list of a hundred quoted words is no easier to read
)
# For talk, in English and French. A short form is looked up without its apostrophe.
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
