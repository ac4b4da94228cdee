"""What a team would otherwise pick to serve a ready-made verdict, written as its users would."""
