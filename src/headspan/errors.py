"""The one exception type that a user of headspan has to know."""


class HeadspanError(Exception):
    """Something a user gave to headspan cannot be used; the message says what and why."""
