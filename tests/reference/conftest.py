from hypothesis import settings

# Nothing depends on how fast the machine is; the first example may also pay for compilation.
settings.register_profile("reference", deadline=None, max_examples=60)
settings.load_profile("reference")
