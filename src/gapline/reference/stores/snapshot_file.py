"""`snapshot:FILE`: the values of a snapshot under another name, or beside those of other stores."""

from gapline.errors import UsageError
from gapline.reference.freeze import FreezeRequest, Frozen, refuse_earlier
from gapline.reference.snapshot import Snapshot


def freeze_file(request: FreezeRequest) -> Frozen:
    """Freeze the content of a snapshot; it becomes the parent, and what it states of itself stays."""
    given = Snapshot.load(request.location)
    for name in ("objective", "checker", "sense"):
        asked, stated = getattr(request, name), getattr(given, name, None)
        if asked is not None and stated is not None and asked != stated:
            raise UsageError(f"{request.location}: expected the {name} {asked}, got {stated}")
    if request.as_of is not None and given.as_of is not None:
        refuse_earlier(request.as_of, given.as_of, f"snapshot {given.name}")
    declared = {name: value for name, value in request.declared().items() if value is not None}
    told = {name: value for name in ("version", "url") if (value := getattr(request, name)) is not None}
    stated = {"as_of": given.as_of, "objective": given.objective, "checker": given.checker}
    # How it came from its own parent is not how this one comes from it.
    more = {name: value for name, value in given.more.items() if name != "fold"}
    snapshot = Snapshot.from_entries(
        {instance: entry.document() for instance, entry in given.values.items()},
        name=request.name,
        store=given.store.model_dump(exclude_unset=True) | told,
        parent=given.digest,
        **more | stated | declared,
    )
    return Frozen(snapshot)
