"""Commands that are given no rows, no files, or only files that cannot be read."""

import pytest

from commands import HEADER, fails, run, write


def test_rows_to_predict_have_a_header_only(model, tmp_path):
    path = write(tmp_path / "none.csv", HEADER[:5], [])
    told = fails("predict", model, path, "-o", tmp_path / "out.csv")
    assert f"{path} has a header but no rows; add at least one" in told


@pytest.mark.parametrize(
    ("command", "message"),
    [("fit", "folder is a folder or a device; name one"), ("count", "has no file that ends in ")],
)
def test_files_without_a_byte_and_folders_without_data(command, message, tmp_path):
    out, empty, folder = tmp_path / "out", tmp_path / "empty.csv", tmp_path / "folder"
    empty.touch()
    folder.mkdir()
    (folder / "notes.md").write_text("nothing")
    told = fails(command, empty, "-t", "diagnosis", "-o", out)
    assert "empty.csv is empty; it needs a header and rows" in told
    told = fails(command, folder, "-t", "diagnosis", "-o", out)
    assert message in told
    assert not out.exists()


def test_counts_of_files_of_which_none_can_be_read(data, tmp_path):
    schema, bad = tmp_path / "schema.json", [tmp_path / "1.csv", tmp_path / "2.csv"]
    run("schema", data, "-t", "diagnosis", "-o", schema)
    for path in bad:
        path.write_text("id,diagnosis\n1,ill\n2,well\n")
    options = ["-t", "diagnosis", "-o", tmp_path / "out", "--skip-bad-files"]
    told = fails("count", *bad, "--schema", schema, *options)
    assert "there are no rows in 2 files; nothing to count" in told
    assert f"2 are bad and were left out, such as: {bad[0]}" in told
    for path in bad:
        path.write_bytes(b"id,diagnosis\n1\n")
    told = fails("count", *bad, *options)
    assert f"nothing to learn; 2 are bad and were left out, such as: {bad[0]}" in told
    assert not (tmp_path / "out").exists()
