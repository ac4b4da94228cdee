import pytest

from benchmarks.cached.wrk import Load, LoadFailed, parse

REPORT = """\
Running 3s test @ http://127.0.0.1:33531
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   318.80ms  230.10ms   1.06s    83.24%
    Req/Sec   267.62     99.83   421.00     66.67%
  Latency Distribution
     50%  914.00us
     75%  346.01ms
     90%  748.67ms
     99%    1.06s 
  647 requests in 3.07s, 1.60MB read
Requests/sec:    210.74
Transfer/sec:    534.87KB
"""  # noqa: W291 - as wrk prints it


def test_latencies_are_converted_to_milliseconds():
    assert parse(REPORT) == Load(per_second=210.74, median=0.914, p99=1060.0, requests=647)


@pytest.mark.parametrize(
    "line",
    [
        "  Non-2xx or 3xx responses: 12",
        "  Socket errors: connect 0, read 3, write 0, timeout 0",
    ],
)
def test_failed_requests_raise(line):
    with pytest.raises(LoadFailed, match=line.strip()[:20]):
        parse(REPORT.replace("Requests/sec", f"{line}\nRequests/sec"))


@pytest.mark.parametrize("missing", ["Requests/sec:", "requests in", "99%"])
def test_an_incomplete_report_raises(missing):
    with pytest.raises(LoadFailed, match="wrk"):
        parse(REPORT.replace(missing, ""))
