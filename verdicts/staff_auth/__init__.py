"""The door to the console: wrong passwords are counted, and a second factor can be asked for."""
