"""Typed tools here and in openhands-sdk, side by side: `python -m benchmarks.typed`."""
