"""The steps of a conversation: a follow-up made whole, answered by a method, and said."""
