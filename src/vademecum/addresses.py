"""Addresses of servers: their form, and whether they are local.

Consent to send text elsewhere depends only on these functions.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Return whether a host's name or number reaches only this machine.

    >>> [is_loopback(host) for host in ("127.0.0.1", "localhost", "::1", "0.0.0.0", "127.0.0.1.example.org", "")]
    [True, True, True, False, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name may lead anywhere
        return host == "localhost"


def is_elsewhere(url: str) -> bool:
    """Return whether an address is another machine's.

    Local are loopback addresses and `localhost`.

    >>> is_elsewhere("http://[::1]:6333"), is_elsewhere("https://example.org/v1")
    (False, True)
    """
    return not is_loopback(urlsplit(url).hostname or "")


def is_address(url: str) -> bool:
    """Return whether a text is a plain server address.

    An address with a query, a name or a password is not.

    >>> [is_address(url) for url in ("http://127.0.0.1:11434", "https://u:p@x.org", "x.org", "http://x.org:port")]
    [True, False, False, False]
    """
    try:
        parts = urlsplit(url)
        whole = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # such as a port that is no number
        return False
    plain = url.isascii() and url.isprintable() and " " not in url
    return whole and plain and not parts.query and not parts.fragment and parts.username is None
