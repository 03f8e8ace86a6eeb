from pathlib import Path

from referee.sandbox.apt import PackageArchive, parse_deb822, parse_one_line, system_archive

DEB822 = """\
# comment
Types: deb deb-src
URIs: https://one.example/debian
 https://two.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: https://off.example/debian
Suites: bookworm
Components: main
Enabled: no

Types: deb-src
URIs: https://sources.example/debian
Suites: bookworm
Components: main
"""
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def etc(tmp_path: Path, files: dict[str, str], codename: str = "bookworm") -> Path:
    (tmp_path / "apt" / "sources.list.d").mkdir(parents=True)
    (tmp_path / "os-release").write_text(f'NAME="Debian"\nVERSION_CODENAME={codename}\n')
    for name, text in files.items():
        (tmp_path / "apt" / name).write_text(text)
    return tmp_path


def test_a_deb822_file_names_every_address_with_every_suite() -> None:
    assert parse_deb822(DEB822) == [
        PackageArchive(f"https://{host}.example/debian", suite, ("main", "contrib"), KEYRING)
        for host in ("one", "two")
        for suite in ("bookworm", "bookworm-updates")
    ]


def test_a_key_within_a_deb822_file_is_no_keyring_file() -> None:
    text = "Types: deb\nURIs: http://a.example\nSuites: sid\nComponents: main\nSigned-By:\n -----BEGIN\n .\n abc\n"

    assert parse_deb822(text) == [PackageArchive("http://a.example", "sid", ("main",))]


def test_one_line_sources_are_read_with_and_without_options() -> None:
    text = """
# deb http://commented.example/debian bookworm main
deb http://plain.example/debian bookworm main contrib  # and a remark
deb [arch=amd64 signed-by=/k.gpg] http://signed.example/debian bookworm main
deb-src http://sources.example/debian bookworm main
"""
    assert parse_one_line(text) == [
        PackageArchive("http://plain.example/debian", "bookworm", ("main", "contrib")),
        PackageArchive("http://signed.example/debian", "bookworm", ("main",), "/k.gpg"),
    ]


def test_the_systems_own_archive_is_the_one_of_its_release(tmp_path: Path) -> None:
    folder = etc(
        tmp_path,
        {
            "sources.list": "deb http://other.example/thing thing main\n",
            "sources.list.d/debian.sources": DEB822,
            "sources.list.d/vendor.list": "deb http://vendor.example/ nodistro main\n",
        },
    )
    assert system_archive(folder) == PackageArchive(
        "https://one.example/debian", "bookworm", ("main", "contrib"), KEYRING
    )


def test_a_rolling_release_is_found_by_its_suites_name(tmp_path: Path) -> None:
    folder = etc(tmp_path, {"sources.list": "deb http://a.example/debian testing main\n"}, codename="forky")

    assert system_archive(folder) == PackageArchive("http://a.example/debian", "testing", ("main",))


def test_a_list_of_mirrors_stands_for_its_first(tmp_path: Path) -> None:
    mirrors = tmp_path / "mirrors.txt"
    mirrors.write_text("# best first\nhttp://first.example/debian\tpriority:1\nhttp://second.example/debian\n")
    folder = etc(tmp_path, {"sources.list": f"deb mirror+file:{mirrors} bookworm main\n"})

    assert system_archive(folder) == PackageArchive("http://first.example/debian", "bookworm", ("main",))


def test_a_system_without_apt_has_no_archive(tmp_path: Path) -> None:
    assert system_archive(tmp_path) is None


def test_addresses_that_debootstrap_cannot_read_are_passed_over(tmp_path: Path) -> None:
    folder = etc(
        tmp_path,
        {"sources.list": "deb cdrom:[Debian]/ bookworm main\ndeb http://a.example/debian bookworm main\n"},
    )
    found = system_archive(folder)

    assert found is not None
    assert found.uri == "http://a.example/debian"
