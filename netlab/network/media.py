"""Shared media of links: a table with a row for each, read by the host, by the guest and by the formulas.

A row has the medium's options and the time that each frame takes, in whole microseconds, as the standard counts it.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from netlab.base.errors import one_of
from netlab.base.headers import MTU_BYTES
from netlab.base.rules import Choice, Flag, violations
from netlab.base.values import is_number, short_repr

OFDM_RATES_MBPS = (6, 9, 12, 18, 24, 36, 48, 54)
MANDATORY_RATES_MBPS = (6, 12, 24)
"""Rates that every 802.11g station understands; an acknowledgement takes the highest that is no faster than the data."""
DSSS_RATES_MBPS = (1, 2, 5.5, 11)
"""Rates of 802.11b."""
PROTECTIONS = ("none", "cts", "rts")

MAC_HEADER_BYTES = 28
"""A data frame's header (24 bytes) and check sequence (4 bytes), with three addresses and without QoS (IEEE 802.11)."""
LLC_BYTES = 8
"""The LLC and SNAP headers, which mark the payload as an IP packet."""
ACK_BYTES = CTS_BYTES = 14
RTS_BYTES = 20

SIFS_US = 10
SHORT_SLOT_US = 9
LONG_SLOT_US = 20
OFDM_PREAMBLE_US = 20
"""The training sequence (16 us) and the signal field (4 us)."""
OFDM_SYMBOL_US = 4
SIGNAL_EXTENSION_US = 6
OFDM_SERVICE_AND_TAIL_BITS = 22
DSSS_LONG_PREAMBLE_US = 192
DSSS_SHORT_PREAMBLE_US = 96
MIN_WINDOW = 15
MAX_WINDOW = 1023
MAX_ATTEMPTS = 7


