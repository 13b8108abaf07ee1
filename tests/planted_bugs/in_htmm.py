"""Bugs in hidden topic Markov models."""

from __future__ import annotations

import functools

from franchise.htmm import em
from franchise.htmm import new_documents as inference
from franchise.kernels import htmm_gibbs as segments
from tests.exactness.mutation import mutated
from tests.htmm import bugs
from tests.planted_bugs.planting import in_place
from tests.planted_bugs.registry import PlantedBug

EXACTNESS = "tests/htmm/test_exactness.py::"
LONG_RUN = EXACTNESS + "test_a_long_run_visits_everything_as_often_as_it_should"
ALONE = f"{LONG_RUN}[learned number, sentences alone]"
TWO = f"{LONG_RUN}[two topics]"
SINGLE = f"{LONG_RUN}[two topics, single words]"
ONE_STEP = EXACTNESS + "test_one_sweep_leaves_the_posterior_as_it_is"
GEWEKE = "tests/htmm/test_geweke.py::"
LENGTHS = [[2, 1, 0, 3], [2, 2, 1]]

WRONG = {
    "stays counted": ("A stay counts as a draw of a topic.", SINGLE),
    "first sentences left out": ("The first sentence's draw is not counted.", SINGLE),
    "a switch costs nothing": (
        "The message into a topic forgets the switch probability.",
        f"{ONE_STEP}[two topics]",
    ),
    "what was before is forgotten": ("The message of a stay forgets the topic before.", TWO),
}

TABLES_WRONG = {
    "seated without alpha": "Runs sit down at tables as if alpha were one.",
    "weights given runs": "After the table moves the topic weights are drawn given runs, not tables.",
    "words counted once": "A word that occurs several times in a run counts once.",
    "runs taken for one document": "Runs of different documents share tables.",
}

COLLAPSED_WRONG = {
    "stays without the draws of the document": "The weight of a stay forgets how many topics the document drew.",
    "a closed topic takes its weight along": "A topic that loses its last run does not give its weight back.",
    "words of a run do not count for one another": "The words of a run are scored as if each were alone.",
    "a run's words stay in its topic": "The words of a run are counted in its topic while they are scored.",
    "boundaries moved without totals": "A boundary moves without regard to the size of the topic that gains.",
    "boundaries never at the end": "A run of several sentences never gives the last but one away.",
}

KERNELS = [
    PlantedBug(
        f"HTMM: {name}",
        f"franchise.kernels.htmm_gibbs.{bugs.KERNEL_BUGS[name][1]}",
        wrong,
        (failing,),
        (f"{EXACTNESS}test_bugs_in_the_kernels_are_seen[{name}]",),
        functools.partial(bugs.in_kernel, name),
    )
    for name, (wrong, failing) in WRONG.items()
]

COLLAPSED = [
    PlantedBug(
        f"HTMM: {name}",
        f"franchise.kernels.htmm_collapsed.{bugs.COLLAPSED_BUGS[name][0]}",
        wrong,
        (f"{ONE_STEP}[learned number, collapsed]",),
        (f"{EXACTNESS}test_bugs_in_the_collapsed_sweep_are_seen[{name}]",),
        functools.partial(bugs.in_collapsed, name),
    )
    for name, wrong in COLLAPSED_WRONG.items()
]

TABLES = [
    PlantedBug(
        f"HTMM, tables of runs: {name}",
        "franchise.htmm.gibbs_hdp.regroup",
        wrong,
        (f"{ONE_STEP}[learned number, tables]",),
        (f"{EXACTNESS}test_bugs_in_table_moves_over_runs_are_seen[{name}]",),
        functools.partial(bugs.in_tables, name),
    )
    for name, wrong in TABLES_WRONG.items()
]

