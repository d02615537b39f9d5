"""The programs in the text of a shell: what begins a command in bash's grammar, and what only looks like it."""

from __future__ import annotations

import subprocess

import pytest

from netlab_engines.lab.script_check.shell import HOLE, read_shell


@pytest.mark.parametrize(
    ("line", "programs"),
    [
        ("a | b && c; d & e", "a b c d e"),
        ("a |& b || c &>/dev/null &", "a b c"),
        ("echo 'x; y' \"a | b\" e\\;f 'it'\\''s' $'it\\'s; c' > file; (f)", "echo f"),
        ("while true; do x; sleep 1; done", "true x sleep"),
        ("while read x; do a; done < f; until b; do c; done & d", "read a b c d"),
        ("if a; then b; else c; fi", "a b c"),
        ("if ! a; then b; elif c; then d; fi 2>&1 >/dev/null; time e", "a b c d e"),
        ("for x in 1 $(a); do b; done; select x in 1; do c; done", "a b c"),
        ("case $x in a|b) c ;; (d) e;& *) case y in z) f;; esac; esac; g", "c e f g"),
        ("x=$(case y in z) a;; esac); b", "a b"),
        ("[[ a < b && $x =~ ^(a|b)$ || -n $(c) ]] && d", "c d"),
        ("{ a; b; }; ( c; d ); ((e; f) | g)", "a b c d e f g"),
        ("x=(1 2 $(a)); x+=(3); declare -a y=(4); x[0]=1; b ${x[@]}", "a declare b"),
        ("x=$(y -z)", "y"),
        ("a $(b) c \"d $(e \"f\") `g`\" `h \\`i\\`` ${x:-$(j)}", "b e g i h j a"),
        ("diff <(a) <(b) > >(c)", "a b c diff"),
        ("2>/dev/null a 2>&- <&3", "a"),
        ("cat <<END\nno command\nEND", "cat"),
        ("cat <<END | b\nno $(a) $((b+1)) command's\nEND\nc", "cat b a c"),
        ("cat <<'END'; b\nno $(a)\nEND\nc", "cat b c"),
        ("cat <<-END\n\tno\n\tEND\nb <<< 'no; no'\nc", "cat b c"),
        ("a \\\n b", "a"),
        ("# no $(no)\na#b; c # no; no", "c"),
        ("a $# $? $! ${#x} ${x#y} ${x%%.*} \"${x:-don't}\"; b", "a b"),
        ("sudo -u user nice -n 5 a", "a"),
        ("sudo sh -c \"a 'b; c'\"; bash -lc 'd $(e)'; eval 'f; g'", "a e d f g"),
        ("$program x; %s y; ./own z; /bin/ls", ""),
        ("a; b ' c; d", "a"),
        ("a )\nb ;; c\nesac; d", "a b c d"),
    ],
)  # fmt: skip
def test_the_programs_of_a_shells_text(line: str, programs: str) -> None:
    assert sorted(command[0] for command in read_shell(line).commands) == sorted(programs.split())


@pytest.mark.parametrize(
    ("line", "programs"),
    [
        ("a $((i+1)) $((i-1)) $(( i + 1 ))", "a"),
        ("((i++)); ((i<<2)) && a", "a"),
        ("for ((i=0;i<3;i++)); do a $i; done", "a"),
        ("end=$((SECONDS+2)); while ((SECONDS < end)); do a; done", "a"),
        ("let i=i+1; let 'i = 2' j++", "let let"),
        ("a $[i+1]; i=$[ i + 1 ]; b", "a b"),
        ("a $(( $(nproc) + `b` + (2)*(3) ))", "nproc b a"),
        ("echo $((1+1)); missingprog", "echo missingprog"),
        ("if (( x > 3 )); then a; fi; [ $((x % 2)) = 0 ] && b", "a b"),
        ("echo $( (a; b) ) $((c; d) | e)", "a b c d e echo"),
        ("echo \"$((x > 1 ? 2 : 3)) s\" > file$((i)); a", "echo a"),
        ("echo $((a<(b+1)))", "echo"),
    ],
)  # fmt: skip
def test_arithmetic_starts_no_program(line: str, programs: str) -> None:
    assert sorted(command[0] for command in read_shell(line).commands) == sorted(programs.split())


@pytest.mark.parametrize(
    "definition", ["f() { a; }; f", "f ()\n( a; ); f", "function f { a; }; f", "function f() { a; }; f"]
)
def test_a_function_is_named_and_its_commands_are_found(definition: str) -> None:
    found = read_shell(definition)
    assert found.functions == {"f"}
    assert [command[0] for command in found.commands] == ["a", "f"]


def test_the_words_of_a_command_are_without_quotes_and_redirections() -> None:
    line = "X=1 a -b \"c 'd'\" 2>&1 'e \"f\"' g\\ h >> file i$(j)k $x"
    assert read_shell(line).commands[-1] == ["a", "-b", "c 'd'", 'e "f"', "g h", f"i{HOLE}k", "$x"]


@pytest.mark.parametrize("line", [
    "printf '[%s]' \"c 'd'\" 'e \"f\"' g\\ h $'i\\'j' k\\\\l \"m\\\"n\" \"o\\p\" # q",
    "printf '[%s]' a#b '' x=y {} ] \"#\" '$(no)' \"\\$(no)\" > /dev/stdout",
])  # fmt: skip
def test_words_are_those_that_a_shell_gives_to_the_program(line: str) -> None:
    """Bash itself is the reference."""
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)
    (command,) = read_shell(line).commands
    assert "".join(f"[{word}]" for word in command[2:]) == done.stdout
