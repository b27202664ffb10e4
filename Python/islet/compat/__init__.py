"""Ways from other simulators to Islet."""
