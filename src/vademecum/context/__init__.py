"""What reaches the agent, or the person, of what was found."""
