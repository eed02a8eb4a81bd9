#!/usr/bin/env bash
echo "a line of a test that passes"
