# Copyright: (c) 2026, dgxspark.serving contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recipes: how a model is served, in the community's YAML formats (sparkrun version 2 and eugr version 1).

The formats are read as they are; what we do not honour is said by name, and what would run foreign code waits for
consent. docs/recipes.md describes them for users.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.dgxspark.serving.plugins.module_utils import recipe_command
from ansible_collections.dgxspark.serving.plugins.module_utils.faults import ConfigurationError, Fault
from ansible_collections.dgxspark.serving.plugins.module_utils.recipe_command import Command
from ansible_collections.dgxspark.serving.plugins.module_utils.recipe_format import (
    BACKEND_FLAG,
    CODE_FLAGS,
    HOOKS,
    HOST_ENV,
    HUB_TOKENS,
    INFORMATIVE,
    NOTED,
    PLAIN_FLAGS,
    RANK_FLAGS,
    READ,
    RUNTIMES,
    SETTINGS,
    SINGLE_FLAGS,
    SYNONYMS,
    VERSIONS,
)
from ansible_collections.dgxspark.serving.plugins.module_utils.variables import BACKENDS, named_list, show

_SECRET_NAME = re.compile(r"(^|_)(API_KEY|TOKEN|SECRET|PASSWORD)$")
_REFERENCE = re.compile(r"\$[A-Za-z_{]")


@dataclass(frozen=True)
class Recipe:
    """How a model is served.

    :ivar name: how it is called
    :ivar model: id or path
    :ivar image: empty when the recipe leaves it open
    :ivar engine: ``vllm`` or ``sglang``
    :ivar backend: ``mp``, ``ray``, or empty when the recipe leaves it open
    :ivar settings: further values, by the keys of ``variables.BY_KEY``; only what the recipe gives, as it gives it
    :ivar engine_args: all other flags of its command, dashed, as ``serving_engine_args`` takes them
    :ivar env: environment of the engine
    :ivar min_nodes: least number of hosts of a replica
    :ivar max_nodes: greatest number of hosts of a replica; ``None`` is no limit
    :ivar notes: each key that is not honoured, and why
    :ivar needs_consent: what would run foreign code: its name, and what it does
    :ivar document: the recipe as it was read
    """

    name: str
    model: str
    image: str
    engine: str
    backend: str
    settings: dict[str, Any]
    engine_args: dict[str, Any]
    env: dict[str, str]
    min_nodes: int
    max_nodes: int | None
    notes: list[str]
    needs_consent: dict[str, str]
    document: Mapping[str, Any] = field(repr=False)

    def resolve(self, overrides: Mapping[str, Any], allowed: Collection[str], place: str) -> tuple[Recipe, list[Fault]]:
        """The recipe with a user's values in its placeholders, and with what the user consents to.

        :param overrides: values that stand above the recipe's defaults, by the keys of ``variables.BY_KEY``; those in
            ``engine_args`` count as well. One that no placeholder asks for changes nothing here: the plan lays it over.
        :param allowed: names of ``needs_consent``
        :param place: how a fault names where the user chose the recipe
        """
        consent = {str(name).lstrip("-").replace("-", "_") for name in allowed}
        reader = _Reader(self.document, self.name, _flat(overrides), consent)
        recipe = reader.recipe()
        faults = [
            Fault(
                place,
                f"recipe {self.name} with {name}, which {what}",
                "consent to it by name",
                f"Read the recipe, then add {name} to serving_recipe_allow, or choose another recipe",
            )
            for name, what in reader.needs_consent.items()
            if name not in consent
        ]
        engine = str(overrides.get("engine", self.engine)).lower()
        if engine != self.engine:
            remedy = f"Choose a recipe for {engine}, or leave the engine to the recipe"
            faults.append(Fault(place, f"recipe {self.name} for {self.engine}", f"one for {engine}", remedy))
        return (self, faults + reader.faults) if recipe is None else (recipe, faults)


