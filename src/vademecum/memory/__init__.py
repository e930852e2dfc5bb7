"""What was done, decided and preferred: kept, found again, and aged when it is no longer true."""
