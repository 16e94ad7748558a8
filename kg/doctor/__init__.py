"""The doctor of endpoints (`kgqa kg check`): measures one and says what is wrong with it, and what to do."""
