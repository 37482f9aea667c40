"""pytest: one test a case of a suite.

    @pytest.mark.attest(mine, suite="smoke")
    def test_mine(attest_result):
        attest_result.check()

The kernel is audited once a suite, when its first test runs; cases that it does not serve are skipped.
"""
from __future__ import annotations

from typing import Any, Dict, Tuple

import pytest

from . import run

_reports: Dict[Tuple[int, str], Dict[str, run.Result]] = {}
_broken: Dict[Tuple[int, str], str] = {}  # an audit that failed outside the cases: what it said


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--attest-suite", default=None, help="suite of every test marked attest, in place of its own")


def pytest_configure(config: Any) -> None:
    config.addinivalue_line("markers", "attest(kernel, suite='smoke'): one test for each case of a suite (attest_result)")


def _marked(mark: Any, config: Any) -> Tuple[Any, str]:
    return mark.args[0], config.getoption("--attest-suite") or mark.kwargs.get("suite", "smoke")


def pytest_generate_tests(metafunc: Any) -> None:
    mark = metafunc.definition.get_closest_marker("attest")
    if mark and "attest_result" in metafunc.fixturenames:
        kernel, suite = _marked(mark, metafunc.config)
        metafunc.parametrize("attest_result", [(kernel, suite, line) for line in run.cases(suite)], indirect=True,
                             ids=run.cases(suite))


@pytest.fixture
def attest_result(request: Any) -> run.Result:
    """The result of one case."""
    kernel, suite, line = request.param
    key = (id(kernel), suite)
    if key not in _reports:
        report = run.audit(kernel, suite)
        _reports[key] = {result["problem"]: result for result in report.results}
        told = any(result["problem"] and result["verdict"] in ("fail", "crash", "timeout") for result in report.results)
        _broken[key] = "" if told or report.exit_code in (0, 4, 77) else repr(report)
    if _broken[key]:  # it failed, and in no case that a test stands for: it did not start, or broke a property
        pytest.fail(_broken[key], pytrace=False)
    if line not in _reports[key]:
        pytest.skip("not served")
    return _reports[key][line]
