"""The stages of every algorithm: pure functions from arrays to frozen dataclasses of arrays.

::

    points --estimate_density--> density --climb--> ParentGraph --cut(tau)--> Forest
    (n, d)                       (n,)               parent, distance          labels, roots

    Forest --link(tau)--> ClusterTree: leaves, births, merges

    Estimate, ParentGraph --find_clusters--> Clusters: the default of `QuickShift`

    (x, y) --prepare_joint--> Joint --conditional_modes(tau)--> ConditionalModes at queries x

Everything that users see is built from these stages. They are strict: they raise an error on
anything that is not exactly what they expect. The friendly layer is `quickshift.estimators`.
"""

from quickshift.stages.clusters import Clusters, find_clusters
from quickshift.stages.density import Estimate, estimate_density, fit_estimate
from quickshift.stages.diagnosis.conditions import Condition, conditions
from quickshift.stages.diagnosis.modes import (
    ModeDiagnosis,
    ModeRecovery,
    diagnose_modes,
    mode_recovery,
    mode_steps,
)
from quickshift.stages.diagnosis.neighborhoods import StepFunction
from quickshift.stages.diagnosis.separation import Separation, separation
from quickshift.stages.forest import Forest, cut, cut_into, linkage
from quickshift.stages.local_clusters import LocalClusters, find_local_clusters
from quickshift.stages.local_scale import LocalScale, local_scale
from quickshift.stages.membership import TopShares
from quickshift.stages.parent_graph import ParentGraph, assign, climb
from quickshift.stages.regression.branches import Branch, trace
from quickshift.stages.regression.conditional_modes import ConditionalModes, conditional_modes
from quickshift.stages.regression.joint import Joint, RegressionData, prepare_joint
from quickshift.stages.regression.prediction_set import (
    PredictionSet,
    conformal_radius,
    nonconformity_scores,
    set_around,
)
from quickshift.stages.regression.rules import choose_joint_bandwidth, choose_joint_tau
from quickshift.stages.rules import choose_bandwidth, choose_tau
from quickshift.stages.samples import Samples, prepare
from quickshift.stages.tree.chance import chance_significance
from quickshift.stages.tree.cluster_tree import ClusterTree, link
from quickshift.stages.tree.distance import merge_distortion
from quickshift.stages.tree.known_tree import known_tree
from quickshift.stages.tree.significance import (
    assess,
    assess_by_scale,
    keep_most_significant,
    keep_significant,
)

__all__ = [
    "Branch",
    "ClusterTree",
    "Clusters",
    "Condition",
    "ConditionalModes",
    "Estimate",
    "Forest",
    "Joint",
    "LocalClusters",
    "LocalScale",
    "ModeDiagnosis",
    "ModeRecovery",
    "ParentGraph",
    "PredictionSet",
    "RegressionData",
    "Samples",
    "Separation",
    "StepFunction",
    "TopShares",
    "assess",
    "assess_by_scale",
    "assign",
    "chance_significance",
    "choose_bandwidth",
    "choose_joint_bandwidth",
    "choose_joint_tau",
    "choose_tau",
    "climb",
    "conditional_modes",
    "conditions",
    "conformal_radius",
    "cut",
    "cut_into",
    "diagnose_modes",
    "estimate_density",
    "find_clusters",
    "find_local_clusters",
    "fit_estimate",
    "keep_most_significant",
    "keep_significant",
    "known_tree",
    "link",
    "linkage",
    "local_scale",
    "merge_distortion",
    "mode_recovery",
    "mode_steps",
    "nonconformity_scores",
    "prepare",
    "prepare_joint",
    "separation",
    "set_around",
    "trace",
]
