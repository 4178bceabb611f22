"""Made by generate.sh from openapi.json: do not edit."""