@dataclass(frozen=True)
class Wifi:
    """The timing of frames on 802.11g: the distributed coordination function (DCF) over ERP-OFDM.

    References
    ----------
    IEEE 802.11-2016, clauses 10.3 (DCF), 16 (802.11b), 17.4.3 (TXTIME of OFDM) and 18 (ERP).

    Examples
    --------
    >>> Wifi().data_us(1500), Wifi().ack_us, Wifi().difs_us
    (254, 34, 28)
    """

    rate_mbps: int = 54
    """Rate of a station's data frames in Mbit/s: 6, 9, 12, 18, 24, 36, 48 or 54. Each end of a link may have its own."""
    protection: str = "none"
    """The frames before a data frame: none, a CTS to the sender itself, or RTS and CTS."""
    protection_rate_mbps: float | None = None
    """Rate of RTS and CTS in Mbit/s: 6, 12 or 24 (OFDM), or 1, 2, 5.5 or 11, which 802.11b stations understand. None
    means the rate of the acknowledgements.
    """
    protect_above_bytes: int = 0
    """Frames up to this size in bytes (MAC header and check sequence included) are sent without protection."""
    short_slot: bool = True
    """True for a slot of 9 us; False for 20 us, which stations of 802.11b need."""
    short_preamble: bool = False
    """The 802.11b preamble of 96 us instead of 192."""
    error_rate: float = 0.0
    """Probability in [0, 1) that a data frame is received with errors and must be sent again."""

    def problems(self) -> Iterator[str]:
        """Yield a message for each field with an invalid value."""
        if not is_number(self.rate_mbps) or self.rate_mbps not in OFDM_RATES_MBPS:
            yield f"rate_mbps must be one of {_list_text(OFDM_RATES_MBPS)}, got {short_repr(self.rate_mbps)}"
        yield from violations({"protection": Choice(PROTECTIONS)}, self)
        allowed = (*MANDATORY_RATES_MBPS, *DSSS_RATES_MBPS)
        rate_mbps = self.protection_rate_mbps
        if rate_mbps is not None and not (is_number(rate_mbps) and rate_mbps in allowed):
            yield f"protection_rate_mbps must be one of {_list_text(allowed)}, got {short_repr(rate_mbps)}"
        if not (is_number(self.protect_above_bytes) and self.protect_above_bytes >= 0):
            yield f"protect_above_bytes must be 0 or more, got {short_repr(self.protect_above_bytes)}"
        yield from violations({"short_slot": Flag(), "short_preamble": Flag()}, self)
        if not (is_number(self.error_rate) and 0 <= self.error_rate < 1):
            yield f"error_rate must be in [0, 1), got {short_repr(self.error_rate)}"

    @property
    def slot_us(self) -> int:
        """The duration in us of a slot of the backoff."""
        return SHORT_SLOT_US if self.short_slot else LONG_SLOT_US

    @property
    def difs_us(self) -> int:
        """The time in us for which the medium must be idle before a station counts down its backoff."""
        return SIFS_US + 2 * self.slot_us

    @property
    def ack_us(self) -> int:
        """The duration in us of the acknowledgement that the MAC sends for each data frame."""
        return self._ofdm_us(ACK_BYTES, self._answer_rate_mbps)

    def data_us(self, packet_bytes: int) -> int:
        """Return the duration in us of a data frame with an IP packet of `packet_bytes` bytes."""
        return self._ofdm_us(packet_bytes + LLC_BYTES + MAC_HEADER_BYTES, self.rate_mbps)

    def protection_us(self, packet_bytes: int) -> int:
        """Return the time in us before a packet's data frame, for RTS, CTS and a SIFS after each; 0 if unprotected."""
        if not self._needs_protection(packet_bytes):
            return 0
        cts_us = self._control_us(CTS_BYTES) + SIFS_US
        return cts_us if self.protection == "cts" else self._control_us(RTS_BYTES) + SIFS_US + cts_us

    def exchange_us(self, packet_bytes: int) -> int:
        """Return the medium's time in us for one packet: protection, data, SIFS and ACK, without idle slots."""
        return self.protection_us(packet_bytes) + self.data_us(packet_bytes) + SIFS_US + self.ack_us

    def collision_us(self, packet_bytes: int) -> int:
        """Return the medium's time in us for a packet that collides: its sender waits as long as for a reply."""
        if self.protection == "rts" and self._needs_protection(packet_bytes):
            return self._control_us(RTS_BYTES) + SIFS_US + self._control_us(CTS_BYTES)
        return self.exchange_us(packet_bytes)

    @property
    def slowest_us(self) -> float:
        """The mean time in us that a full-sized packet takes on an idle medium, with DIFS and backoff."""
        return self.difs_us + MIN_WINDOW / 2 * self.slot_us + self.exchange_us(MTU_BYTES)

    def _needs_protection(self, packet_bytes: int) -> bool:
        """Return whether protection frames precede the data frame of an IP packet of `packet_bytes` bytes."""
        return self.protection != "none" and packet_bytes + LLC_BYTES + MAC_HEADER_BYTES > self.protect_above_bytes

    @property
    def _answer_rate_mbps(self) -> int:
        """The rate of acknowledgements in Mbit/s."""
        return max(rate for rate in MANDATORY_RATES_MBPS if rate <= self.rate_mbps)

    def _control_us(self, frame_bytes: int) -> int:
        """Return the duration in us of an RTS or CTS frame of `frame_bytes` bytes."""
        rate_mbps = self.protection_rate_mbps or self._answer_rate_mbps
        if rate_mbps in DSSS_RATES_MBPS:
            preamble_us = DSSS_SHORT_PREAMBLE_US if self.short_preamble else DSSS_LONG_PREAMBLE_US
            return preamble_us + math.ceil(frame_bytes * 8 / rate_mbps)
        return self._ofdm_us(frame_bytes, rate_mbps)

    @staticmethod
    def _ofdm_us(frame_bytes: int, rate_mbps: float) -> int:
        """Return the duration in us of an OFDM frame of `frame_bytes` at `rate_mbps`, with preamble and extension."""
        symbols = math.ceil((frame_bytes * 8 + OFDM_SERVICE_AND_TAIL_BITS) / (OFDM_SYMBOL_US * rate_mbps))
        return OFDM_PREAMBLE_US + OFDM_SYMBOL_US * symbols + SIGNAL_EXTENSION_US


MEDIA: dict[str, type[Wifi]] = {"802.11g": Wifi}


def problems(medium: object, options: object) -> Iterator[str]:
    """Yield a message for each mistake in a link's `medium` and `medium_options`."""
    if medium is None:
        if options != {}:
            yield f"medium_options={short_repr(options)} needs a medium, such as medium='802.11g'"
        return
    if not isinstance(medium, str) or medium not in MEDIA:
        yield f"medium: {one_of(medium, list(MEDIA))}"
        return
    if not isinstance(options, Mapping):
        yield f"medium_options must be a mapping of names to values, got {short_repr(options)}"
        return
    names = [one.name for one in fields(MEDIA[medium])]
    unknown = [name for name in options if name not in names]
    if unknown:
        yield from (f"medium_options: {one_of(name, names)}" for name in unknown)
        return
    yield from (f"medium_options: {sentence}" for sentence in MEDIA[medium](**options).problems())


def medium(name: str, options: Mapping[str, Any]) -> Wifi:
    """Return the medium of this name with these options, which must be valid."""
    return MEDIA[name](**options)


def _list_text(values: tuple[float, ...]) -> str:
    """Return the numbers as text with commas."""
    return ", ".join(f"{value:g}" for value in values)
