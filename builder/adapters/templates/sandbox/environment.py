"""The only factory of environments. It says what may be read and called; `grammar` bounds the text, `runtime` the costs."""

from collections.abc import ItemsView, KeysView, Mapping, ValuesView
from contextlib import suppress
from functools import cache, lru_cache
from typing import Any, cast

from jinja2 import Environment, Template, nodes
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context, LoopContext, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from builder.adapters.templates.sandbox.filters import OWN_FILTERS
from builder.adapters.templates.sandbox.generator import Generator
from builder.adapters.templates.sandbox.grammar import check_brackets, check_source, check_tree
from builder.adapters.templates.sandbox.operations import METHODS, counted_filters, counted_tests, of_method, of_operator
from builder.adapters.templates.sandbox.runtime import AbsentValue, Missing, Words, charge, charge_for, is_none, step
from builder.assemble.items.list_items import quote

LOOP_FIELDS = frozenset(
    {"index", "index0", "revindex", "revindex0", "first", "last", "length", "previtem", "nextitem", "changed"}
)
MAX_TREES = 128
MAX_TEMPLATES = 512
MAX_KEY_CHARS = 100
_QUOTES = {ord(sign): "…" for sign in "'\"\\"}


def is_item(value: Any, key: Any) -> bool:
    """Whether the object has this field."""
    try:
        return isinstance(value, Mapping) and key in value
    except TypeError:
        return False


def is_readable(value: Any, name: str) -> bool:
    """An allowed method, or a loop's field."""
    if isinstance(value, LoopContext):
        return name in LOOP_FIELDS
    return any(isinstance(value, kind) and name in methods for kind, methods in METHODS.items())


def check_callable(function: Any) -> None:
    """Raises `SecurityError` unless it is a method for templates."""
    receiver, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if receiver is None or not is_readable(receiver, name):
        raise SecurityError(f"a {type(function).__name__} cannot be called; call methods alone")
    if isinstance(receiver, Words) and name == "format":
        raise SecurityError("the text of a message is no format; write the format yourself")


def is_foreign(value: Any, name: str) -> bool:
    """Whether the attribute is one of Python's."""
    return not isinstance(value, Missing) and (name.startswith("_") or hasattr(type(value), name))


class Sandbox(ImmutableSandboxedEnvironment):
    """Compiles templates whose rendering a `Meter` limits: they run within `metered` only."""

    code_generator_class = Generator
    intercepted_binops = frozenset({"+", "-", "*", "/", "//"})
    step = staticmethod(step)

    def __init__(self) -> None:
        super().__init__(
            undefined=AbsentValue,
            finalize=_written,
            optimized=False,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        self.filters = counted_filters(self.filters)
        self.tests = counted_tests(self.tests)
        self.policies["json.dumps_kwargs"] = {"sort_keys": True, "default": _plain}
        self.globals = {}

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        check_source(source)
        check_brackets(self.lex(source))
        tree = super()._parse(source, name, filename)
        check_tree(tree)
        return tree

    @staticmethod
    def whole(value: Any) -> Any:
        """The value; all that it holds is charged."""
        charge_for(value)
        return value

    @staticmethod
    def joined(*values: Any) -> str:
        """The operator `~`."""
        charge_for(*values)
        return "".join("" if value is None else str(value) for value in values)

    @staticmethod
    def contains(container: Any, item: Any) -> bool:
        """The operator `in`."""
        if isinstance(item, Missing):
            return False
        charge_for(item, *(() if isinstance(container, dict) else (container,)))
        return item in container

    def getattr(self, obj: Any, attribute: str) -> Any:
        """A field, else a method: `body.items` is the field."""
        if is_item(obj, attribute):
            return obj[attribute]
        if is_readable(obj, attribute):
            return getattr(obj, attribute)
        if isinstance(obj, Undefined) and not isinstance(obj, Missing):
            return str(obj)  # raises why it is undefined
        if is_foreign(obj, attribute):
            return self.unsafe_undefined(obj, attribute)
        return self.undefined(obj=obj, name=attribute) if not isinstance(obj, Missing) else obj

    def unsafe_undefined(self, obj: Any, attribute: str) -> Undefined:
        """Raises when it is used; names Python's methods."""
        if attribute.startswith("_"):
            return super().unsafe_undefined(obj, attribute)
        hint = f"the method {attribute!r} is not for templates; use a filter"
        return self.undefined(hint, obj=obj, name=attribute, exc=SecurityError)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """An item, else as `getattr`."""
        if isinstance(argument, Missing):
            argument = ""
        if not isinstance(argument, str | int | float):
            raise SecurityError("an index is no text and no number; use the name of a field")
        if isinstance(obj, dict | list | tuple | str):
            items: Any = obj
            with suppress(TypeError, LookupError):
                return items[argument]
        if isinstance(argument, str):
            return self.getattr(obj, str(argument) if argument.isidentifier() else argument[:MAX_KEY_CHARS].translate(_QUOTES))
        return obj if isinstance(obj, Missing) else self.undefined(obj=obj, name=cast("str", argument))

    def call_binop(self, context: Context, operator: str, first: Any, second: Any) -> Any:
        """The bound of the result is charged first."""
        charge(of_operator(operator, first, second))
        return super().call_binop(context, operator, first, second)

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805, PYI063 - as in Jinja
        """A method that is for templates."""
        if isinstance(__obj, Missing | Undefined):
            return __obj if isinstance(__obj, Missing) else str(__obj)  # raises why it is undefined
        step()
        check_callable(__obj)
        kwargs = {name: value for name, value in kwargs.items() if not name.startswith("_")}  # Jinja adds its own
        if isinstance(__obj.__self__, LoopContext):
            charge_for(*args)
        else:
            args = tuple(map(_argument, args))
            charge(of_method(__obj.__self__, __obj.__name__)(__obj.__self__, *args, **kwargs))
        result = __obj(*args, **kwargs)
        return list(result) if isinstance(result, KeysView | ValuesView | ItemsView) else result


@cache
def sandbox() -> Sandbox:
    """Never changed."""
    return Sandbox()


@lru_cache(MAX_TREES)
def parsed(source: str) -> nodes.Template:
    """Do not change the tree. Raises as `compiled` does."""
    return sandbox().parse(source)


@lru_cache(MAX_TEMPLATES)
def compiled(source: str) -> Template:
    """Compiled once. Raises `NotInLanguage`, and Jinja's and Python's compile errors."""
    return sandbox().from_string(source)


def bare(source: str) -> Template:
    """The template by Jinja alone, without limits; for measurements."""
    environment = Environment(  # noqa: S701 - nothing that is shown comes of it
        undefined=AbsentValue,
        finalize=lambda value: "" if value is None else quote(value),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= OWN_FILTERS
    environment.tests["none"] = is_none
    return environment.from_string(source)


def _argument(value: Any) -> Any:
    if isinstance(value, list) and any(isinstance(item, Missing) for item in value):
        return ["" if isinstance(item, Missing) else item for item in value]
    return "" if isinstance(value, Missing) else value


def _written(value: Any) -> Any:
    if value is None:
        return ""
    charge_for(value)
    return quote(value)


def _plain(value: Any) -> None:
    if not isinstance(value, Missing):
        raise TypeError(f"a {type(value).__name__} is no JSON")