def parse(document: Mapping[str, Any], name: str) -> Recipe:
    """Read a recipe; what needs consent is left out until :meth:`Recipe.resolve`.

    :param document: the YAML mapping
    :param name: how faults call it
    :raises ConfigurationError: with every fault
    """
    reader = _Reader(document, name, {}, frozenset())
    recipe = reader.recipe()
    if recipe is None:
        raise ConfigurationError(reader.faults)
    return recipe


def size_faults(recipe: Recipe, world_size: int, place: str) -> list[Fault]:
    """What is wrong with serving a recipe on so many hosts.

    :param place: how a fault names the replica
    """
    least, most = recipe.min_nodes, recipe.max_nodes
    if world_size < least:
        wanted = f"at least {least}, as recipe {recipe.name} says"
        remedy = f"Give the replica {_hosts(least)}, or choose a recipe for {_hosts(world_size)}"
    elif most is not None and world_size > most:
        wanted = f"at most {most}, as recipe {recipe.name} says"
        remedy = f"Give the replica {_hosts(most)}, or choose a recipe for {_hosts(world_size)}"
    else:
        return []
    return [Fault(place, _hosts(world_size), wanted, remedy)]


def _draft_model(arguments: Mapping[str, Any]) -> str:
    """The second model that an engine needs for speculative decoding, empty if none."""
    config = arguments.get("speculative-config", "")
    if isinstance(config, str):
        try:
            config = json.loads(config)
        except ValueError:
            config = {}
    draft = config.get("model") if isinstance(config, Mapping) else None
    return str(draft or arguments.get("speculative-draft-model-path") or "")


def _hosts(number: int) -> str:
    return "1 host" if number == 1 else f"{number} hosts"


def _canonical(name: str) -> str:
    """One name for what recipes, flags and our variables call differently."""
    name = name.lstrip("-").replace("-", "_")
    return SYNONYMS.get(name, name)


