"""The paper's definitions and conditions for an estimate: modes, separation, h and tau."""
