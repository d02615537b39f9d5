"""Make Mininet's hosts usable again after Ctrl-C interrupted a command, so that a script's clean-up can run commands
there.

Mininet takes the first prompt that a host's shell prints as the end of a command. An interrupt can leave a prompt too
many: the shell prints one when its command ends and another for Ctrl-C. The clean-up's first command would then return
at once, without its output. So a host whose command was interrupted first echoes a mark, and all output before the mark
is discarded.
"""

from __future__ import annotations

import select
import signal
from typing import Any

PROMPT = chr(127)
"""The prompt that Mininet gives to the shells of its hosts."""
WAIT_MS = 10
MAX_WAITS = 100
"""The number of times that an interrupted host is asked for its prompt, WAIT_MS of network time apart."""
MAX_ATTEMPTS = 3


class Interrupts:
    """The number of interrupts that this process has handled."""

    number = 0


def count_interrupt() -> None:
    """Count one more interrupt in `Interrupts.number`; the handler of SIGINT must call this before it raises
    anything.
    """
    Interrupts.number += 1


def free_at_interrupts() -> None:
    """Replace `sendCmd` and `waitOutput` of Mininet's class `Node`: an interrupt that comes while a script waits for
    the output of a node's command ends this command, and a node's next command after an interrupt finds an idle shell.
    """
    import mininet.node

    plain_send, plain_wait = mininet.node.Node.sendCmd, mininet.node.Node.waitOutput

    def send_command(self: Any, *words: Any, **more: Any) -> Any:
        """Send a command to the shell of a Mininet node (`self`), with the arguments and result of Mininet's `sendCmd`;
        if an interrupt came since the node's last command, first make the shell idle. SIGINT is blocked while the
        command is sent.
        """
        if getattr(self, "interrupts_seen", Interrupts.number) != Interrupts.number:
            make_idle(self)
        self.interrupts_seen = Interrupts.number
        # An interrupt between the write and the note that the host is busy would leave a host that only looks idle.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return plain_send(self, *words, **more)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def wait_output(self: Any, *words: Any, **more: Any) -> Any:
        """Wait for the output of the command of a Mininet node (`self`), with the arguments and result of Mininet's
        `waitOutput`. If an interrupt comes meanwhile, end the command, make the shell idle and raise the handler's
        exception again.
        """
        seen = Interrupts.number
        try:
            return plain_wait(self, *words, **more)
        except BaseException:
            # The script's own handler of a signal may raise any exception.
            if Interrupts.number != seen:
                make_idle(self)
            raise

    mininet.node.Node.sendCmd = send_command
    mininet.node.Node.waitOutput = wait_output


def make_idle(node: Any) -> None:
    """Interrupt the command that runs in the shell of a Mininet node, if there is one, and wait for an idle shell, at
    most for a few seconds of network time; the output is discarded, and then the node counts as idle for Mininet. If no
    prompt comes, because a command ignores interrupts, the node stays busy. Nothing happens if the node has no shell.
    """
    if not node.shell:
        return
    node.interrupts_seen = Interrupts.number
    node.sendInt()
    if node.waiting and not _read_until(node, PROMPT):
        return
    for attempt in range(MAX_ATTEMPTS):
        # A shell that handles Ctrl-C may discard the first letter of what it reads next.
        _discard_output(node)
        mark = f"interrupt {Interrupts.number}.{attempt}"
        node.write(f"echo {mark}\n")
        if _read_until(node, f"{mark}\r\n{PROMPT}"):
            break
    node.waiting = False


def _discard_output(node: Any) -> None:
    """Read and discard the output of a Mininet node's shell until none comes for WAIT_MS ms of network time, in at most
    MAX_WAITS reads of up to 1024 bytes.
    """
    for _ in range(MAX_WAITS):
        if not _has_output(node):
            return
        node.read(1024)


def _read_until(node: Any, text: str) -> bool:
    """Read and discard the output of a Mininet node's shell until it contains `text`, and return True; return False
    after MAX_WAITS reads, each of which waits up to WAIT_MS ms of network time.
    """
    output = ""
    for _ in range(MAX_WAITS):
        if _has_output(node):
            output += node.read(1024)
        if text in output:
            return True
    return False


def _has_output(node: Any) -> bool:
    """Return True as soon as a Mininet node's shell has output that was not read, or False after WAIT_MS ms of network
    time without any.
    """
    # Mininet's own waitReadable also returns when the terminal can be written to, which is always.
    output = select.poll()
    output.register(node.stdout, select.POLLIN)
    return bool(node.readbuf or output.poll(WAIT_MS))
