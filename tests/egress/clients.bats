#!/usr/bin/env bats
# Programs as people use them, without any setting for a proxy: each reaches what the policy names, and fails at once and
# plainly on a name and on an address that it does not. A container stands in a network of its own; the programs are
# the host's, in its cgroup and its network.
#
# Environment
#   AGENTRUN       a built program
#   CLIENTS=all    every client that is installed; else a sample (make check-clients)

bats_require_minimum_version 1.5.0
load ../integration/helpers.bash
load ../integration/helpers/outside.bash

PARTS=$BATS_TEST_DIRNAME/../integration/helpers
SAMPLE='curl git-https python'
# Asserted loosely: a machine has other things to do. What was measured is printed.
readonly SLOW_MS=$((20000 * ${PATIENCE-1}))

setup_file() {
	export SUITE_POLICY=1
	suite_setup_file
	[ "$KIND" = agentrun ] || skip "only agentrun has a policy"
	[ ! -e /etc/agentrun/policy.json ] || skip "this host has a policy of its own"
	local program
	for program in openssl git curl; do
		command -v "$program" >/dev/null || skip "$program is not installed"
	done
	export W=$BATS_FILE_TMPDIR
	export T=$W ROOT=$W/root BUNDLE=$W/bundle ROOTFS=$W/bundle/rootfs LOG=$W/log.json ID=clients CGROUP=$CGROUP_TOP/clients
	umask 022
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=shop \
		-addext 'subjectAltName=DNS:good.test,DNS:evil.test' -keyout "$W/key.pem" -out "$W/cert.pem" 2>/dev/null
	stock_shop
	outside_make
	world_daemon shop /usr/bin/python3 "$BATS_TEST_DIRNAME/shop.py" "$ALLOWED" "$W/shop" "$W/cert.pem" "$W/key.pem"
	world_daemon other /usr/bin/python3 "$BATS_TEST_DIRNAME/shop.py" "$OTHER" "$W/shop" "$W/cert.pem" "$W/key.pem"
	world_daemon dns /usr/bin/python3 "$PARTS/dns.py" "$SERVER" "good.test=$ALLOWED" "evil.test=$OTHER"
	wait_for 20 grep -qs ready "$W/shop.out"
	wait_for 20 grep -qs ready "$W/other.out"
	wait_for 20 grep -qs ready "$W/dns.out"
	suite_bundle
	call run --detach --bundle "$BUNDLE" "$ID"
	works
}

# suite_bundle: a container that only waits.
suite_bundle() {
	: >"$LOG"
	make_bundle "$BUNDLE"
	give_network
	args sleep 1000
	allow '{"host": "good.test", "ports": [443, 80]}' '{"host": "good.test", "ports": [22]}'
}

# What the clients come for.
stock_shop() {
	mkdir -p "$W/shop/simple/thing" "$W/shop/npm/thing/-" "$W/wheel/thing-1.0.dist-info" "$W/package"
	echo 'this is the shop' >"$W/shop/hello"
	git init -q "$W/work"
	git -C "$W/work" -c user.name=t -c user.email=t@t commit -q --allow-empty -m 'from the shop'
	git clone -q --bare "$W/work" "$W/shop/repo.git" 2>/dev/null
	git -C "$W/shop/repo.git" update-server-info
	echo 'print("from the shop")' >"$W/wheel/thing.py"
	printf 'Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n' >"$W/wheel/thing-1.0.dist-info/METADATA"
	printf 'Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n' >"$W/wheel/thing-1.0.dist-info/WHEEL"
	printf 'thing.py,,\nthing-1.0.dist-info/METADATA,,\nthing-1.0.dist-info/WHEEL,,\nthing-1.0.dist-info/RECORD,,\n' \
		>"$W/wheel/thing-1.0.dist-info/RECORD"
	(cd "$W/wheel" && /usr/bin/python3 -m zipfile -c "$W/shop/simple/thing/thing-1.0-py3-none-any.whl" thing.py thing-1.0.dist-info)
	echo '<a href="thing-1.0-py3-none-any.whl">thing-1.0-py3-none-any.whl</a>' >"$W/shop/simple/thing/index.html"
	echo '{"name":"thing","version":"1.0.0"}' >"$W/package/package.json"
	tar -C "$W" -czf "$W/shop/npm/thing/-/thing-1.0.0.tgz" package
	printf '{"name":"thing","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"thing","version":"1.0.0","dist":{"tarball":"https://good.test/npm/thing/-/thing-1.0.0.tgz","shasum":"%s"}}}}' \
		"$(sha1sum "$W/shop/npm/thing/-/thing-1.0.0.tgz" | cut -d' ' -f1)" >"$W/shop/npm/thing/index.json"
}

