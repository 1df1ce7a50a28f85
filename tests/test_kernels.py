"""Each kernel is compared with its definition, by quadrature and in high precision."""

import copy
import math
import pickle
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from scipy import integrate

from quickshift.kernels import KERNELS, Kernel, get_kernel

# The definitions again, for mpmath, so that the expected values do not depend on kernels.py.
SILVERMAN_EDGE = 3 * mpmath.pi / (2 * mpmath.sqrt(2))
DEFINITIONS: dict[str, Callable[[mpmath.mpf], mpmath.mpf]] = {
    "gaussian": lambda t: mpmath.exp(-t * t / 2),
    "exponential": lambda t: mpmath.exp(-t),
    "silverman": lambda t: (
        mpmath.exp(-t / mpmath.sqrt(2)) * mpmath.sin(t / mpmath.sqrt(2) + mpmath.pi / 4)
    ),
    "uniform": lambda _: mpmath.mpf(1),
    "triangular": lambda t: 1 - t,
    "tricube": lambda t: (1 - t**3) ** 3,
    "cosine": lambda t: mpmath.cos(mpmath.pi * t / 2),
    "epanechnikov": lambda t: 1 - t * t,
}

every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=lambda k: k.name)


def area_of_unit_sphere(d: int) -> float:
    return 2 * math.pi ** (d / 2) / math.gamma(d / 2)


def radial_integral(kernel: Kernel, d: int, power: int, extra: int = 0) -> float:
    """∫ |u|^extra K(u)^power du over Rᵈ, by quadrature of the normalized kernel."""
    c = math.exp(kernel.log_normaliser(d))

    def shell(t: float) -> float:
        return area_of_unit_sphere(d) * t ** (d - 1 + extra) * (c * kernel.profile(t)) ** power

    value, _ = integrate.quad(shell, 0, min(kernel.support, 80.0), epsabs=0, epsrel=1e-12)
    return float(value)


def log_radial_moment(name: str, a: int, p: int) -> mpmath.mpf:
    """Log of ∫ t^(a-1) k(t)^p dt to 30 digits; the integrand is scaled to a peak of order one."""
    with mpmath.workdps(30):
        k = DEFINITIONS[name]
        if name == "gaussian":
            middle, width, edge = mpmath.sqrt(mpmath.mpf(a) / p), mpmath.mpf(1), mpmath.inf
        elif name == "exponential":
            middle, width, edge = mpmath.mpf(a) / p, mpmath.sqrt(a), mpmath.inf
        else:
            edge = +SILVERMAN_EDGE if name == "silverman" else mpmath.mpf(1)
            middle, width = edge * (1 - mpmath.mpf(1) / (a + 1)), edge / (a + 1)
        cuts = {mpmath.mpf(0), *(min(max(middle + j * width, 0), edge) for j in range(-70, 71, 10))}
        scale = middle ** (a - 1) * k(middle) ** p
        ratio = mpmath.quad(lambda t: t ** (a - 1) * k(t) ** p / scale, sorted({*cuts, edge}))
        return mpmath.log(ratio) + mpmath.log(scale)


def log_area_of_unit_sphere(d: int) -> mpmath.mpf:
    with mpmath.workdps(30):
        return mpmath.log(2) + mpmath.log(mpmath.pi) * d / 2 - mpmath.loggamma(mpmath.mpf(d) / 2)


def test_codes_are_in_the_order_of_the_core() -> None:
    names = "gaussian exponential silverman uniform triangular tricube cosine epanechnikov"
    assert [k.name for k in sorted(KERNELS.values(), key=lambda k: k.code)] == names.split()
    assert sorted(k.code for k in KERNELS.values()) == list(range(len(KERNELS)))
    assert all(KERNELS[name].name == name for name in KERNELS)


def test_only_gaussian_and_exponential_are_infinite() -> None:
    assert {k.name for k in KERNELS.values() if k.infinite} == {"gaussian", "exponential"}


@every_kernel
def test_profile_is_the_definition_inside_the_support(kernel: Kernel) -> None:
    t = np.linspace(0.0, min(kernel.support, 8.0), 41)[:-1]
    expected = [float(DEFINITIONS[kernel.name](mpmath.mpf(x))) for x in t]
    np.testing.assert_allclose(kernel.profile(t), expected, rtol=1e-14, atol=1e-16)


@every_kernel
def test_profile_never_rises_and_is_never_negative(kernel: Kernel) -> None:
    edge = min(kernel.support, 40.0)
    t = np.concatenate([np.linspace(0, 1.5 * edge, 5000), edge - np.geomspace(1e-16, 1e-3, 50)])
    k = kernel.profile(np.sort(t))
    assert (k >= 0).all()
    assert (np.diff(k) <= 1e-16).all()


@every_kernel
def test_profile_is_exactly_zero_outside_the_support(kernel: Kernel) -> None:
    beyond = math.nextafter(kernel.support, math.inf)
    assert (kernel.profile([beyond, 1e200, math.inf]) == 0).all()


def test_only_the_uniform_kernel_is_positive_at_its_edge() -> None:
    compact = [k for k in KERNELS.values() if not k.infinite]
    assert {k.name for k in compact if k.profile(k.support) > 0} == {"uniform"}
    assert get_kernel("uniform").profile(1.0) == 1.0


def test_silverman_is_not_rescaled_and_ends_at_its_first_zero() -> None:
    silverman = get_kernel("silverman")
    assert silverman.profile(0.0) == math.sin(math.pi / 4)
    assert silverman.support == pytest.approx(3 * math.pi / (2 * math.sqrt(2)), rel=1e-15)
    assert silverman.profile(silverman.support * (1 - 1e-6)) > 0


