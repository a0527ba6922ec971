# SPDX-License-Identifier: Apache-2.0
"""The group ristretto255, by RFC 9496. It is not constant-time: use it for tests only."""

from __future__ import annotations

from dataclasses import dataclass

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
SQRT_M1 = pow(2, (P - 1) // 4, P)
ELEMENT_BYTES = 32


class NoElement(ValueError):
    """Bytes that encode no element."""


def _is_negative(number: int) -> bool:
    return number % P % 2 == 1


def _absolute(number: int) -> int:
    return -number % P if _is_negative(number) else number % P


def _sqrt_ratio(u: int, v: int) -> tuple[bool, int]:
    """Whether u/v is a square, and the non-negative root of it, or of its product with the root of -1 (4.2)."""
    root = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    check = v * root * root % P
    u %= P
    is_square = check == u
    if check == -u % P or check == -u * SQRT_M1 % P:
        root = root * SQRT_M1 % P
    return is_square or check == -u % P, _absolute(root)


_SQRT_AD_MINUS_ONE = next(
    root if root == 25063068953384623474111414158702152701244531502492656460079210482610430750235 else -root % P
    for root in [_sqrt_ratio(-D - 1, 1)[1]]
)
_INVSQRT_A_MINUS_D = _sqrt_ratio(1, -1 - D)[1]


@dataclass(frozen=True)
class Element:
    """A point in extended coordinates."""

    x: int
    y: int
    z: int
    t: int

    def __add__(self, other: Element) -> Element:
        a = (self.y - self.x) * (other.y - other.x)
        b = (self.y + self.x) * (other.y + other.x)
        c = 2 * self.t * other.t * D
        d = 2 * self.z * other.z
        e, f, g, h = b - a, d - c, d + c, b + a
        return Element(e * f % P, g * h % P, f * g % P, e * h % P)

    def __rmul__(self, scalar: int) -> Element:
        result, power = IDENTITY, self
        while scalar:
            if scalar & 1:
                result += power
            power += power
            scalar >>= 1
        return result

    def __bytes__(self) -> bytes:
        u1 = (self.z + self.y) * (self.z - self.y) % P
        u2 = self.x * self.y % P
        _, inverse = _sqrt_ratio(1, u1 * u2 * u2)
        den1, den2 = inverse * u1 % P, inverse * u2 % P
        z_inverse = den1 * den2 * self.t % P
        x, y, den = self.x, self.y, den2
        if _is_negative(self.t * z_inverse):
            x, y, den = self.y * SQRT_M1 % P, self.x * SQRT_M1 % P, den1 * _INVSQRT_A_MINUS_D % P
        if _is_negative(x * z_inverse):
            y = -y
        return _absolute(den * (self.z - y)).to_bytes(32, "little")

    @property
    def is_identity(self) -> bool:
        return bytes(self) == bytes(ELEMENT_BYTES)


IDENTITY = Element(0, 1, 1, 0)


def decode(encoded: bytes) -> Element:
    s = int.from_bytes(encoded, "little")
    if len(encoded) != ELEMENT_BYTES or s >= P or _is_negative(s):
        raise NoElement(encoded.hex())
    u1, u2 = (1 - s * s) % P, (1 + s * s) % P
    v = (-D * u1 * u1 - u2 * u2) % P
    is_square, inverse = _sqrt_ratio(1, v * u2 * u2)
    den_x = inverse * u2 % P
    x = _absolute(2 * s * den_x)
    y = u1 * inverse * den_x * v % P
    t = x * y % P
    if not is_square or _is_negative(t) or y == 0:
        raise NoElement(encoded.hex())
    return Element(x, y, 1, t)


def from_uniform(uniform: bytes) -> Element:
    """The element that 64 bytes map to (4.3.4)."""
    halves = uniform[:32], uniform[32:]
    one, other = (_map(int.from_bytes(half, "little") % 2**255) for half in halves)
    return one + other


def _map(t: int) -> Element:
    r = SQRT_M1 * t * t % P
    u = (r + 1) * (1 - D * D) % P
    v = (-1 - r * D) * (r + D) % P
    was_square, s = _sqrt_ratio(u, v)
    c = P - 1
    if not was_square:
        s, c = -_absolute(s * t) % P, r
    n = (c * (r - 1) * (D - 1) ** 2 - v) % P
    w0, w1, w2, w3 = 2 * s * v, n * _SQRT_AD_MINUS_ONE, 1 - s * s, 1 + s * s
    return Element(w0 * w3 % P, w2 * w1 % P, w1 * w3 % P, w0 * w2 % P)
