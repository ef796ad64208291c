"""The command line `mercer`: each file is one command, or one thing that commands need."""
