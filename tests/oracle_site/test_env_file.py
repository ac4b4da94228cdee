import pytest

from oracle_site.env_file import EnvFileError, read_env_file


def test_values_are_taken_as_they_stand(tmp_path):
    path = tmp_path / "oracle.env"
    path.write_text(
        "# a comment\n; another\n\nA=1\nexport B=two words\n"
        "C=\"quoted # and = kept\"\n  D='x'\nE=\nF='half\n"
    )
    assert read_env_file(path) == {
        "A": "1",
        "B": "two words",
        "C": "quoted # and = kept",
        "D": "x",
        "E": "",
        "F": "'half",
    }


@pytest.mark.parametrize("line", ["A", "A =1", "1A=1", "=1"])
def test_a_line_that_is_none_is_named_without_its_text(tmp_path, line):
    path = tmp_path / "oracle.env"
    path.write_text(f"OK=1\n{line}\n")
    with pytest.raises(EnvFileError, match=r"oracle\.env line 2 is not of the form NAME=value\.$"):
        read_env_file(path)


def test_a_file_that_cannot_be_read_is_said(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name, cause in (("none", "No such file"), ("binary", "not UTF-8")):
        with pytest.raises(EnvFileError, match=cause):
            read_env_file(tmp_path / name)
