"""describe.py ATTEST VERSION OUT: manual pages and shell completions, from what `ATTEST --help` says.

Writes into OUT: man1/attest.1 and man1/attest-COMMAND.1 (mdoc, for mandoc and groff), bash/attest and zsh/_attest.  There
is one source for what a command takes: its --help; a line of it that this script does not know ends it with exit code 1.
"""
import datetime
import os
import re
import subprocess
import sys

SECTION = re.compile(r"^  (\S+) {2,}(\S.*)$")
OPTION = re.compile(r"^  (?:(-\w), |    )--([\w-]+)(\[?=\S+)?(?: +(\S.*))?$")
TEXT = re.compile(r"^ {20,}(\S.*)$")
WORDS = re.compile(r"^\w[\w-]*(\|\w[\w-]*)+$")


def said(attest, *arguments):
    env = {**os.environ, "LC_ALL": "C", "ARGP_HELP_FMT": "rmargin=79"}
    return subprocess.run([attest, *arguments], stdout=subprocess.PIPE, text=True, check=True, env=env).stdout.splitlines()


def overview(lines):
    """The sentence, the commands with their summaries, and the lines behind them."""
    commands = [SECTION.match(line).groups() for line in lines if SECTION.match(line)]
    last = max(i for i, line in enumerate(lines) if SECTION.match(line))
    return lines[1], commands, [line for line in lines[last + 1:] if line]


def options_of(lines):
    """(short, long, argument, text) of each option; a positional argument that has a text is one without `long`."""
    found = []
    for line in lines:
        option, text, word = OPTION.match(line), TEXT.match(line), SECTION.match(line)
        if word and not option:
            found.append([None, None, word[1], word[2]])
        elif option:
            found.append([option[1], option[2], (option[3] or "").lstrip("[=").rstrip("]"), option[4] or ""])
        elif text and found:
            found[-1][3] = f"{found[-1][3]} {text[1]}".strip()
        elif line.strip() and not line.startswith("Mandatory or optional") and not line.startswith("for any corresp"):
            sys.exit(f"describe.py: not understood: {line!r}")
    return found


def command_of(attest, name):
    """Synopsis of the arguments, summary, options."""
    lines = said(attest, name, "--help")
    end = next(i for i, line in enumerate(lines) if i and not line.startswith(" "))
    usage = " ".join(line.strip() for line in lines[:end])
    arguments = re.sub(r"\[-[^\[\]]*(\[[^\]]*\][^\[\]]*)*\]", "", usage.split(name, 1)[1]).split()
    return " ".join(arguments), lines[end], options_of(lines[end + 1:])


# ---- manual pages

def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in ".'" else text


def page(name, summary, body, version):
    title = name.upper()
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    day = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc) if seconds else datetime.datetime.now()
    return "\n".join([f".Dd {day:%B} {day.day}, {day.year}", f".Dt {title} 1", f".Os attest {version}", ".Sh NAME", f".Nm {name}",
                      f".Nd {roff(summary)}", *body]) + "\n"


def page_of_command(name, arguments, summary, options, version):
    body = [".Sh SYNOPSIS", f".Nm attest {name}", ".Op Ar option ..."]
    body += [f".Ar {roff(arguments)}"] if arguments else []
    body += [".Sh OPTIONS", ".Bl -tag -width Ds"]
    for short, long, argument, text in options:
        flag = f".It Fl {short[1]} , Fl \\-{long}" if short else f".It Fl \\-{long}" if long else ".It"
        equals = " Ns = Ns" if long else ""
        body += [flag + (f"{equals} Ar {roff(argument)}" if argument else ""), roff(text)]
    body += [".El", ".Sh SEE ALSO", ".Xr attest 1"]
    return page(f"attest-{name}", summary, body, version)


def page_of_all(sentence, commands, rest, version):
    body = [".Sh SYNOPSIS", ".Nm", ".Ar command", ".Op Ar option ...", ".Sh DESCRIPTION", roff(sentence),
            ".Bl -tag -width reference"]
    for name, summary in commands:
        body += [f".It Cm {name}", roff(summary)]
    body += [".El", ".Sh EXIT STATUS"] + [roff(line) for line in rest[1:]]
    body += [".Sh SEE ALSO"] + [f".Xr attest-{name} 1{' ,' if name != sorted(commands)[-1][0] else ''}"
                                for name, _ in sorted(commands)]
    return page("attest", "certified tests of attention kernels", body, version)


# ---- completions

def choices(argument, text):
    """Words that an option may take, where its --help lists them."""
    return argument.split("|") if WORDS.match(argument) else []


def bash(commands):
    names = " ".join(sorted(commands))
    lines = ["# bash completion of attest, made from its --help", "_attest()", "{",
             "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} option",
             "    if [ \"$COMP_CWORD\" = 1 ]; then",
             f"        COMPREPLY=($(compgen -W '{names} --help --version' -- \"$word\"))", "        return", "    fi",
             "    if [ \"$before\" = = ]; then option=${COMP_WORDS[COMP_CWORD-2]}",
             "    elif [ \"$word\" = = ]; then option=$before; word=",
             "    fi", "    case ${COMP_WORDS[1]}:$option in"]
    for name, (arguments, _, options) in sorted(commands.items()):
        options = [option for option in options if option[1]]
        for _, long, argument, text in options:
            if choices(argument, text):
                lines.append(f"    {name}:--{long}) COMPREPLY=($(compgen -W '{' '.join(choices(argument, text))}' -- \"$word\")) ;;")
        flags = [f"--{long}{'=' if argument else ''}" for _, long, argument, _ in options]
        words = choices(arguments, "") + flags + ["--help"]
        lines.append(f"    {name}:) COMPREPLY=($(compgen -f -W '{' '.join(words)}' -- \"$word\")) ;;")
    return "\n".join(lines + ["    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;", "    esac",
                              "    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace", "}",
                              "complete -o filenames -F _attest attest"]) + "\n"


def quoted(text):
    return text.replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def zsh(commands):
    lines = ["#compdef attest", "# zsh completion of attest, made from its --help", "_attest() {",
             "  local -a commands=("]
    lines += [f"    '{name}:{quoted(summary)}'" for name, (_, summary, _) in sorted(commands.items())]
    lines += ["  )", "  if (( CURRENT == 2 )); then _describe command commands; return; fi", "  case $words[2] in"]
    for name, (arguments, _, options) in sorted(commands.items()):
        lines.append(f"  {name}) _arguments \\")
        for _, long, argument, text in (option for option in options if option[1]):
            words = choices(argument, text)
            takes = f":{quoted(argument)}:({' '.join(words)})" if words else f":{quoted(argument)}:_files" if argument else ""
            lines.append(f"    '--{long}{'=' if argument else ''}[{quoted(text)}]{takes}' \\")
        words = choices(arguments, "")
        lines.append(f"    '*::argument:({' '.join(words)})' ;;" if words else "    '*::argument:_files' ;;")
    return "\n".join(lines + ["  esac", "}", '_attest "$@"']) + "\n"


def write(folder, name, text):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
        out.write(text)


def main():
    attest, version, out = sys.argv[1:]
    sentence, listed, rest = overview(said(attest, "--help"))
    commands = {name: command_of(attest, name) for name, _ in listed}
    write(f"{out}/man1", "attest.1", page_of_all(sentence, listed, rest, version))
    for name, (arguments, summary, options) in commands.items():
        write(f"{out}/man1", f"attest-{name}.1", page_of_command(name, arguments, summary, options, version))
    write(f"{out}/bash", "attest", bash(commands))
    write(f"{out}/zsh", "_attest", zsh(commands))


main()
