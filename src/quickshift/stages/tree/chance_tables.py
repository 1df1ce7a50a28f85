"""Tables of `chance_significance`: one row per number of features.

Written by benchmarks/calibrate.py on 2026-11-17, from 200 to 2000 samples of one Gaussian per
entry. The entries of a row belong to the first entries of SAMPLES. Those of GLOBAL are divided by
2^(d/4), where d is the number of features. LOCAL has one table per scale. Do not edit.
"""

__all__ = ["GLOBAL", "LOCAL", "SAMPLES"]

Table = dict[int, tuple[float, ...]]

SAMPLES = (8, 15, 30, 100, 300, 1000, 3000, 10000, 30000, 100000, 300000, 1000000)

GLOBAL: Table = {
    1: (0.964, 1.37, 1.37, 1.37, 1.37, 1.37, 1.37),
    2: (0.508, 0.747, 0.97, 1.01, 1.03, 1.2),
    3: (0.116, 0.36, 0.541, 0.619, 0.638),
    5: (0.0015, 0.0153, 0.0864, 0.264, 0.361),
    7: (0.026, 0.075, 0.134, 0.172, 0.225),
    10: (0.0241, 0.0529, 0.0581, 0.0839),
    14: (0.0226, 0.0343, 0.0356, 0.0431),
    20: (0.0247, 0.0248, 0.0248, 0.0248),
    30: (0.0286, 0.0286, 0.0286, 0.0286),
    50: (0.0305, 0.0345, 0.0361, 0.0467),
    70: (0.0337, 0.0411, 0.0481),
    100: (0.0372, 0.0463, 0.0639),
    200: (0.0414, 0.0621, 0.0875),
    400: (0.0454, 0.0704, 0.0817),
    1000: (0.049, 0.0811),
}

LOCAL: dict[int, Table] = {}
