"""What every test shares: hypothesis gives the same examples in every run and is never timed."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "quickshift",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("quickshift")
