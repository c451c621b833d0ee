"""Where tests start processes: a clean one that forks, since a fork of a test's own could wait for a thread's lock."""

import multiprocessing

METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
CONTEXT = multiprocessing.get_context(METHOD)
CONTEXT.set_forkserver_preload(["torch", "ponder_course.common.runs", "ponder_utils.training"])
