"""The LangGraph server's doors: who may call, how much a call may cost, where its steps are kept.

``langgraph.json`` names `auth`, `middleware` and `checkpoints`; beside it `kgqa mcp` imports `mcp_server`.
"""