STEPS = [
    PlantedBug(
        "HTMM: stays counted by the HDP",
        "franchise.htmm.model.Segments.switches_by_topic",
        "A stay counts as a draw of a topic.",
        (f"{ONE_STEP}[learned number]",),
        (EXACTNESS + "test_stays_that_count_as_draws_are_seen",),
        bugs.stays_counted,
    ),
    PlantedBug(
        "HTMM: first sentences count as switches",
        "franchise.htmm.gibbs_steps.draw_switch_probability",
        "First sentences, which always draw a topic, count as switches.",
        (TWO, ALONE),
        (EXACTNESS + "test_first_sentences_that_count_as_switches_are_seen",),
        bugs.firsts_counted,
    ),
    PlantedBug(
        "HTMM: alpha drawn by all sentences",
        "franchise.htmm.gibbs_hdp.draw_group_concentration",
        "alpha is drawn given all sentences, not those that drew a topic.",
        (GEWEKE + "test_joint_distribution[learned number]",),
        (GEWEKE + "test_a_concentration_drawn_by_all_sentences_is_seen",),
        functools.partial(bugs.all_sentences_draw, LENGTHS),
    ),
    PlantedBug(
        "HTMM: weights before gamma",
        "franchise.htmm.gibbs_hdp.draw_numbers",
        "The topic weights are drawn given the gamma from before, then gamma.",
        (GEWEKE + "test_joint_distribution[learned number]",),
        (GEWEKE + "test_weights_drawn_before_gamma_are_seen",),
        bugs.weights_before_gamma,
    ),
    PlantedBug(
        "HTMM: runs taken for one document",
        "franchise.htmm.gibbs_hdp.runs_of",
        "Moves of the HDP see the runs of all documents as those of one.",
        (f"{ONE_STEP}[learned number, splits and merges]",),
        (EXACTNESS + "test_runs_taken_for_one_document_are_seen",),
        bugs.runs_in_one_document,
    ),
]


def draw_finite_with(old: str, new: str):
    return in_place(inference, "draw_finite", lambda right: mutated(segments, "draw_finite", (old, new)))


INFERENCE = [
    PlantedBug(
        f"new documents: {name}",
        "franchise.kernels.htmm_gibbs.draw_finite",
        wrong,
        (f"tests/htmm/test_inference.py::test_chains_of_new_documents_follow_their_law[{numbers}]",),
        (f"tests/htmm/test_inference.py::test_other_laws_are_seen[{numbers}]",),
        functools.partial(draw_finite_with, old, new),
    )
    for name, wrong, numbers, old, new in (
        (
            "stays counted",
            "A stay counts as a draw of a topic.",
            "plain numbers",
            "if drawn.switches[sentence]:",
            "if True:",
        ),
        (
            "stays cost nothing",
            "Messages in logs forget the price of a stay.",
            "logs",
            "log_of(given.switch), messages.log_of(1.0 - given.switch)",
            "log_of(given.switch), 0.0",
        ),
    )
]

EM = [
    PlantedBug(
        "EM: first sentences count for epsilon",
        "franchise.htmm.em.new_switch",
        "epsilon is the mean over all sentences, first ones too.",
        ("tests/htmm/test_em.py::test_the_objective_never_falls",),
        ("tests/htmm/test_em.py::test_wrong_steps_make_it_fall[firsts]",),
        lambda: in_place(
            em, "new_switch", lambda right: lambda flat, switches, prior: float(switches.mean())
        ),
    ),
    PlantedBug(
        "EM: a weaker prior of theta",
        "franchise.htmm.em.new_proportions",
        "The prior of theta is smaller by 0.5.",
        ("tests/htmm/test_em.py::test_steps_are_those_of_the_naive_twin",),
        ("tests/htmm/test_em.py::test_wrong_steps_make_it_fall[prior]",),
        lambda: in_place(
            em, "new_proportions", lambda right: lambda entered, prior: right(entered, prior - 0.5)
        ),
    ),
]

BUGS = [*KERNELS, *COLLAPSED, *TABLES, *STEPS, *INFERENCE, *EM]
