"""numeric.py: Fractions as long as every step is rational, mpf of DIGITS digits from the first irrational step on."""
import math
from fractions import Fraction

from mpmath import mp

DIGITS = 120
mp.dps = DIGITS
ZERO, ONE = Fraction(0), Fraction(1)
VANISHES = mp.mpf(10) ** -80   # below this part of its absolute terms a sum is 0: they cancel but for our rounding


def number(text):
    """The double nearest to the text."""
    return Fraction(float(text))


def real(x):
    """x as an mpf of DIGITS digits."""
    return mp.mpf(x.numerator) / x.denominator if isinstance(x, Fraction) else x


def over(a, b):
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a / b
    return real(a) / real(b)


def less(a, b):
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a < b
    return real(a) < real(b)


def largest(values):
    best = values[0]
    for x in values[1:]:
        best = x if less(best, x) else best
    return best


def smallest(values):
    best = values[0]
    for x in values[1:]:
        best = x if less(x, best) else best
    return best


def power(x, n):
    return ONE if n == 0 else x ** n


def exp(x):
    return ONE if x == 0 else mp.exp(real(x))


def ln(x):
    return ZERO if x == 1 else mp.log(real(x))


def tanh(x):
    return ZERO if x == 0 else mp.tanh(real(x))


def cosine(x):
    return ONE if x == 0 else mp.cos(real(x))


def sine(x):
    return ZERO if x == 0 else mp.sin(real(x))


def root(x):
    """sqrt(x); a Fraction where x is the square of one."""
    if isinstance(x, Fraction):
        num, den = math.isqrt(x.numerator), math.isqrt(x.denominator)
        if num * num == x.numerator and den * den == x.denominator:
            return Fraction(num, den)
    return mp.sqrt(real(x))


def settled(value, size):
    """The value of a sum of absolute terms `size`; ZERO where its terms cancel but for our own rounding."""
    return value if isinstance(value, Fraction) or abs(value) > VANISHES * size else ZERO


class Sum:
    """A sum and the sum of its absolute terms (`size`: those that a term was itself added from)."""

    def __init__(self):
        self.value, self.size = ZERO, mp.mpf(0)

    def add(self, x, size=None):
        self.value = self.value + x
        self.size += abs(real(x)) if size is None else size

    def vanishes(self):
        return self.settled() == 0

    def settled(self):
        """The value, ZERO where its terms cancel."""
        return settled(self.value, self.size)


def total(values):
    s = ZERO
    for x in values:
        s = s + x
    return s


def softmax_at(values, at):
    return over(exp(values[at] + -values[at]), total([exp(x + -values[at]) for x in values]))
