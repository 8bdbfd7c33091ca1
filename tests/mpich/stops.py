"""Runs a program, stops it at many places that nobody has chosen, and displays it at each.

Variables: $seed, $stops, and $folder for what is displayed: N.json for each stop.
"""

import os
import random
import signal
import threading

import gdb

CALLS = ("Send", "Ssend", "Bsend", "Isend", "Issend", "Ibsend", "Irsend", "Recv", "Irecv",
         "Mrecv", "Imrecv", "Sendrecv", "Start", "Startall", "Wait", "Waitall", "Waitany",
         "Waitsome", "Test", "Testall", "Probe", "Iprobe", "Mprobe", "Improbe", "Cancel",
         "Request_free", "Barrier", "Comm_dup", "Comm_split", "Comm_free", "Intercomm_create",
         "Type_free", "Finalize")


def variable(name):
    return gdb.convenience_variable(name)


def go_on():
    """Goes on to the next call, or to wherever it is after a second: it may wait for ever."""
    timer = threading.Timer(1, os.kill, (gdb.selected_inferior().pid, signal.SIGINT))
    timer.start()
    try:
        gdb.execute("continue", to_string=True)
    finally:
        timer.cancel()
        timer.join()


def stop_somewhere():
    """Goes on to some later call, and then some instructions into it."""
    for _ in range(random.randint(1, 5)):
        go_on()
    gdb.execute("stepi %d" % random.choice((1, 40, 300, 1500, 6000)), to_string=True)


def main():
    random.seed(int(variable("seed")))
    gdb.execute("break main", to_string=True)
    gdb.execute("run", to_string=True)
    gdb.execute("delete", to_string=True)
    for call in CALLS:
        try:
            gdb.Breakpoint("MPI_" + call, internal=True)
        except gdb.error:
            pass
    for number in range(int(variable("stops"))):
        try:
            stop_somewhere()
        except gdb.error:
            pass  # it has ended, or is about to
        if not gdb.selected_inferior().pid:
            break
        where = "%s/%d" % (variable("folder").string(), number)
        with open(where + ".where", "w", encoding="utf-8") as file:
            file.write(gdb.execute("backtrace 12", to_string=True))
        try:
            gdb.execute("mpi-queues -json -internal -output " + where + ".json")
        except gdb.error as error:
            with open(where + ".said", "w", encoding="utf-8") as file:
                file.write(str(error))
        print("displayed %d" % number)
    # The test ends the job from here on: others may wait for this rank.
    open(variable("folder").string() + "/end", "w", encoding="utf-8").close()
    if gdb.selected_inferior().pid:
        gdb.execute("kill")


main()
