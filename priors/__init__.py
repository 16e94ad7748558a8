"""What is known before a question is asked: sentence encoders and the vectors they made."""
