"""Writes down where the sources lie, so that an installed package finds build/attest; pyproject.toml has the rest."""
import os

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildPy(build_py):
    def run(self):
        super().run()
        tree = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
        with open(os.path.join(self.build_lib, "attest", "_tree.txt"), "w", encoding="utf-8") as out:
            out.write(tree + "\n")


setup(cmdclass={"build_py": BuildPy})
