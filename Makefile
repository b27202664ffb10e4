# Two commands need nothing installed by hand: `make trial` and `make test`.
# `make check` is for while one works, `make test-all PART=K` has what takes longer than `make test`.

.PHONY: trial check test test-all serve package soak look docs golden findings format bench clean

trial: ## Build, run Cohorts/quickstart.yaml (two alert policies), print its table.
	@.ci/setup.sh build
	@.ci/trial.sh

check: ## The fast tests of what has changed since BASE (HEAD), or of TESTS='AlertsTests|...'.
	@.ci/setup.sh build
	@.ci/check.sh

test: ## Everything that guards correctness, in its short form; the last line is `N passed, N failed`.
	@.ci/setup.sh build python
	@.ci/test.sh

test-all: ## PART=1, 2 or 3 of what takes longer: docs/test-all.md lists them, and when each last passed.
	@.ci/setup.sh build python
	@.ci/test.sh part '$(PART)'

serve: ## Build the live page and show a ward of a dozen people, some of them in trouble (PORT=8080).
	@.ci/setup.sh build
	@.ci/serve.sh $(or $(PORT),8080)

package: ## Write dist/islet-VERSION-linux-ARCH.tar.gz: the programs for a Debian without Swift, and licences.
	@.ci/setup.sh build
	@.ci/package.sh

soak: ## The long forms of what `make test` samples.
	@.ci/setup.sh build python
	ISLET_SOAK=1 swift test --filter 'IntervalCoverageTests|LiveHostTests|LiveProgramTests|LiveSessionTests|TraceMutationTests|LinkFaultTests|LinkStormTests|SettingsHistoryTests|SettingsSyncKillTests|UpgradeKillTests|PluginFuzzTests|DeceptionTests|LinkedSessionTests|LostAndFoundTests|ClusterTableTests'
	.ci/release.sh build --product islet
	.ci/release.sh run islet-bench coverage
	.ci/release.sh run islet-bench ward
	python3 Tests/Tools/fuzz.py --islet .build/release/islet --mutations 10000
	python3 Tests/Tools/fuzz_readers.py --bench .build/release/islet-bench --inputs 100000
	python3 Tests/Tools/fuzz_algorithm.py --frames 1000000
	python3 Tests/Tools/cluster_checks.py --islet .build/release/islet --twice 200 --kills 200 --sessions 1000000 --shards 1000 --people 10000 --rows 1000000 --disks 50
	.ci/page.sh soak

look: ## Look at reports in Chromium, and hold their numbers against summary.json.
	@.ci/setup.sh build python browser
	.ci/release.sh build --product islet
	python3 -m venv .build-browser
	.build-browser/bin/python -m pip install --disable-pip-version-check -q -r Tests/Tools/report_requirements.txt
	.build-browser/bin/python Tests/Tools/check_report.py --islet .build/release/islet

docs: ## Write the pages of docs that are made from definitions.
	swift build --product islet
	.build/debug/islet metrics --columns > docs/data.md
	.build/debug/islet study person > docs/person.md
	.build/debug/islet study schema --markdown > docs/study-files.md
	.build/debug/islet alerts schema --markdown > docs/policy-files.md
	.build/debug/islet algorithm fields > docs/algorithm-fields.md
	.build/debug/islet algorithm fields --header > C/islet_algorithm.h
	.build/debug/islet alerts schema --scenario --markdown > docs/scenario-files.md

golden: ## Write digests and journals that belong to the engine number (Tests/Golden, Tests/LiveTests/Journals): after it was raised.
	.ci/debug.sh build --build-tests
	ISLET_GOLDEN=write .ci/debug.sh test --skip-build --filter GoldenDigestTests
	python3 Tests/Tools/record_journals.py --islet-live .build/debug/islet-live

findings: ## Run the studies of docs/findings and of validation, and write their pages, figures and README's table (3 minutes).
	@.ci/setup.sh build python
	.ci/release.sh build --product islet
	python3 Tests/Tools/findings.py --islet .build/release/islet

format: ## Format every Swift file in place.
	@git ls-files -co --exclude-standard '*.swift' | xargs swift format --in-place --parallel

bench: ## Measure speed and memory; writes JSON.
	@.ci/setup.sh build python
	.ci/release.sh build --product islet
	.ci/release.sh run islet-bench

clean: ## Remove what was built; results stay.
	rm -rf .build .build-oracles .build-oracles-statistics .build-notebooks .build-browser .build-library .build-serve .build-page .build-clients .build-package .build-python .build-python-oldest dist
