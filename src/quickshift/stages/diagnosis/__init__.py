"""The paper's quantities for an estimate: its modes, what separates them, its conditions."""
