# Everything is done by the scripts in script/; this file names them.
.DEFAULT_GOAL := help
.PHONY: help setup build demo test check bench package fuzz

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s  %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what is missing to build and test: packages, Ruby, gems, Python tools
	@script/setup

build: setup ## Build the Ruby and Python extensions in place, and the scripted LLM server
	@script/build >/dev/null

demo: ## Watch a support agent answer from Ruby, Python and Rust
	@script/demo

test: setup ## Build everything and run the Rust, Ruby and Python tests
	@script/test

check: setup ## Formatting, lints, types, signatures and the repository's own rules
	@script/check

bench: setup ## Measure CPU, memory and latency against plain HTTP loops
	@script/bench

package: setup ## Build gem, wheel, sdist and crate; install and run each in an empty place
	@script/package

SECONDS ?= 300
fuzz: setup ## Feed each reader of foreign bytes with damaged ones for SECONDS=300
	@script/fuzz --seconds $(SECONDS)
