"""A stand-in for Gemini's generateContent that writes a plausible verdict."""
