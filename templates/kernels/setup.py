"""`pyproject.toml` cannot express this: the library is not a Python extension module, so one wheel works for all versions of Python 3."""

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel


class AnyPython(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(cmdclass={"bdist_wheel": AnyPython})
