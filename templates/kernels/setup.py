"""What `pyproject.toml` cannot say: the library is no module of Python, so that one wheel is right for every Python 3."""

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel


class AnyPython(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(cmdclass={"bdist_wheel": AnyPython})
