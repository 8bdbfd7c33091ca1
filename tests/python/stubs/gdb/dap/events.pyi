inferior_running: bool
