"""Writes down where the sources lie, so that an installed package finds build/attest, and names a wheel's platform;
pyproject.toml has the rest."""
import os

from setuptools import setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

HERE = os.path.dirname(os.path.abspath(__file__))


class BuildPy(build_py):
    def run(self):
        super().run()
        tree = os.path.abspath(os.path.join(HERE, "..", ".."))
        with open(os.path.join(self.build_lib, "attest", "_tree.txt"), "w", encoding="utf-8") as out:
            out.write(tree + "\n")


class Wheel(bdist_wheel):
    """A wheel that holds the program (make python-wheel) is one of this platform, for any Python 3."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = not os.path.exists(os.path.join(HERE, "attest", "bin", "attest"))

    def get_tag(self):
        return super().get_tag() if self.root_is_pure else ("py3", "none", super().get_tag()[2])


setup(cmdclass={"build_py": BuildPy, "bdist_wheel": Wheel})
