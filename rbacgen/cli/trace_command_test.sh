#!/usr/bin/env bash
# Runs rbacgen trace as a user does, on lines that kube-apiserver 1.36 writes.
set -euo pipefail
rbacgen=$1
source rbacgen/testing/expect.sh

agent='mandate-manager/0.1.0 (linux/amd64)'
account=system:serviceaccount:mandate-system:mandate-manager

# event ID STAGE VERB USER AGENT CREDENTIAL OBJECT CODE [ANNOTATION]
event() {
  echo "{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"level\":\"Metadata\",\"auditID\":\"$1\"," \
    "\"stage\":\"$2\",\"requestURI\":\"/x\",\"verb\":\"$3\",\"user\":{\"username\":\"$4\"," \
    "\"extra\":{\"authentication.kubernetes.io/credential-id\":[\"$6\"]}},\"userAgent\":\"$5\"," \
    "\"objectRef\":$7,\"responseStatus\":{\"metadata\":{},\"code\":$8}," \
    "\"requestReceivedTimestamp\":\"2026-11-21T03:16:05.005681Z\",\"annotations\":{${9:-}}}"
}

token='{"resource":"serviceaccounts","namespace":"mandate-system","name":"mandate-manager-scope","apiVersion":"v1","subresource":"token"}'
issued='"authentication.kubernetes.io/issued-credential-id":"JTI=00000001-a"'
pods='{"resource":"pods","apiVersion":"v1"}'
{
  event 1 ResponseComplete create $account "$agent" JTI=base "$token" 201 "$issued"
  event 2 ResponseComplete list $account-scope "$agent scope" JTI=00000001-a "$pods" 200
  event 3 ResponseStarted watch $account-scope "$agent scope" JTI=00000001-a "$pods" 200
  event 3 ResponseComplete watch $account-scope "$agent scope" JTI=00000001-a "$pods" 200
  event 4 ResponseComplete list system:kube-scheduler kube-scheduler/1 X "$pods" 200
} >"$dir/good.log"

expect 0 'a good log' trace --check "$dir/good.log"
says 'a good log' out 'JTI=00000001-a  scope      mandate-system/mandate-manager-scope  mandate-system/mandate-manager'
says 'a good log' out '3 requests from the manager in 5 lines; 1 token used by components; no findings'
cp "$dir/out" "$dir/good"
expect 0 'from standard input' trace --check - <"$dir/good.log"
diff "$dir/good" "$dir/out" || fail 'standard input differs'
expect 0 'in two files' trace --check <(head -n 2 "$dir/good.log") <(tail -n +3 "$dir/good.log")
diff "$dir/good" "$dir/out" || fail 'two files differ'
expect 0 'JSON' trace --json "$dir/good.log"
says JSON out '"findings":[]'

# The server may be writing the log, so its last line may be incomplete.
{ cat "$dir/good.log"; printf '{"kind":"Event","userAgent":"mandate-manager/'; } >"$dir/half.log"
expect 0 'half a line' trace --check "$dir/half.log"
says 'half a line' out 'in 5 lines; 1 token used by components; no findings'

{ cat "$dir/good.log"; echo garbage; head -c 5000 /dev/zero | tr '\0' x; echo; } >"$dir/bad.log"
expect 0 'unreadable lines' trace --check --max-line=4096 "$dir/bad.log"
says 'unreadable lines' out '2 lines could not be read'

# A file that is not an audit log proves nothing.
printf '# Mandate\n\nA page.\n' >"$dir/page.md"
expect 2 'a page' trace "$dir/page.md"
says 'a page' err 'no line of the log is an audit event ('
[ ! -s "$dir/out" ] || fail 'a page: an answer'
expect 2 'an empty log' trace --check - </dev/null
says 'an empty log' err 'the log is empty: use the file that the API server writes to'
grep kube-scheduler/1 "$dir/good.log" >"$dir/others.log"
expect 0 'requests of others' trace "$dir/others.log"
says 'requests of others' out 'nothing is proven without a request from the manager'
says 'requests of others' err 'the log has no request from the manager mandate-manager in namespace mandate-system, so it proves nothing; --base-name'

tail -n +2 "$dir/good.log" >"$dir/late.log"
expect 0 'findings without --check' trace "$dir/late.log"
expect 1 'a token from nowhere' trace --check "$dir/late.log"
says 'a token from nowhere' out 'FOUND token-origin (high): credential id JTI=00000001-a of scope'
says 'a token from nowhere' err 'no TokenRequest in this log issued it'