def _flat(overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Single values by their canonical names; a variable of ours stands above a flag."""
    flags = overrides.get("engine_args")
    given = {**(flags if isinstance(flags, Mapping) else {}), **overrides}
    return {
        _canonical(str(name)): value
        for name, value in given.items()
        if isinstance(value, (str, int, float)) and value != ""
    }


class _Reader:
    """One reading of a document; faults and notes gather on the way."""

    def __init__(
        self, document: Mapping[str, Any], name: str, overrides: Mapping[str, Any], consent: Collection[str]
    ) -> None:
        self.name = name
        self.consent = consent
        self.faults: list[Fault] = []
        self.notes: list[str] = []
        self.needs_consent: dict[str, str] = {}
        extra = document.get("runtime_config")
        # Keys of a runtime may stand in a mapping of their own.
        self.document = {**extra, **document} if isinstance(extra, Mapping) else document
        self.overrides = overrides
        self.original = document
        self.defaults = {
            str(key): overrides.get(_canonical(str(key)), value) for key, value in self._mapping("defaults").items()
        }

    def recipe(self) -> Recipe | None:
        """The recipe, or nothing when there are faults."""
        self._keys()
        least, most = self._size()
        engine, backend = self._runtime()
        model = self._text("model")
        command = self._command(engine, model)
        env = self._env({**command.env, **self._mapping("env")})
        settings, arguments = self._sort(command)
        revision = self._text("model_revision")
        if revision:
            settings.setdefault("model_revision", revision)
        backend = self._backend(arguments, command.engine) or backend
        model = self._model(model, command.model)
        image = self._text("container")
        if self.faults:
            return None
        return Recipe(
            name=self.name,
            model=model,
            image=image,
            engine=command.engine,
            backend=backend,
            settings=settings,
            engine_args=arguments,
            env=env,
            min_nodes=least,
            max_nodes=most,
            notes=self.notes,
            needs_consent=self.needs_consent,
            document=self.original,
        )

    def _place(self, key: str) -> str:
        return f"recipe {self.name}, {key}"

    def _fault(self, key: str, found: str, wanted: str, remedy: str) -> None:
        self.faults.append(Fault(self._place(key), found, wanted, remedy))

    def _mapping(self, key: str) -> Mapping[str, Any]:
        value = self.document.get(key)
        if isinstance(value, Mapping):
            return value
        if value:
            self._fault(key, show(value), "a mapping", "Write name: value")
        return {}

    def _text(self, key: str) -> str:
        value = self.document.get(key)
        if value is None or isinstance(value, str):
            return (value or "").strip()
        self._fault(key, show(value), "text", "Put it in quotation marks")
        return ""

    def _keys(self) -> None:
        version = str(self.document.get("recipe_version", "2"))
        if version not in VERSIONS:
            self._fault("recipe_version", show(version), named_list(VERSIONS), "Use a recipe of such a version")
        for key, value in self.document.items():
            if not value or key in READ or key in INFORMATIVE:
                continue
            if key in HOOKS:
                self.needs_consent[key] = HOOKS[key]
                if key in self.consent:
                    self.notes.append(f"{key} is left out: no script of a recipe is run")
            else:
                self.notes.append(f"{key} is not honoured: {NOTED.get(key, 'it is no key that we know')}")

    def _size(self) -> tuple[int, int | None]:
        least = self._number("min_nodes") or 1
        most = self._number("max_nodes")
        mode = self._text("mode")
        if mode not in ("", "auto", "solo", "cluster"):
            self._fault("mode", show(mode), named_list(("auto", "solo", "cluster")), "Use min_nodes and max_nodes")
        if self.document.get("cluster_only") or mode == "cluster":
            least = max(least, 2)
        if self.document.get("solo_only") or mode == "solo":
            most = 1
        if most is not None and most < least:
            found = f"at least {least} and at most {most}"
            self._fault(
                "min_nodes", found, "a range of hosts", "Correct min_nodes, max_nodes, solo_only or cluster_only"
            )
        return least, most

    def _number(self, key: str) -> int | None:
        value = self.document.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            self._fault(key, show(value), "a whole number from 1 on", "Write the number of hosts")
            return None
        return value

    def _runtime(self) -> tuple[str, str]:
        runtime = self._text("runtime").lower()
        if runtime and runtime not in RUNTIMES:
            self._fault("runtime", show(runtime), named_list(RUNTIMES), "Choose a recipe for vLLM or SGLang")
        return RUNTIMES.get(runtime, ("", ""))

    def _command(self, engine: str, model: str) -> Command:
        template = self._text("command")
        if not template:
            return self._plain(engine or "vllm", model)
        values = {"model": self.overrides.get("model", model), **self.defaults}
        text, faults = recipe_command.fill(template, values, self._place("command"))
        command, more = (None, []) if faults else recipe_command.parse(text, self._place("command"))
        self.faults += faults + more
        if command is None:
            return Command(engine or "vllm")
        if engine and command.engine != engine:
            found = f"a command of {command.engine} with runtime {show(self._text('runtime'))}"
            self._fault("command", found, "one engine", "Correct the runtime or the command")
        said = {SETTINGS[command.engine].get(flag, flag) for flag in command.flags}
        for key in sorted(set(self.defaults) - recipe_command.placeholders(template)):
            flag = self._own_flag(key, command.engine)
            if not flag:
                self.notes.append(f"defaults.{key} is not used by the command")
            # The plan decides these, so the recipe's word counts without a placeholder, too.
            elif _canonical(key) not in said and flag not in said:
                command.flags[flag] = self.defaults[key]
        return command

    def _plain(self, engine: str, model: str) -> Command:
        """A command from the defaults alone, where the recipe writes none."""
        flags: dict[str, Any] = {}
        for key, value in self.defaults.items():
            if flag := self._own_flag(key, engine):
                flags[flag] = value
            elif key not in PLAIN_FLAGS[engine]:
                self.notes.append(f"defaults.{key} is not used: without a command it has no meaning")
            elif value is not False and value is not None:
                flags[PLAIN_FLAGS[engine][key]] = value if value is True else recipe_command.text_of(value)
        return Command(engine, model, flags)

    @staticmethod
    def _own_flag(default: str, engine: str) -> str:
        """The flag of a default that is a variable of ours; empty for any other."""
        key = _canonical(default)
        if key == "backend":
            return BACKEND_FLAG
        return next((flag for flag, setting in SETTINGS[engine].items() if setting == key), "")

    def _sort(self, command: Command) -> tuple[dict[str, Any], dict[str, Any]]:
        """Part the flags: variables of ours, and the engine's own."""
        settings: dict[str, Any] = {}
        arguments: dict[str, Any] = {}
        for flag, value in command.flags.items():
            key = SETTINGS[command.engine].get(flag)
            if key == "served_model_name" and isinstance(value, list):
                self.notes.append(f"further served names are not honoured: {', '.join(value[1:])}")
                value = value[0]
            if flag == "api-key":
                self._secret("command", "--api-key")
            elif key in settings or (key and isinstance(value, list)):
                self._fault("command", f"two values for {key}", "each value once", f"Remove one --{flag}")
            elif key:
                settings[key] = "127.0.0.1" if key == "listen_address" and value == "localhost" else value
            elif flag in CODE_FLAGS:
                name = flag.replace("-", "_")
                # Who writes the flag in serving_engine_args has decided, either way.
                if value is not False and name not in self.overrides:
                    self.needs_consent[name] = CODE_FLAGS[flag]
                    if name in self.consent:
                        arguments[flag] = value
            elif flag in SINGLE_FLAGS and str(value) != "1":
                remedy = "Choose another recipe, and say the number of replicas in serving_deployments"
                self._fault("command", f"--{flag} {value}", f"--{flag} 1, for a host has one GPU", remedy)
            elif flag not in RANK_FLAGS | SINGLE_FLAGS:
                arguments[flag] = value
        draft = _draft_model(arguments)
        if draft:
            self.notes.append(f"the draft model {draft} is not looked for: it must lie in the cache of each host")
        template = arguments.get("chat-template")
        if self.document.get("mods") and isinstance(template, str) and not template.startswith(("/", "{")):
            self.notes.append(
                f"chat-template {template} may come from a mod, which is left out; if the image has no such file, set"
                " chat-template to nothing in serving_engine_args"
            )
        return settings, arguments

    def _backend(self, arguments: dict[str, Any], engine: str) -> str:
        backend = str(arguments.pop(BACKEND_FLAG, "")).lower()
        if engine != "vllm":
            return ""
        if backend and backend not in BACKENDS:
            remedy = "Choose another recipe, or correct its distributed executor backend"
            self._fault("command", f"the backend {show(backend)}", named_list(BACKENDS), remedy)
        return backend

    def _model(self, named: str, served: str) -> str:
        if "model" in self.overrides:
            return str(self.overrides["model"])
        if named and served and named != served:
            self.notes.append(f"model {named} is not honoured: the command serves {served}")
        blamed = {fault.variable for fault in self.faults}
        if not (named or served or blamed & {self._place("model"), self._place("command")}):
            self._fault("model", "nothing", "the id or path of a model", "Write model: ORG/NAME")
        return served or named

    def _env(self, given: Mapping[str, Any]) -> dict[str, str]:
        env: dict[str, str] = {}
        for key, value in given.items():
            name = str(key)
            if value is None or value == "":
                continue  # nothing is rendered empty (field fault N17)
            place = f"env.{name}"
            if isinstance(value, (Mapping, list)):
                self._fault(place, show(value), "text or a number", "Put it in quotation marks")
            elif name in HOST_ENV:
                self.notes.append(f"{place} is not honoured: it differs from host to host, and the plan sets it")
            elif name in HUB_TOKENS:
                self.notes.append(f"{place} is left out: an engine that serves fetches nothing")
            elif _SECRET_NAME.search(name):
                self._secret(place, name)
            elif _REFERENCE.search(str(value)):
                self.notes.append(f"{place} is left out: it refers to the environment of another machine")
            else:
                env[name] = ("1" if value else "0") if isinstance(value, bool) else str(value)
        return env

    def _secret(self, key: str, name: str) -> None:
        wanted = "no secret in a recipe, for docker inspect and ps show it"
        self._fault(key, f"the secret {name}", wanted, f"Remove {name} from the recipe")