teardown_file() {
	[ -z "${ROOT-}" ] || rt delete --force "$ID" >/dev/null 2>&1 3>&- || true
	outside_end
	[ -z "${ROOT-}" ] || rm -f /var/log/agentrun/*-"$(log_root)".*
	suite_teardown_file
}

setup() {
	T=$BATS_TEST_TMPDIR RESOLV_CONF=$W/resolv.conf BOX_HOME=$T/home
	mkdir "$BOX_HOME"
}

# client NAME PROGRAM: skips what is not wanted or not there.
client() {
	[ "${CLIENTS-}" = all ] || [[ " $SAMPLE " = *" $1 "* ]] || skip "not in the sample (CLIENTS=all)"
	command -v "$2" >/dev/null || skip "$2 is not installed"
}

# refused WORDS COMMAND...: fails, says so in these words, and soon.
refused() {
	local words=$1 begin=${EPOCHREALTIME/./} ms
	shift
	status=0
	output=$(box "$@") || status=$?
	ms=$(((${EPOCHREALTIME/./} - begin) / 1000))
	printf '# %s: refused after %s ms with the start of the program\n' "$BATS_TEST_DESCRIPTION" "$ms" >&3
	if [ "$status" -eq 0 ] || [ "$status" -eq 124 ] || ! [[ $output =~ $words ]] || [ "$ms" -gt "$SLOW_MS" ]; then
		printf '%s\nexit code %s after %s ms; expected: %s\n' "$output" "$status" "$ms" "$words"
		return 1
	fi
}

@test "the refusals themselves take no time" {
	/usr/bin/python3 -V >/dev/null || skip "no python3"
	# the median of many, which a busy machine does not change much; the aim is 50 ms
	run -0 box /usr/bin/python3 - "$OTHER" <<-'END'
		import socket, sys, time
		def median(f):
		    times = []
		    for _ in range(15):
		        begin = time.monotonic()
		        try:
		            f()
		            sys.exit("not refused")
		        except OSError as e:
		            error = e
		        times.append(time.monotonic() - begin)
		    return sorted(times)[7] * 1000, error
		for what, f in (("name", lambda: socket.getaddrinfo("evil.test", 443)),
		                ("address", lambda: socket.create_connection((sys.argv[1], 443)))):
		    ms, error = median(f)
		    print("%s: %.3f ms, %s" % (what, ms, error))
		    assert ms < 2000, ms
	END
	[[ $output = *'name: '*'not known'*'address: '*'not permitted' ]]
	printf '# %s\n' "${output//$'\n'/; }" >&3
}

@test "curl" {
	client curl curl
	run -0 box curl -sS --cacert "$W/cert.pem" https://good.test/hello
	[ "$output" = 'this is the shop' ]
	run -0 box curl -sS http://good.test/hello
	refused 'Could not resolve host' curl -sS https://evil.test/hello
	refused "[Cc]onnect" curl -sSk "https://$OTHER/hello"
	# the same address, another name
	refused 'reset|SSL|alert' curl -sSk https://evil.test/hello --resolve "evil.test:443:$ALLOWED"
}

@test "wget" {
	client wget wget
	run -0 box wget -qO- --ca-certificate="$W/cert.pem" https://good.test/hello
	[ "$output" = 'this is the shop' ]
	refused 'unable to resolve' wget -O- -t 1 https://evil.test/hello
	refused 'not permitted' wget -O- -t 1 --no-check-certificate "https://$OTHER/hello"
}

@test "git over HTTPS" {
	client git-https git
	run -0 box git -c http.sslCAInfo="$W/cert.pem" clone -q https://good.test/repo.git "$T/clone"
	git -C "$T/clone" log | grep -q 'from the shop'
	refused 'not resolve host' git clone -q https://evil.test/repo.git "$T/none"
	refused '[Cc]onnect' git clone -q "https://$OTHER/repo.git" "$T/none"
}

@test "git over SSH" {
	client git-ssh ssh
	[ -x /usr/sbin/sshd ] || skip "sshd is not installed"
	mkdir -p /run/sshd "$T/keys"
	ssh-keygen -q -t ed25519 -N '' -f "$T/keys/host"
	ssh-keygen -q -t ed25519 -N '' -f "$T/keys/user"
	cp "$T/keys/user.pub" "$T/keys/authorized"
	world_daemon sshd /usr/sbin/sshd -D -e -f /dev/null -h "$T/keys/host" -o "ListenAddress=$ALLOWED" -o "ListenAddress=$OTHER" \
		-o UsePAM=no -o PidFile=none -o StrictModes=no -o "AuthorizedKeysFile=$T/keys/authorized" -o PermitRootLogin=yes
	wait_for 20 grep -q listening "$W/sshd.err"
	export SSH="ssh -F none -i $T/keys/user -o UserKnownHostsFile=/dev/null -o StrictHostKeyChecking=no -o LogLevel=ERROR"
	run -0 box env GIT_SSH_COMMAND="$SSH" git clone -q "ssh://root@good.test$W/shop/repo.git" "$T/clone"
	git -C "$T/clone" log | grep -q 'from the shop'
	refused 'resolve hostname' env GIT_SSH_COMMAND="$SSH" git clone -q "ssh://root@evil.test$W/shop/repo.git" "$T/none"
	refused 'not permitted' env GIT_SSH_COMMAND="$SSH" git clone -q "ssh://root@$OTHER$W/shop/repo.git" "$T/none"
}

@test "python" {
	client python /usr/bin/python3
	local fetch='import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode(), end="")'
	run -0 box SSL_CERT_FILE="$W/cert.pem" /usr/bin/python3 -c "$fetch" https://good.test/hello
	[ "$output" = 'this is the shop' ]
	refused 'not known' /usr/bin/python3 -c "$fetch" https://evil.test/hello
	refused 'not permitted' /usr/bin/python3 -c "$fetch" "https://$OTHER/hello"
}

@test "pip" {
	client pip /usr/bin/pip3
	local options=(--disable-pip-version-check --no-cache-dir download --no-deps -d "$T/got" --cert "$W/cert.pem" --retries 0)
	run -0 box /usr/bin/pip3 "${options[@]}" --index-url https://good.test/simple thing
	rm "$T/got/thing-1.0-py3-none-any.whl"
	refused 'not known' /usr/bin/pip3 "${options[@]}" https://evil.test/simple/thing/thing-1.0-py3-none-any.whl
	refused 'not permitted' /usr/bin/pip3 "${options[@]}" "https://$OTHER/simple/thing/thing-1.0-py3-none-any.whl"
}

@test "npm" {
	client npm npm
	mkdir "$T/app"
	echo '{"name":"app","version":"1.0.0"}' >"$T/app/package.json"
	local options=(--prefix "$T/app" --cafile "$W/cert.pem" --no-audit --no-fund --no-update-notifier --fetch-retries=0 install thing)
	run -0 box npm --registry https://good.test/npm/ "${options[@]}"
	[ -e "$T/app/node_modules/thing/package.json" ]
	rm -rf "$T/app/node_modules" "$T/app/package-lock.json" "$T/home/.npm"
	echo '{"name":"app","version":"1.0.0"}' >"$T/app/package.json"
	refused ENOTFOUND npm --registry https://evil.test/npm/ "${options[@]}"
	refused EPERM npm --registry "https://$OTHER/npm/" "${options[@]}"
}

@test "node fetch" {
	client node node
	cat >"$T/client.js" <<-'END'
		fetch(process.argv[2]).then(r => r.text()).then(t => process.stdout.write(t),
			e => { console.log(e.cause ? e.cause.code : e.code); process.exit(3) })
	END
	run -0 box NODE_EXTRA_CA_CERTS="$W/cert.pem" node "$T/client.js" https://good.test/hello
	[ "$output" = 'this is the shop' ]
	refused ENOTFOUND node "$T/client.js" https://evil.test/hello
	refused EPERM node "$T/client.js" "https://$OTHER/hello"
}

@test "Go" {
	client go go
	cat >"$T/client.go" <<-'END'
		package main

		import (
			"fmt"
			"io"
			"net/http"
			"os"
		)

		func main() {
			answer, err := http.Get(os.Args[1])
			if err != nil {
				fmt.Println(err)
				os.Exit(3)
			}
			_, _ = io.Copy(os.Stdout, answer.Body)
		}
	END
	HOME=$T/home GOCACHE=${GOCACHE-$W/go} GOFLAGS=-modcacherw go build -o "$T/client" "$T/client.go"
	# the resolver of the language, and the one of the C library
	for how in go cgo; do
		run -0 box SSL_CERT_FILE="$W/cert.pem" GODEBUG="netdns=$how" "$T/client" https://good.test/hello
		[ "$output" = 'this is the shop' ]
		refused 'no such host' GODEBUG="netdns=$how" "$T/client" https://evil.test/hello
	done
	refused 'not permitted' "$T/client" "https://$OTHER/hello"
}

@test "Java" {
	client java java
	command -v keytool >/dev/null || skip "keytool is not installed"
	cat >"$T/Client.java" <<-'END'
		import java.net.URI;
		import java.net.http.HttpClient;
		import java.net.http.HttpRequest;
		import java.net.http.HttpResponse;

		public class Client {
			public static void main(String[] args) throws Exception {
				HttpRequest ask = HttpRequest.newBuilder(URI.create(args[0])).build();
				System.out.print(HttpClient.newHttpClient().send(ask, HttpResponse.BodyHandlers.ofString()).body());
			}
		}
	END
	cat >"$T/Old.java" <<-'END'
		import java.net.URL;

		public class Old {
			public static void main(String[] args) throws Exception {
				System.out.print(new String(new URL(args[0]).openStream().readAllBytes()));
			}
		}
	END
	keytool -importcert -noprompt -alias shop -file "$W/cert.pem" -keystore "$T/trust" -storepass changeit >/dev/null 2>&1
	local trust=(-Djavax.net.ssl.trustStore="$T/trust" -Djavax.net.ssl.trustStorePassword=changeit)
	run -0 box java "${trust[@]}" "$T/Client.java" https://good.test/hello
	[ "$output" = 'this is the shop' ]
	refused 'Unresolved|UnknownHost' java "${trust[@]}" "$T/Client.java" https://evil.test/hello
	refused 'not permitted|ConnectException' java "${trust[@]}" "$T/Client.java" "https://$OTHER/hello"
	run -0 box java "${trust[@]}" "$T/Old.java" https://good.test/hello
	refused UnknownHostException java "${trust[@]}" "$T/Old.java" https://evil.test/hello
	refused 'not permitted' java "${trust[@]}" "$T/Old.java" "https://$OTHER/hello"
}
