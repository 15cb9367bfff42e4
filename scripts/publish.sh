#!/usr/bin/env bash
# Publishes what package.json says, from the release workflow only. npm refuses provenance for a package that names no repository,
# or another one than it was built in: the one that this runs in is written into the published package.json, not into the committed one.
set -euo pipefail
: "${GITHUB_SERVER_URL:?only in the release workflow}" "${GITHUB_REPOSITORY:?only in the release workflow}"
url="$GITHUB_SERVER_URL/$GITHUB_REPOSITORY"
npm pkg set repository.type=git "repository.url=git+$url.git" "homepage=$url#readme" "bugs.url=$url/issues"
npm run release:publish
