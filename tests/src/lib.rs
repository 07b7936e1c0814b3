//! Behaviour of locsteal seen from outside: the tests stand in `tests/`.
