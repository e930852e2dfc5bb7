"""How answers are shown, to an agent or a person: within a budget, as text and as records."""
