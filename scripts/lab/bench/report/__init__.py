"""What has been measured, for people to read."""
