"""Files of any origin: written atomically, read within limits, unpacked safely."""
