"""What a dump must look like and what is asked of it: contracts, policies, and how they are written and guessed."""