# A client chooses its user agent and the names of objects.
event e1 ResponseComplete create $account 'mandate-manager/\u001b[1A\u009b2K\u202e' JTI=base \
  '{"resource":"pods","namespace":"mandate-system","name":"x\u001b[2K\nrbacgen: ","apiVersion":"v1"}' 201 >"$dir/escapes.log"
expect 1 'escapes' trace --check "$dir/escapes.log"
plain 'escapes'
says 'escapes' err 'base-write: base wrote an object other than the components'\'' tokens and its Lease: create pods x\x1b[2K\x0arbacgen: '
expect 0 'escapes, JSON' trace --json "$dir/escapes.log"
plain 'escapes, JSON'

expect 0 'the help' trace --help
for kind in masters foreign-user agent-mismatch no-credential-id token-origin base-write base-impersonates base-pod \
  base-address component-pod component-address two-tokens token-request orphan-binding bound; do
  grep -qE "^  $kind +(high|medium|low) +[a-z]" "$dir/out" || fail "the help lacks $kind"
done
[ "$(grep -cE '^  [a-z-]+ +(high|medium|low) +[a-z]' "$dir/out")" = 15 ] || fail 'the help: further kinds; add them here'

# With --create-service-accounts, the manager makes the missing ServiceAccounts of its components.
account_json() { echo "{\"resource\":\"serviceaccounts\",\"namespace\":\"$1\",\"name\":\"$2\",\"apiVersion\":\"v1\"}"; }
made() { { cat "$dir/good.log"; event c1 ResponseComplete "${3:-create}" $account "$agent" JTI=base "$(account_json "$1" "$2")" 201; } >"$dir/made.log"; }
made mandate-system mandate-manager-scope
expect 1 'a ServiceAccount' trace --check "$dir/made.log"
says 'a ServiceAccount' err 'base-write: base wrote an object other than the components'\'' tokens and its Lease: create serviceaccounts mandate-manager-scope'
says 'a ServiceAccount' err '--create-service-accounts'
expect 0 'a ServiceAccount, of the option' trace --check --create-service-accounts "$dir/made.log"
for other in 'other mandate-manager-scope' 'mandate-system scope' 'mandate-system mandate-manager' \
  'mandate-system mandate-manager-scope delete'; do
  made $other
  expect 1 "a ServiceAccount, $other" trace --check --create-service-accounts "$dir/made.log"
done

# Each request has another credential id: memory is bounded, and the report says that the bound was reached.
for i in $(seq 20); do event "m$i" ResponseComplete list $account-scope "$agent scope" "JTI=$i" "$pods" 200; done >"$dir/many.log"
# A theft is reported with the name of its kind, its severity and the next step.
ips() { sed "s|\"userAgent\"|\"sourceIPs\":[\"$1\"],&|"; }
{ ips 10.1.0.7 <"$dir/good.log"; event t1 ResponseComplete list $account-scope "$agent scope" JTI=00000001-a "$pods" 200 | ips 10.9.9.9; } >"$dir/stolen.log"
expect 1 'a stolen token' trace --check "$dir/stolen.log"
says 'a stolen token' out 'FOUND component-address (high): credential id JTI=00000001-a of scope was requested from 10.1.0.7 and used from 10.9.9.9'
says 'a stolen token' out 'NEXT component-address: '
says 'a stolen token' err 'rbacgen: component-address: '
expect 0 'a gateway' trace --check --address=10.1.0.7,10.9.0.0/16 "$dir/stolen.log"
expect 2 'no address' trace --address=10.9 "$dir/stolen.log"
says 'no address' err '10.9 is not an IP address or CIDR'
expect 2 'no duration' trace --token-overlap=x "$dir/stolen.log"

expect 1 'more credential ids than are kept' trace --check --max-credentials=5 "$dir/many.log"
says 'more credential ids than are kept' out '20 requests from the manager in 20 lines; 5 tokens used by components'
says 'more credential ids than are kept' err 'more than 5 credential ids: the others were not compared'
expect 2 'no bound' trace --max-credentials=0 "$dir/many.log"

expect 1 'nothing of ours' trace --check <(tail -n 1 "$dir/good.log")
says 'nothing of ours' err 'it proves nothing'
expect 2 'no such log' trace "$dir/none"
says 'no such log' err "cannot open $dir/none"
expect 2 'no log' trace
echo PASSED
