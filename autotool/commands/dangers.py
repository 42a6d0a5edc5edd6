"""Options that run other programs, load code or write anywhere, by program; and a rule for programs that are not known.

Gathered from the manual pages of the programs and from https://gtfobins.github.io (facts only).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autotool.commands.conventions import base_name

RUNS = "it runs another program"
LOADS = "it loads code or settings that can run programs"
WRITES = "it writes to a file that the caller names"
DELETES = "it deletes files"
SENDS = "it sends a file that the caller names"
REMOTE = "it opens a way to other machines or into this one"
READS_AGAIN = "its value is a program of its own, read by an interpreter"


@dataclass(frozen=True, slots=True)
class Baked:
    """What makes a fixed command line dangerous.

    Attributes:
        option: the word on it that does, or the program itself.
        destroys: whether that is what the program is for (`rm`), and not an option that may be meant otherwise.
    """

    option: str
    reason: str
    destroys: bool


def _table(reason: str, flags: str) -> dict[str, str]:
    return dict.fromkeys(flags.split(), reason)


_GIT = {
    **_table(
        RUNS,
        "--upload-pack --receive-pack --exec -x --ext-diff --textconv --open-files-in-pager -O --paginate -p --edit -e",
    ),
    **_table(LOADS, "-c --config-env --exec-path --template --config --super-prefix --recurse-submodules"),
    **_table(WRITES, "--output -o --output-directory --separate-git-dir"),
}
_GIT_ONLY_SOMETIMES: Mapping[str, tuple[str, ...]] = {
    # One letter means different things in different commands; these are the commands in which it is dangerous.
    "-x": ("rebase", "difftool"),
    "-O": ("grep",),
    "-p": ("",),
    "--paginate": ("",),
    "-e": ("",),
    "--edit": ("",),
    "-c": ("", "clone"),
    "-o": ("archive", "format-patch", "bugreport", "diagnose"),
    "--config": ("clone",),
    "--template": ("clone", "init"),
    "--recurse-submodules": ("clone", "fetch", "pull"),
}

OPTIONS: dict[str, Mapping[str, str]] = {
    "git": _GIT,
    "find": {
        **_table(RUNS, "-exec -execdir -ok -okdir"),
        **_table(DELETES, "-delete"),
        **_table(WRITES, "-fprint -fprint0 -fprintf -fls"),
    },
    "tar": {
        **_table(
            RUNS,
            "--to-command --checkpoint-action -I --use-compress-program --rsh-command --rmt-command --info-script"
            " --new-volume-script -F",
        ),
        **_table(WRITES, "--index-file --volno-file"),
        **_table(DELETES, "--remove-files --recursive-unlink --delete"),
    },
    "sort": {**_table(RUNS, "--compress-program"), **_table(WRITES, "--output -o")},
    "uniq": {},
    "split": {**_table(RUNS, "--filter")},
    "shuf": {**_table(WRITES, "--output -o")},
    "tee": {},
    "sed": {**_table(READS_AGAIN, "-e --expression -f --file"), **_table(WRITES, "-i --in-place")},
    "awk": {
        **_table(READS_AGAIN, "-f --file -e --source -E --exec -i --include -l --load -W"),
        **_table(WRITES, "-o -p -d"),
    },
    "curl": {
        **_table(
            WRITES,
            "-o --output -O --remote-name --remote-name-all --output-dir -D --dump-header -c --cookie-jar --trace --trace-ascii"
            " --stderr --libcurl --hsts --alt-svc --etag-save -J --remote-header-name --create-dirs",
        ),
        **_table(SENDS, "-T --upload-file -F --form -K --config --netrc-file -b --cookie --form-string --data-binary"),
        **_table(LOADS, "--engine -E --cert"),
    },
    "wget": {
        **_table(
            WRITES,
            "-O --output-document -o --output-file -a --append-output -P --directory-prefix --save-cookies --warc-file",
        ),
        **_table(SENDS, "--post-file --body-file -i --input-file"),
        **_table(RUNS, "--use-askpass"),
        **_table(LOADS, "-e --execute --config"),
    },
    "ssh": {
        **_table(LOADS, "-o -F -I"),
        **_table(WRITES, "-E"),
        **_table(REMOTE, "-L -R -D -W -w -J -S -A -X -Y -M -O -f"),
    },
    "scp": {**_table(RUNS, "-S"), **_table(LOADS, "-o -F"), **_table(REMOTE, "-J")},
    "sftp": {**_table(RUNS, "-S -s -D"), **_table(LOADS, "-o -F -b")},
    "rsync": {
        **_table(RUNS, "-e --rsh --rsync-path --early-input"),
        **_table(
            DELETES,
            "--delete --delete-before --delete-during --delete-after --delete-excluded --remove-source-files --del",
        ),
        **_table(WRITES, "--log-file --write-batch --only-write-batch --backup-dir --partial-dir --temp-dir -T"),
        **_table(LOADS, "--config --password-file"),
    },
    "man": {**_table(RUNS, "-P --pager -H --html -p --preprocessor -B"), **_table(LOADS, "-C --config-file")},
    "less": {**_table(WRITES, "-o --log-file -O --LOG-FILE"), **_table(LOADS, "-k --lesskey-file --lesskey-src")},
    "env": {**_table(RUNS, "-S --split-string"), **_table(REMOTE, "-C --chdir")},
    "docker": {
        **_table(
            REMOTE,
            "-v --volume --mount --privileged --pid --ipc --userns --device --cap-add --security-opt --volumes-from -H --host"
            " --net --network --uts --cgroupns --gpus",
        ),
        **_table(RUNS, "--entrypoint"),
        **_table(WRITES, "--cidfile --iidfile -o --output"),
        **_table(LOADS, "--config --env-file --label-file"),
    },
    "npm": {**_table(RUNS, "--script-shell --node-options -c --call"), **_table(LOADS, "--userconfig --globalconfig")},
    "pip": {
        **_table(
            LOADS,
            "-r --requirement -c --constraint -e --editable -i --index-url --extra-index-url -f --find-links"
            " --python --config-settings --global-option --build-option --install-option",
        ),
        **_table(WRITES, "-t --target --prefix --root --log --report --src --cache-dir -d --dest --wheel-dir -w"),
    },
    "make": {
        **_table(LOADS, "-f --file --makefile -I --include-dir"),
        **_table(RUNS, "--eval -E"),
    },
    "gcc": {
        **_table(WRITES, "-o -dumpdir -save-temps"),
        **_table(
            LOADS, "-B -specs -wrapper -fplugin -Wa, -Wp, -Wl, -Xassembler -Xpreprocessor -Xlinker --sysroot -foffload"
        ),
    },
    "psql": {
        **_table(READS_AGAIN, "-c --command -f --file"),
        **_table(WRITES, "-o --output -L --log-file"),
        **_table(LOADS, "-P --pset -v --set --variable"),
    },
    "sqlite3": {**_table(READS_AGAIN, "-cmd -init -A")},
    "zip": {
        **_table(RUNS, "-TT --unzip-command"),
        **_table(DELETES, "-m --move -d --delete"),
        **_table(WRITES, "-O --output-file -b"),
    },
    "unzip": {**_table(WRITES, "-d -o")},
    "dpkg": {
        **_table(RUNS, "--pre-invoke --post-invoke --status-logger -i --install --configure --triggers-only"),
        **_table(DELETES, "-r --remove -P --purge"),
        **_table(WRITES, "--log --admindir --instdir --root"),
    },
    "apt-get": {**_table(LOADS, "-o --option -c --config-file")},
    "node": {
        **_table(READS_AGAIN, "-e --eval -p --print -c --check"),
        **_table(
            LOADS, "-r --require --import --loader --experimental-loader --env-file --openssl-config -C --conditions"
        ),
        **_table(REMOTE, "--inspect --inspect-brk --inspect-port --inspect-publish-uid"),
    },
    "python": {**_table(READS_AGAIN, "-c -m"), **_table(LOADS, "-X")},
    "perl": {**_table(READS_AGAIN, "-e -E"), **_table(LOADS, "-M -m -I"), **_table(WRITES, "-i")},
    "ruby": {**_table(READS_AGAIN, "-e"), **_table(LOADS, "-r -I"), **_table(WRITES, "-i")},
    "sh": {**_table(READS_AGAIN, "-c")},
    "vim": {**_table(READS_AGAIN, "-c --cmd -S -s"), **_table(LOADS, "-u -U"), **_table(WRITES, "-w -W")},
    "jq": {**_table(LOADS, "-L --from-file -f")},
    "cargo": {**_table(LOADS, "--config -Z"), **_table(REMOTE, "-C")},
    "tcpdump": {**_table(RUNS, "-z --postrotate-command"), **_table(WRITES, "-w")},
    "cmake": {
        **_table(LOADS, "-C -D -P --toolchain --preset"),
        **_table(RUNS, "-E --build --install"),
        **_table(WRITES, "--trace-redirect --graphviz"),
    },
}
OPTIONS["gawk"] = OPTIONS["mawk"] = OPTIONS["nawk"] = OPTIONS["awk"]
OPTIONS["g++"] = OPTIONS["cc"] = OPTIONS["c++"] = OPTIONS["clang"] = OPTIONS["clang++"] = OPTIONS["gcc"]
OPTIONS["podman"] = OPTIONS["docker"]
OPTIONS["apt"] = OPTIONS["apt-get"]
for _shell in ("bash", "dash", "zsh", "ksh", "ash", "su", "runuser", "script"):
    OPTIONS[_shell] = OPTIONS["sh"]

_RUNNERS = frozenset(
    _table(
        "",
        "xargs env nice nohup timeout sudo doas watch strace ltrace gdb parallel setsid stdbuf chroot unshare nsenter flock time"
        " command exec eval busybox start-stop-daemon ionice taskset systemd-run",
    )
)
_DESTROYERS = {
    **_table(DELETES, "rm rmdir shred unlink wipefs truncate"),
    **_table("it overwrites what it is pointed at", "dd mkfs mkswap fdisk parted tee mv cp install ln"),
    **_table("it ends processes", "kill pkill killall skill"),
    **_table("it stops the machine", "shutdown reboot halt poweroff init telinit"),
    **_table("it changes who may do what", "chmod chown chgrp setfacl passwd useradd userdel usermod visudo"),
}

_WORDS = re.compile(
    r"(?:^|-)(exec|execute|eval|command|cmd|shell|script|program|prog|pager|editor|plugin|plugins|hook|hooks|preload|require|loader"
    r"|interpreter|rsh|browser|proxy-command|run-as|sudo|postinstall|wrapper|launcher|opener|viewer|askpass)(?:-|$)"
)
_WRITING = re.compile(
    r"(?:^|-)(output|out|outfile|output-file|out-file|output-dir|outdir|save|write|log-file|logfile|dump|export|dest|destination|target-dir"
    r"|in-place|inplace|report-file|cache-dir|upload|upload-file|overwrite)(?:-to|-file|-dir|-path)?$"
)
_CONFIG = re.compile(r"^(config|config-file|conf|rcfile|init-file|options-file|settings)$")
_DESCRIBED_RUNNING = re.compile(
    r"\b(run|runs|execute|executes|invoke|spawn|pipe (?:extracted |the )?\w* ?(?:to|through))\b[^.]{0,40}\b(command|program|script|shell"
    r"|executable|PROG|COMMAND|CMD)\b"
)
_DESCRIBED_WRITING = re.compile(
    r"\b(write|writes|save|saves|dump|dumps|store|stores|append|log)\b[^.]{0,40}\b(to|into|in) (the )?(given |specified |a |named )?"
    r"(<?file|FILE|FILENAME|<\w*file\w*>|directory|DIR|PATH|path)\b"
)
_NEGATED = re.compile(r"^--?(no|disable|without|dont|skip)-")


def reason(program: str, subcommands: Sequence[str], flags: Sequence[str], description: str, metavar: str) -> str:
    """Why an option is not offered unless a person names it, in one clause; "" when it is harmless.

    Args:
        program: its name, or a path.
        subcommands: the words that follow it.
        metavar: the name of its value; "" for a switch.
    """
    name = base_name(program)
    known = OPTIONS.get(_versionless(name))
    if known is not None:
        for flag in flags:
            if flag in known and _applies(name, flag, subcommands):
                return known[flag]
        return ""
    return _suspected(flags, description, metavar)


def _versionless(name: str) -> str:
    return re.sub(r"[-]?\d[\d.]*$", "", name) or name


def _applies(name: str, flag: str, subcommands: Sequence[str]) -> bool:
    if name != "git" or flag not in _GIT_ONLY_SOMETIMES:
        return True
    return _git_command(subcommands) in _GIT_ONLY_SOMETIMES[flag]


def _git_command(words: Sequence[str]) -> str:
    """The subcommand among the words after `git`; "" where none stands there yet."""
    rest = iter(words)
    for word in rest:
        if word in ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"):
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return ""


def _suspected(flags: Sequence[str], description: str, metavar: str) -> str:
    """The rule for programs that are not known: by the words of the option, its value and its description."""
    longs = [flag.lstrip("-").lower() for flag in flags if flag.startswith("--")]
    if any(_NEGATED.match(flag) for flag in flags):
        return ""
    takes_value = bool(metavar)
    for long in longs:
        if _WORDS.search(long) and (takes_value or _DESCRIBED_RUNNING.search(description)):
            return RUNS
        if _WRITING.search(long) and (takes_value or "place" in long) and not _is_format(metavar, description):
            return WRITES
        if _CONFIG.match(long) and takes_value:
            return LOADS
    if takes_value and _DESCRIBED_RUNNING.search(description):
        return RUNS
    if takes_value and _DESCRIBED_WRITING.search(description):
        return WRITES
    return ""


def _is_format(metavar: str, description: str) -> bool:
    """`--output json`: how it is written, not where."""
    shown = metavar.strip("<>[]{}").lower()
    if "|" in metavar or "," in metavar or shown in ("format", "fmt", "type", "style"):
        return True
    return bool(re.search(r"\b(output format|format of|one of:? )", description, re.IGNORECASE)) and "file" not in shown


def dangerous_word(program: str, subcommands: Sequence[str], word: str) -> tuple[str, str] | None:
    """The dangerous option that a free word of a command line would be, abbreviated or joined to its value, and why."""
    if not word.startswith("-") or word in ("-", "--"):
        return None
    known = OPTIONS.get(_versionless(base_name(program)), {})
    flag = word.partition("=")[0]
    for option, why in known.items():
        if not _applies(base_name(program), option, subcommands):
            continue
        is_long = option.startswith("--")
        # getopt takes any beginning of a long option that is not ambiguous, and a letter anywhere in a cluster.
        if (is_long and len(flag) > 3 and option.startswith(flag)) or flag == option:
            return option, why
        if not is_long and len(option) == 2 and not word.startswith("--") and option[1] in word[1:]:
            return option, why
    if not known and (why := _suspected((flag,), "", "VALUE")):
        return flag, why
    return None


def baked(argv: Sequence[str]) -> Baked | None:
    """What makes a command line of a config (its placeholders as `{name}`) dangerous, or None.

    An option that runs or loads is dangerous where a caller's value reaches it; with a fixed value it is what the person wrote.
    One that writes or deletes is never harmless.
    """
    if not argv:
        return None
    name = _versionless(base_name(argv[0]))
    known = OPTIONS.get(name, {})
    for at, word in enumerate(argv[1:], 1):
        flag, equals, value = word.partition("=")
        if flag == "--":
            break
        is_filled = "{" in (value if equals else word) or (not equals and at + 1 < len(argv) and "{" in argv[at + 1])
        option = _known_option(name, known, flag, word, argv[1:at])
        if option and (is_filled or known[option] in (DELETES, WRITES)):
            return Baked(option, known[option], destroys=not is_filled)
        if not known and flag.startswith("--") and is_filled and (why := _suspected((flag,), "", "VALUE")):
            return Baked(flag, why, destroys=False)
    if name in _DESTROYERS:
        return Baked(name, _DESTROYERS[name], destroys=True)
    first = next((word for word in argv[1:] if not word.startswith("-")), "")
    if name in _RUNNERS and first.startswith("{"):
        return Baked(name, "it runs the program that its operands name", destroys=False)
    if name in _INTERPRETERS and first.startswith("{"):
        return Baked(name, READS_AGAIN, destroys=False)
    return None


_INTERPRETERS = ("awk", "gawk", "mawk", "nawk", "sed", "bash", "sh", "dash", "zsh", "python", "perl", "ruby", "node")


def _known_option(name: str, known: Mapping[str, str], flag: str, word: str, subcommands: Sequence[str]) -> str:
    """The option of the table that a word is, a value joined to a letter included."""
    for option in known:
        is_joined = len(option) == 2 and word.startswith(option) and not word.startswith("--")
        if (flag == option or is_joined) and _applies(name, option, subcommands):
            return option
    return ""
