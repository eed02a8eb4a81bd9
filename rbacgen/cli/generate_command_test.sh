#!/usr/bin/env bash
# rbacgen generate and rbacgen check: what they write, report and return.
set -euo pipefail
rbacgen=$PWD/$1
source rbacgen/testing/expect.sh
mkdir -p "$dir/project/controllers/old" "$dir/project/manager"
cd "$dir/project"
silent() { [ ! -s "$dir/out" ] && [ ! -s "$dir/err" ] || { cat "$dir/out" "$dir/err"; fail "$1: is not silent"; }; }

cat >controllers/a.cc <<'END'
// +mandate:component:name=a
// +kubebuilder:rbac:groups=core,resources=pods,verbs=list
END
echo '// +kubebuilder:rbac:groups=core,resources=pods,verbs=wrong' >controllers/old/b.cc
# A comment with an example, in a file without a component.
echo '// +kubebuilder:rbac:groups=core,resources=secrets,verbs=wrong' >manager/example.h
cat >rbacgen.yaml <<'END'
sources:
- controllers
- path: manager
  needs-component: true
skip: [controllers/old]
outputs:
  chart: {dir: chart}
  header: {out: made/a.h, base: with}
  audit-policy: {out: made/policy.yaml}
END

expect 1 missing check
says missing out "made/a.h: error: this file is missing; run \`rbacgen generate\` [drift]"
[ ! -e made ] || fail "check writes a file"

expect 0 generate generate
for file in chart/Chart.yaml chart/templates/generated/a.yaml made/a.h made/policy.yaml; do
  says generate out "wrote $file"
  [ -s "$file" ] || fail "$file is missing"
done
grep -q kBase made/a.h || fail "base: with has no kBase"
! grep -q secrets -r chart/templates/generated made || fail "an example counts"
expect 0 "generate again" generate
silent "generate again"
expect 0 "check" check
silent "check"

# Drift is reported for a changed file and for a file that no source produces.
sed -i '0,/pods/s//nodes/' chart/templates/generated/a.yaml
touch chart/templates/generated/old.yaml
expect 1 drift check
says drift out "chart/templates/generated/a.yaml:"
says drift out "  +  - pods"
says drift out "chart/templates/generated/old.yaml: error: the sources no longer make this file"
expect 1 json check --format=json
says json out '"rule" : "drift"'
expect 1 sarif check --format=sarif
says sarif out '"ruleId" : "drift"'
python3 - "$dir/out" <<'END'
import json, sys
log = json.load(open(sys.argv[1]))
run = log["runs"][0]
assert log["version"] == "2.1.0" and len(run["results"]) == 2, log
for result in run["results"]:
    place = result["locations"][0]["physicalLocation"]
    assert place["region"]["startLine"] >= 1 and place["artifactLocation"]["uri"].startswith("chart/"), result
END
cd ..
expect 1 "from another folder" check --config=project/rbacgen.yaml
says "from another folder" out "chart/templates/generated/a.yaml:"
cd project
expect 0 repair generate
says repair out "wrote chart/templates/generated/a.yaml"
says repair out "removed chart/templates/generated/old.yaml"

# After a mistake, nothing is written, and drift does not hide the mistake.
cp controllers/a.cc good
echo '// +kubebuilder:rbac:groups=core,resources=pods,verbs=lst' >>controllers/a.cc
expect 1 mistake check
says mistake out "controllers/a.cc:3: error:"
says mistake out "[rbac-rule]"
expect 1 "mistake, generate" generate
says "mistake, generate" err "controllers/a.cc:3: error:"
says "mistake, generate" err "1 error; nothing was written"
# check works as a linter without a configuration.
expect 1 lint check controllers/a.cc
says lint out "controllers/a.cc:3: error:"
cp good controllers/a.cc
expect 0 "lint, good" check controllers/a.cc
silent "lint, good"

# Invalid configurations and command lines.
sed -i 's/chart:/chrt:/' rbacgen.yaml
expect 2 key check
says key err 'rbacgen.yaml:7: unknown key "chrt" in outputs; did you mean "chart"?'
expect 2 key generate
expect 2 "no configuration" check --config=none.yaml
expect 2 format check --format=xml
expect 2 "no source" check none.cc
echo PASSED
