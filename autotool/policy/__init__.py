"""What happens around a call."""
