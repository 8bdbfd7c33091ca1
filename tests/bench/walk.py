"""The baseline: the posted receives of ob1, walked in gdb's Python as one would at a prompt.

It reads the same lists as mpi-queues, by the names of Open MPI's own types, and prints a line
for each receive. The types come from an object file that the benchmark adds to the session.
"""

import gdb


def requests(opal_list, request_type):
    """Yields the requests of an opal_list_t."""
    sentinel = opal_list["opal_list_sentinel"].address
    item = opal_list["opal_list_sentinel"]["opal_list_next"]
    while item != sentinel:
        yield item.cast(request_type).dereference()
        item = item["opal_list_next"]


class Walk(gdb.Command):
    """Print the posted receives of all communicators."""

    def __init__(self):
        super().__init__("walk", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        """Walks."""
        array_type = gdb.lookup_type("opal_pointer_array_t").pointer()
        communicator_type = gdb.lookup_type("ompi_communicator_t").pointer()
        comm_type = gdb.lookup_type("mca_pml_ob1_comm_t").pointer()
        request_type = gdb.lookup_type("mca_pml_ob1_recv_request_t").pointer()

        array = gdb.parse_and_eval("(unsigned long) &ompi_mpi_communicators").cast(array_type)
        for index in range(int(array["size"])):
            communicator = array["addr"][index].cast(communicator_type)
            if not communicator:
                continue
            print(communicator["c_name"].string())
            comm = communicator["c_pml_comm"].cast(comm_type)
            if not comm:
                continue
            lists = [comm["wild_receives"]]
            for rank in range(int(comm["num_procs"])):
                if comm["procs"][rank]:
                    lists.append(comm["procs"][rank]["specific_receives"])
            for opal_list in lists:
                for request in requests(opal_list, request_type):
                    base = request["req_recv"]["req_base"]
                    print("  from %d tag %d count %d datatype 0x%x buffer 0x%x" % (
                        int(base["req_peer"]), int(base["req_tag"]), int(base["req_count"]),
                        int(base["req_datatype"]), int(base["req_addr"])))


Walk()
