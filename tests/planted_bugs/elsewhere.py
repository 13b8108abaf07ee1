"""Bugs that a test plants by itself: in families, in scores, in states and in naive twins."""

from __future__ import annotations

from tests.planted_bugs.registry import PlantedBug

FAMILY = "tests/families/test_check_family.py::test_"
KNOWN = "tests/families/test_known_topics.py::test_"
LEFT_TO_RIGHT = "tests/diagnostics/test_left_to_right.py::test_"
HELD_OUT = "tests/diagnostics/test_held_out.py::test_"
STATES = "tests/model/test_consistency.py::test_"
TWIN = "tests/naive/test_naive"

_ROWS = [
    # families, refused by check_family
    (
        "a family that takes out observations wrongly",
        "family.take, family.join",
        "Rows are mixed up.",
        FAMILY + "observations_that_are_taken_out_wrongly",
    ),
    (
        "Poisson without the factorial",
        "Poisson.log_predictive",
        "x! is missing.",
        FAMILY + "predictive_without_the_factorial",
    ),
    (
        "a removal that forgets the count",
        "Poisson.remove",
        "The size of the topic stays.",
        FAMILY + "remove_that_forgets_the_count",
    ),
    (
        "a merge that forgets the distance",
        "GaussianKnownPrecision.merge",
        "Scatters are added without the distance of the means.",
        FAMILY + "merge_that_forgets_the_distance_of_the_means",
    ),
    (
        "a merge that changes its source",
        "Bernoulli.merge",
        "The source is emptied.",
        FAMILY + "merge_that_changes_its_source",
    ),
    (
        "an emptied topic that is not empty",
        "Poisson.clear",
        "1e-13 is left behind.",
        FAMILY + "clear_that_leaves_something_behind",
    ),
    (
        "more slots that lose a topic",
        "Bernoulli.grow",
        "Statistics are lost.",
        FAMILY + "grow_that_loses_a_topic",
    ),
    (
        "a block that counts twice",
        "Multinomial.log_block_predictive",
        "A category that members share counts twice.",
        FAMILY + "block_that_counts_a_shared_category_twice",
    ),
    (
        "a block that changes statistics",
        "Categorical.log_block_predictive",
        "The bench is not put back.",
        FAMILY + "block_that_does_not_put_the_bench_back",
    ),
    (
        "weights without prior weights",
        "Bernoulli.fill_topic_weights",
        "Prior weights are forgotten.",
        FAMILY + "weights_that_forget_the_prior_weights",
    ),
    (
        "block weights with the bench",
        "Bernoulli.fill_block_weights",
        "The bench is weighed as a topic.",
        FAMILY + "block_weights_that_treat_the_bench_as_a_topic",
    ),
    (
        "parameters off by one",
        "Poisson.draw_parameters",
        "The shape is too large by one.",
        FAMILY + "parameters_with_a_shape_off_by_one",
    ),
    (
        "means of one spread",
        "GaussianDiagonal.draw_parameters",
        "Means forget how many observations there are.",
        FAMILY + "parameters_whose_mean_ignores_how_sure_it_is",
    ),
    (
        "chi-squares in another order",
        "GaussianFull.draw_parameters",
        "Degrees of freedom fall the wrong way.",
        FAMILY + "covariances_with_the_chi_squares_in_the_wrong_order",
    ),
    (
        "dispersions from their prior",
        "NegativeBinomial.draw_parameters",
        "The observations of the topic do not count.",
        FAMILY + "dispersions_drawn_from_their_prior",
    ),
    (
        "a predictive that never learns",
        "NegativeBinomial.log_predictive",
        "The dispersion keeps its prior probabilities.",
        FAMILY + "a_predictive_that_never_learns_the_dispersion",
    ),
    (
        "observations of another topic",
        "Poisson.draw_observations",
        "Topics are turned round.",
        FAMILY + "observations_drawn_from_the_wrong_topic",
    ),
    (
        "observations of exchanged topics",
        "GaussianKnownPrecision.draw_observations",
        "Topics are exchanged.",
        FAMILY + "observations_drawn_with_topics_exchanged",
    ),
    (
        "observations too close",
        "GaussianKnownPrecision.draw_observations",
        "The spread is 0.8 of what it should be.",
        FAMILY + "observations_that_spread_too_little",
    ),
    (
        "a density without its constant",
        "a family of its own",
        "The constant is missing everywhere.",
        FAMILY + "a_density_that_forgets_its_constant_everywhere",
    ),
    (
        "settings that are not complete",
        "family.settings",
        "A setting is missing.",
        FAMILY + "settings_that_leave_something_out",
    ),
    (
        "a predictive without evidence",
        "KnownTopics.log_predictive",
        "Components have their prior weights.",
        KNOWN + "a_predictive_without_evidence_is_caught",
    ),
    (
        "components drawn from the prior",
        "KnownTopics.draw_parameters",
        "Components forget the observations.",
        KNOWN + "components_drawn_from_the_prior_are_caught",
    ),
    # scores of held-out documents
    (
        "left to right: prior without alpha",
        "diagnostics.held_out",
        "The prior is flat, or twice as large.",
        LEFT_TO_RIGHT + "a_prior_without_alpha_is_caught",
    ),
    (
        "left to right: another epsilon",
        "diagnostics.held_out",
        "The switch probability is another.",
        LEFT_TO_RIGHT + "another_switch_probability_is_caught",
    ),
    (
        "left to right: particles not copied",
        "tests.diagnostics.naive_left_to_right",
        "Particles are not copied by weight.",
        LEFT_TO_RIGHT + "particles_that_are_not_copied_by_weight_are_caught",
    ),
    (
        "scores with a wrong alpha",
        "diagnostics.held_out",
        "alpha is four times as large.",
        "tests/diagnostics/test_bundled_scores.py::test_a_wrong_alpha_is_caught",
    ),
    (
        "held-out words: unseen topics forgotten",
        "diagnostics.held_out",
        "The weight of unseen topics is forgotten.",
        HELD_OUT + "forgetting_the_unseen_topics_would_be_caught",
    ),
    (
        "held-out words: logs averaged",
        "diagnostics.held_out",
        "Logs are averaged, not probabilities.",
        HELD_OUT + "averaging_logs_would_be_caught",
    ),
    # states
    (
        "damaged weights",
        "model.state.base.Weights",
        "One count, weight, label or statistic is wrong.",
        STATES + "damaged_weights",
    ),
    (
        "damaged seating",
        "model.state.views.Seating",
        "One count, seat or statistic is wrong.",
        STATES + "damaged_seating",
    ),
    (
        "an observation without a seat",
        "model.state.views.Seating",
        "All counts agree that it has none.",
        STATES + "somebody_without_a_seat_is_noticed_although_all_counts_agree",
    ),
    (
        "an observation without a topic",
        "model.state.base.Weights",
        "All counts agree that it has none.",
        STATES + "an_observation_without_a_topic_is_noticed_although_all_counts_agree",
    ),
    (
        "slots that hide a table",
        "model.state.views.Seating",
        "table_slots is zero.",
        STATES + "table_slots_that_hide_a_table_are_noticed",
    ),
    (
        "more tables than customers",
        "model.state.cell_tables",
        "A cell has one table too many.",
        STATES + "more_tables_than_customers_are_noticed",
    ),
    (
        "a wrong count of cells",
        "model.state.views",
        "One count is wrong.",
        "tests/model/test_cell_counts.py::test_a_wrong_count_is_found",
    ),
    # naive twins
    (
        "twin: wrong concentrations",
        "tests.naive",
        "alpha and gamma are exchanged, or gamma is doubled.",
        TWIN + ".py::test_wrong_concentrations_are_caught",
    ),
    (
        "twin: lost weight",
        "tests.naive.direct.give_weight_back",
        "The weight of a topic that empties is lost.",
        TWIN + ".py::test_losing_the_weight_of_an_empty_topic_is_caught",
    ),
    (
        "twin: nobody leaves a table",
        "tests.naive.crf",
        "An observation counts at its table while it chooses.",
        TWIN + ".py::test_forgetting_to_unseat_is_caught_by_exact_propagation",
    ),
    (
        "twin: wrong acceptance of splits",
        "tests.naive.split_merge",
        "q is forgotten, or factorials are swapped.",
        TWIN + "_split_merge.py::test_a_wrong_acceptance_is_caught",
    ),
    (
        "twin: launch from present sides",
        "tests.naive.split_merge.log_probability_of_pass",
        "The last scan starts from the present sides.",
        TWIN + "_split_merge.py::test_a_launch_that_looks_at_the_present_sides_is_caught",
    ),
    (
        "twin: order of present sides",
        "tests.naive.split_merge.orders",
        "One side is allocated after the other.",
        TWIN + "_split_merge.py::test_an_order_that_looks_at_the_present_sides_is_caught",
    ),
    (
        "twin: sides without their tables",
        "tests.naive.split_merge.log_weights_of_side",
        "Proposals forget how many tables a side has.",
        TWIN
        + "_split_merge.py::test_stationarity_does_not_see_a_wrong_weight_of_a_side_but_the_law_of_the_step_does",
    ),
    (
        "twin: places below the slice",
        "tests.naive.slice_tables.admitted_places",
        "All places up to the last are admitted.",
        TWIN + "_slice.py::test_admitting_every_place_up_to_the_last_is_caught",
    ),
    (
        "twin: vacant tables counted",
        "tests.naive.slice_tables.draw_topic_sticks",
        "Vacant tables count for the topic weights.",
        TWIN + "_slice.py::test_counting_vacant_tables_that_are_forgotten_is_caught",
    ),
    (
        "twin: a factor of local splits",
        "tests.naive.subcluster",
        "Each factor in turn is left out.",
        TWIN + "_subcluster.py::test_no_factor_of_the_local_split_can_be_dropped",
    ),
    (
        "twin: Jacobian of local splits",
        "tests.naive.subcluster",
        "The Jacobian is left out.",
        TWIN + "_subcluster.py::test_local_split_without_the_jacobian_is_something_else",
    ),
    (
        "twin: a factor of global splits",
        "tests.naive.subcluster",
        "Each factor in turn is left out.",
        TWIN + "_subcluster.py::test_no_factor_of_the_global_split_can_be_dropped",
    ),
    (
        "twin: weights of sides",
        "tests.naive.subcluster.sub_weights_conditional",
        "Sides have the weights of topics, without gamma.",
        TWIN + "_subcluster.py::test_sides_with_the_weights_of_regular_topics_do_not",
    ),
]

BUGS = [PlantedBug(name, where, wrong, demanding=(test,)) for name, where, wrong, test in _ROWS]
