"""The help of a command: plain text, the same in a terminal, a pipe and a small window."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class PlainCommand(TyperCommand):
    """A command whose help shows arguments and values as the documentation writes them."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The arguments in the usage line; one that can be left out is in brackets."""
        arguments = [parameter for parameter in self.params if _is_argument(parameter)]
        names = [_name(a) if a.required else f"[{_name(a)}]" for a in arguments]
        return ["[OPTIONS]", *names]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the list of arguments and that of options."""
        parameters = self.get_params(ctx)
        rows = {
            "Arguments": [
                (_name(p), getattr(p, "help", "")) for p in parameters if _is_argument(p)
            ],
            "Options": [
                (spelled.replace("<", "").replace(">", ""), about)
                for p in parameters
                if not _is_argument(p) and (record := p.get_help_record(ctx))
                for spelled, about in [record]
            ],
        }
        for title, listed in rows.items():
            if listed:
                with formatter.section(title):
                    formatter.write_dl(listed)

    def get_short_help_str(self, limit: int = 45) -> str:
        """The first paragraph of the help, for the list of commands; never cut."""
        return " ".join((self.help or "").partition("\n\n")[0].split())


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _name(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())
