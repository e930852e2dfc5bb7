"""The names that modules, packages and files hand on."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from vademecum.code.graph.definitions import File
from vademecum.code.graph.meanings import LACKING, OUTSIDE, UNKNOWN, Meaning, Value, held_by
from vademecum.code.graph.spaces import Spaces
from vademecum.code.graph.terms import Node, Tier
from vademecum.code.languages.scopes import parent_scopes


class Exports(Spaces):
    """Finds the meaning of imported names."""

    @abstractmethod
    def _in_file(self, file: File, scope: str, name: str) -> Meaning | None:
        """Look the name up among the file's declarations and imports."""

    @abstractmethod
    def _own(self, file: File, name: str) -> Meaning | None:
        """Look the name up among the file's own declarations and bindings."""

    @abstractmethod
    def _of_written(self, source: File, value: Value, name: str) -> Meaning:
        """Return a member of an object literal with a name."""

    def imported(self, file: File, module: str, name: str) -> Meaning:
        """Return the meaning of an imported name."""
        if file.rules.imports_declaration(name):
            return self._qualified(file, f"{module}.{name}" if module else name)
        where = self.modules.locate(file.path, module, file.rules)
        if not where:
            return self.inside(file, module, name) or self._elsewhere(file, module)
        if not name:
            return self._whole(where)
        found = self._again(where, name)
        if found is not None:
            return found
        separator = "" if module.endswith(".") else file.rules.separator
        below = self.modules.locate(file.path, f"{module}{separator}{name}", file.rules)
        return (Value("module", below), Tier.EXACT) if below and file.rules.has_submodules else OUTSIDE

    def _elsewhere(self, file: File, module: str) -> Meaning:
        """Return the meaning of a name in a module that is absent."""
        return UNKNOWN if file.rules.may_be_here(self.modules, module) else OUTSIDE

    def _whole(self, where: str) -> Meaning:
        """Return a module as a value, for CommonJS its whole export."""
        return self.definitions.once(("whole", where), self._as_value, UNKNOWN, where)

    def _as_value(self, where: str) -> Meaning:
        if not where.endswith("/"):
            other = self.definitions.file(where)
            for module, spelled in other.exports.get("=", ())[:1]:
                found = self._exported(other, "=") if module or not spelled else self.meaning(other, "", spelled)
                if found is not None and found[0] is not None and not found[0].is_external:
                    return found
        return Value("module", where), Tier.EXACT

    def _qualified(self, file: File, whole: str) -> Meaning:
        """Return the declaration that a package and a name spell out."""
        around, _, name = whole.rpartition(".")
        if file.rules.opens_namespaces:
            return self.in_namespace(file, "", around.split("."), name) if around != file.rules.library else OUTSIDE
        for other, node in self.definitions.named(name, file.family):
            if not whole.endswith(node.qualified):  # as of most: their files are not read
                continue
            package = other.refs.package
            if (f"{package}.{node.qualified}" if package else node.qualified) == whole:
                return Value("def", other.path, node.qualified), Tier.EXACT
        return self.extension(file, whole) if file.rules.has_extensions else OUTSIDE

    def _spelled(self, file: File, parts: Sequence[tuple[str, str]]) -> tuple[Meaning, int]:
        """Return the declaration that a package and further names spell out.

        With it comes the number of names after the first that belong to it. The first name is imported, a package
        below the file's own or below one around it, or "" for a name that is spelled from the top.
        """
        first, package = parts[0][0], file.refs.package
        begins = [f"{module}.{name}" if module else name for _, module, name in file.imports.get(first, ())]
        begins += [*(f"{space}.{first}" for space in parent_scopes(package) if first), first]
        for whole in begins:
            longest: tuple[Meaning, int] = OUTSIDE, 0  # a class and a package may have one name
            for used, (name, suffix) in enumerate(parts[1:], 1):
                whole = f"{whole}.{name}" if whole else name  # noqa: PLW2901
                found = self._qualified(file, whole)
                if found is not OUTSIDE:
                    longest = found, used
                if suffix or (longest[1] and not file.rules.marks_variables):
                    break
            if longest[1]:
                return longest
        return OUTSIDE, 0

    def _again(self, where: str, name: str) -> Meaning | None:
        return self.definitions.once(("module", where, name), self._of_module, None, where, name)

    def _of_module(self, where: str, name: str) -> Meaning | None:
        """Return the meaning of a name in a module, None without one."""
        if where.endswith("/"):
            return self._of_directory(where, name)
        file = self.definitions.file(where)
        if file.rules.has_exports:
            named = self._exported(file, name) or self._of_object(file, name) or self._own(file, name)
            return named or self._on_exports(file, name) or self._through_stars(file, name)
        found = self._in_file(file, "", name)
        if found is None and name in file.scopes and name[:1].isupper() and file.rules.numbers_fields:  # by a macro
            return Value("def", where, name), Tier.EXACT
        if found is not None:
            return found
        for _, module, member in file.imports.get("*", ()):
            other = self.modules.locate(file.path, module, file.rules)
            if other and member == "*" and other != where:
                found = self._again(other, name)
                if found is not None and found is not OUTSIDE:  # the other file's own import leads back here
                    return found
        return None

    def _of_directory(self, where: str, name: str) -> Meaning | None:
        """Return a declaration of a package that is a folder."""
        for other, node in self.definitions.named(name, ""):
            is_there = other.path.rpartition("/")[0] == where.rstrip("/") and other.rules.in_package(other.path)
            if is_there and node.qualified == name:
                return self._in_file(other, "", name)
        return None

    def _submodule(self, file: File, where: str, name: str) -> Meaning | None:
        """Return a module below a package."""
        below = file.rules.submodule(self.modules, where, name)
        return (Value("module", below), Tier.EXACT) if below else None

    def _exported(self, file: File, name: str) -> Meaning | None:
        """Return the meaning of an exported name."""
        for module, spelled in file.exports.get(name, ()):
            if not module:
                return self._own_export(file, name, spelled)
            where = self.modules.locate(file.path, module, file.rules)
            if not where:
                return self._elsewhere(file, module)
            return self._whole(where) if not spelled else self._again(where, spelled)
        return self._whole_of(file) if name == "default" else None

    def _through_stars(self, file: File, name: str) -> Meaning | None:
        """Return a name of a module that is handed on whole."""
        for module, spelled in file.exports.get("*", ()):
            where = self.modules.locate(file.path, module, file.rules) if module else ""
            whole, tier = self.meaning(file, "", spelled) if not module else UNKNOWN
            found = self._again(where, name) if where else whole and self.member(file, whole, name, tier)
            if found and found != LACKING:
                return found
        return None

    def _on_exports(self, file: File, name: str) -> Meaning | None:
        """Return a member that a variable is given that is `exports`."""
        given = (file.scopes.get(local, {}).get(name) for local in file.exporting)
        node = next(filter(None, given), None)
        return (Value("def", file.path, node.qualified), Tier.EXACT) if node is not None else None

    def _exported_beside(self, node: Node, name: str) -> Meaning | None:
        """Return a member of a declaration that CommonJS exports whole."""
        file = self.definitions.file(node.path)
        if file.exports.get("=", ())[:1] != [("", node.qualified)]:
            return None
        named = self._exported(file, name) if name in file.exports else self._on_exports(file, name)
        return named or self.definitions.once(("stars", file.path, name), self._through_stars, None, file, name)

    def _of_object(self, file: File, name: str) -> Meaning | None:
        """Return a member of the object that is all a module exports."""
        whole = self._whole(file.path)[0] if "=" in file.exports else None
        found = self._of_written(file, whole, name) if whole is not None and whole.what == "written" else UNKNOWN
        return found if found[0] is not None else None

    def _own_export(self, file: File, name: str, spelled: str) -> Meaning:
        """Return the meaning of an export that the file itself declares."""
        if not spelled:
            return Value("module", file.path, "" if name == "=" else name), Tier.EXACT  # the file is what is nameless
        found, node = self.meaning(file, "", spelled), file.scopes.get("", {}).get(name)
        is_known = found[0] is not None or node is None
        return held_by(found, node) if is_known else (Value("def", file.path, name), Tier.EXACT)

    def _whole_of(self, file: File) -> Meaning:
        """Return the default export that no statement names."""
        if "=" in file.exports:
            return self._whole(file.path)
        if any(exported.startswith("default.") for exported in file.exports):
            return Value("module", file.path, "default"), Tier.EXACT  # an object whose members are exported
        return Value("module", file.path), Tier.EXACT  # what CommonJS exports one by one
