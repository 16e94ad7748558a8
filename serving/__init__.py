"""The LangGraph server's doors: who may call, how much a call may cost, where its steps are kept.

``langgraph.json`` names `auth`, `middleware` and `checkpoints`; nothing else imports this room.
"""