def test_profile_keeps_the_shape_and_lets_nan_through() -> None:
    assert get_kernel("cosine").profile(np.zeros((2, 3))).shape == (2, 3)
    assert get_kernel("cosine").profile(0.5).shape == ()
    assert np.isnan(get_kernel("cosine").profile(np.nan))


@every_kernel
@pytest.mark.parametrize("d", range(1, 7))
def test_kernel_integrates_to_one(kernel: Kernel, d: int) -> None:
    assert radial_integral(kernel, d, power=1) == pytest.approx(1.0, rel=1e-11)


@every_kernel
@pytest.mark.parametrize("d", range(1, 7))
def test_roughness_is_the_integral_of_the_square(kernel: Kernel, d: int) -> None:
    expected = radial_integral(kernel, d, power=2)
    assert math.exp(kernel.log_roughness(d)) == pytest.approx(expected, rel=1e-11)


@every_kernel
@pytest.mark.parametrize("d", range(1, 7))
def test_variance_is_the_mean_square_of_one_coordinate(kernel: Kernel, d: int) -> None:
    expected = radial_integral(kernel, d, power=1, extra=2) / d
    assert kernel.variance(d) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    ("name", "d", "normaliser", "roughness", "variance"),
    [
        ("gaussian", 2, 1 / (2 * math.pi), 1 / (4 * math.pi), 1.0),
        ("exponential", 1, 1 / 2, 1 / 4, 2.0),
        ("uniform", 3, 3 / (4 * math.pi), 3 / (4 * math.pi), 1 / 5),
        ("triangular", 1, 1.0, 2 / 3, 1 / 6),
        ("tricube", 1, 70 / 81, 175 / 247, 35 / 243),
        ("cosine", 1, math.pi / 4, math.pi**2 / 16, 1 - 8 / math.pi**2),
        ("epanechnikov", 2, 2 / math.pi, 4 / (3 * math.pi), 1 / 6),
    ],
)
def test_textbook_constants(
    name: str, d: int, normaliser: float, roughness: float, variance: float
) -> None:
    kernel = get_kernel(name)
    assert math.exp(kernel.log_normaliser(d)) == pytest.approx(normaliser, rel=1e-14)
    assert math.exp(kernel.log_roughness(d)) == pytest.approx(roughness, rel=1e-14)
    assert kernel.variance(d) == pytest.approx(variance, rel=1e-14)


@every_kernel
@pytest.mark.parametrize("d", [10, 100, 1000])
def test_facts_hold_to_thirteen_digits_in_high_dimension(kernel: Kernel, d: int) -> None:
    first, second = (log_radial_moment(kernel.name, d, p) for p in (1, 2))
    log_c = -log_area_of_unit_sphere(d) - first
    log_roughness = second - first + log_c
    with mpmath.workdps(30):
        variance = mpmath.exp(log_radial_moment(kernel.name, d + 2, 1) - first) / d
    assert abs(kernel.log_normaliser(d) - log_c) <= 1e-14 * max(1, abs(log_c))
    assert abs(kernel.log_roughness(d) - log_roughness) <= 1e-14 * max(1, abs(log_roughness))
    assert abs(kernel.variance(d) / variance - 1) <= 1e-14


def test_facts_hold_where_the_normaliser_of_silverman_passes_one() -> None:
    # Near d = 180 large logarithms cancel, which makes it the hardest of all dimensions to 1000.
    silverman = get_kernel("silverman")
    for d in range(165, 190, 4):
        first, second = (log_radial_moment("silverman", d, p) for p in (1, 2))
        log_c = -log_area_of_unit_sphere(d) - first
        assert abs(silverman.log_normaliser(d) - log_c) < 1e-13
        assert abs(silverman.log_roughness(d) - (second - first + log_c)) < 1e-13


@every_kernel
def test_facts_accept_numpy_integers(kernel: Kernel) -> None:
    d = np.int32(1000)
    assert kernel.log_roughness(d) == kernel.log_roughness(1000)
    assert kernel.variance(d) == kernel.variance(1000)


def test_aliases_name_the_same_kernel() -> None:
    assert get_kernel("tophat") is get_kernel("uniform")
    assert get_kernel("linear") is get_kernel("triangular")


def test_unknown_name_is_repeated_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"'boxcar'.*'gaussian'.*'epanechnikov'.*'tophat'") as info:
        get_kernel("boxcar")
    assert "did you mean" not in str(info.value)


@pytest.mark.parametrize(
    ("typed", "meant"), [("gausian", "gaussian"), ("Epanechnikov", "epanechnikov")]
)
def test_misspelled_name_gets_a_suggestion(typed: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"'{typed}'; did you mean '{meant}'"):
        get_kernel(typed)


@pytest.mark.parametrize("name", [None, 3, ["gaussian"]])
def test_name_that_is_no_string_is_a_type_error(name: object) -> None:
    with pytest.raises(TypeError, match=r"must be a name, got .*'gaussian'"):
        get_kernel(name)  # type: ignore[arg-type]


@every_kernel
def test_kernel_survives_pickle_and_copy_as_the_same_value(kernel: Kernel) -> None:
    assert pickle.loads(pickle.dumps(kernel)) is kernel
    assert copy.deepcopy(kernel) is kernel


def test_kernels_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        get_kernel("cosine").support = 2.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        KERNELS["cosine"] = get_kernel("uniform")  # type: ignore[index]
