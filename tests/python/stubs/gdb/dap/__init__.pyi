"""The part of gdb's Python package for the Debug Adapter Protocol that the extension uses."""
