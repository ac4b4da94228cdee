"""The TMM constants and the coherence formula: C = 1 - (E_D + V_r x PHI) / V_t.

Pure: no I/O, no clock, no Django. PHI and OMEGA are defined here and nowhere
else (a test checks); no argument, setting or environment variable changes them.

Policy
- A verdict is approved at C >= OMEGA; the threshold itself passes.
- Nothing is rounded (C13), so comparing the recorded score and threshold always
  reproduces the decision.
"""

from typing import Final

PHI: Final = 0.042
OMEGA: Final = 1 - (PHI / 1.61803398875)

# The document's minimum, for the verdict field alone. It also prevents division by zero.
MINIMUM_V_T: Final = 1.0


def coherence(*, v_t: float, v_r: float, e_d: float) -> float:
    """C for total value `v_t`, inconsistency `v_r` and structural entropy `e_d`."""
    if v_t < MINIMUM_V_T:
        raise ValueError(f"V_t must be at least {MINIMUM_V_T}, not {v_t}")
    return 1 - (e_d + v_r * PHI) / v_t
