"""Reference values: stores, snapshots, policies, folds and alarms."""
