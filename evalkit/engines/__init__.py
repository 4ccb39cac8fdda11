"""Where partitions are read when not by threads of this process: other processes, a cluster, any executor."""
