"""`pyproject.toml` cannot express this: the library is not a Python extension module, so one wheel works for all versions of Python 3."""

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext


class AnyPython(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class AnyName(build_ext):
    def get_ext_filename(self, name):
        """`_kernels.so`, not `_kernels.cpython-312-x86_64-linux-gnu.so`."""
        stem, *_, suffix = super().get_ext_filename(name).split(".")
        return f"{stem}.{suffix}"


setup(cmdclass={"bdist_wheel": AnyPython, "build_ext": AnyName})
