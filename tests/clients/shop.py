"""A small shop in Python and Go for the clients to ask about; every longer line of code occurs once."""

from __future__ import annotations

from collections.abc import Mapping

RETRY = '''\
"""Calls over the network."""

import time


def retry_with_backoff(call, attempts=3, base=0.5):
    """Call again after a pause that doubles, up to a number of attempts."""
    for attempt in range(attempts):
        try:
            return call()
        except ConnectionError:
            if attempt + 1 == attempts:
                raise
            time.sleep(base * 2**attempt)
'''
PAYMENT = '''\
"""Payments at the bank."""

from shop.retry import retry_with_backoff


class PaymentRefused(Exception):
    """The bank says no."""


def charge(bank, card, cents):
    """Charge a card at the bank; a lost connection is tried again."""
    receipt = retry_with_backoff(lambda: bank.post("/charges", card=card, amount=cents))
    if receipt["status"] != "paid":
        raise PaymentRefused(receipt["reason"])
    return receipt["id"]


def refund(bank, receipt_id):
    """Give the money of a receipt back."""
    return retry_with_backoff(lambda: bank.post("/refunds", receipt=receipt_id), attempts=5)
'''
CART = '''\
"""Carts and their totals."""

from dataclasses import dataclass, field


@dataclass
class Line:
    """An article and how often it is bought."""

    article: str
    cents: int
    count: int = 1


@dataclass
class Cart:
    """All that a customer is about to buy."""

    lines: list[Line] = field(default_factory=list)

    def add(self, article, cents, count=1):
        """Add an article."""
        self.lines.append(Line(article, cents, count))

    def total_cents(self):
        """Sum up the lines, before any discount."""
        return sum(line.cents * line.count for line in self.lines)
'''
DISCOUNT = '''\
"""Discounts by voucher."""

VOUCHERS = {"SPRING": 10, "LOYAL": 15}


class UnknownVoucher(KeyError):
    """Nobody has issued the voucher."""


def discounted(total_cents, voucher):
    """Take the percentage of a voucher off a total, rounded down to whole cents."""
    if voucher not in VOUCHERS:
        raise UnknownVoucher(voucher)
    return total_cents - total_cents * VOUCHERS[voucher] // 100
'''
CHECKOUT = '''\
"""From a cart to a paid order."""

from shop.discount import discounted
from shop.payment import charge


def check_out(cart, bank, card, voucher=None):
    """Turn a cart into a paid order; the voucher counts before the card is charged."""
    amount = cart.total_cents()
    if voucher is not None:
        amount = discounted(amount, voucher)
    receipt_id = charge(bank, card, amount)
    return {"receipt": receipt_id, "amount": amount, "lines": len(cart.lines)}
'''
STOCK = '''\
"""Articles in the warehouse."""


class SoldOut(Exception):
    """Fewer articles are left than were asked for."""


def reserve(stock, article, count):
    """Set articles aside until the order is paid."""
    left = stock.get(article, 0)
    if left < count:
        raise SoldOut(f"{left} of {article} left")
    stock[article] = left - count
'''
TEST_CHECKOUT = """\
from shop.cart import Cart
from shop.checkout import check_out


class FakeBank:
    def post(self, path, **_):
        return {"status": "paid", "id": f"r-{path}"}


def test_a_voucher_counts_before_the_charge():
    cart = Cart()
    cart.add("teapot", 2_000)
    assert check_out(cart, FakeBank(), "4242", voucher="SPRING")["amount"] == 1_800
"""
LIMIT = """\
// Package gateway stands in front of the shop.
package gateway

import (
	"net/http"
	"sync"
	"time"
)

// RateLimiter allows a number of requests per client and minute.
type RateLimiter struct {
	mu     sync.Mutex
	most   int
	counts map[string]int
	since  time.Time
}

// Allow reports whether a client may make one more request.
func (l *RateLimiter) Allow(client string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.since) >= time.Minute {
		l.counts, l.since = map[string]int{}, now
	}
	l.counts[client]++
	return l.counts[client] <= l.most
}

// Limited answers 429 to clients that ask too often.
func Limited(l *RateLimiter, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !l.Allow(r.RemoteAddr, time.Now()) {
			http.Error(w, "slow down", http.StatusTooManyRequests)
			return
		}
		next.ServeHTTP(w, r)
	})
}
"""
ROUTES = """\
package gateway

import "net/http"

// Routes joins the shop's addresses to their handlers.
func Routes(shop http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/checkout", Limited(&RateLimiter{most: 30}, shop))
	mux.HandleFunc("/health", health)
	return mux
}

func health(w http.ResponseWriter, _ *http.Request) {
	w.WriteHeader(http.StatusNoContent)
}
"""
README = """\
# Shop

Sells teapots.

## Payments

A charge that loses its connection is tried again, see `shop/retry.py`.

## Limits

The gateway allows thirty checkouts per client and minute.
"""
SHOP: Mapping[str, str] = {
    ".gitignore": ".gemini/\n",  # Gemini CLI's settings lie in the folder
    "shop/__init__.py": "",
    "shop/retry.py": RETRY,
    "shop/payment.py": PAYMENT,
    "shop/cart.py": CART,
    "shop/discount.py": DISCOUNT,
    "shop/checkout.py": CHECKOUT,
    "shop/stock.py": STOCK,
    "tests/test_checkout.py": TEST_CHECKOUT,
    "gateway/limit.go": LIMIT,
    "gateway/routes.go": ROUTES,
    "go.mod": "module example.org/shop\n\ngo 1.22\n",
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1.0"\n',
    "README.md": README,
}
SHORTEST_LINE = 24  # a shorter line, as `mux := http.NewServeMux()` nearly is, may well be written twice


def lines_of_code() -> list[str]:
    """Return the lines of code that a text can be searched for: long enough, and there once."""
    sources = [text for path, text in SHOP.items() if path.endswith((".py", ".go"))]
    lines = [line.strip() for text in sources for line in text.splitlines()]
    return [line for line in dict.fromkeys(lines) if len(line) >= SHORTEST_LINE and "\n".join(sources).count(line) == 1]
