"""Test cases of the release. What they share is made once: the image, and the Deployment that runs it."""
import functools
import os
import shutil
import tempfile

from mandate_release import artifacts, image, programs
from mandate_release.deployment import Deployment


@functools.cache
def folder() -> str:
    """A folder for the files of the tests, until stop()."""
    return tempfile.mkdtemp(prefix="mandate-release-")


@functools.cache
def built() -> programs.Program:
    """The manager as tests build it. `make image` has the optimised one, whose image differs in its libraries alone."""
    return programs.manager(release=False)


@functools.cache
def made() -> image.Image:
    return image.image(os.path.join(folder(), "image"), built())


@functools.cache
def chart() -> str:
    return artifacts.package_chart(os.path.join(folder(), "chart"))


_deployments: list[Deployment] = []


def shared_deployment() -> Deployment:
    """Two replicas of the image. A start that failed is not tried again."""
    if not _deployments:
        _deployments.append(Deployment())
        _deployments[0].start(made(), chart())
    return _deployments[0]


def logs() -> str:
    return "\n".join(one.logs() for one in _deployments)


def stop() -> None:
    for one in _deployments:
        one.stop()
    shutil.rmtree(folder(), ignore_errors=True)
