"""Record stores behind one narrow waist (`protocols.Store`): the schema is per family, the interface is not."""
