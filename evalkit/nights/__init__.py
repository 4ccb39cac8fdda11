"""The nightly job: evaluations run by name and date into a store, held against limits and against an earlier night."""
