"""Memory of actions, decisions and preferences: record, recall, and supersede facts."""
