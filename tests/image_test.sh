#!/bin/bash
# The image of packaging/Dockerfile, built and run: as nobody's user, without capabilities, on a
# root that is only read. It takes some minutes, buildah, runc and root; `make test-image`.
#
# Where no registry can be reached its base is made here of the distribution's packages
# (debootstrap), under the name that the Dockerfile asks for.
. "$(dirname "$0")/lib.sh"
need_python
image=weir-image-test
container=

for tool in buildah runc; do
    command -v $tool >/dev/null || { echo "note: skipped: the image needs $tool"; exit 0; }
done
[ "$(id -u)" = 0 ] || { echo 'note: skipped: the image is built and run by root'; exit 0; }
export BUILDAH_ISOLATION=${BUILDAH_ISOLATION:-chroot}

end()
{
    runc --root "$dir/runc" delete --force $image
    [ -z "$container" ] || buildah rm "$container"
    buildah rmi $image
    rm -rf "$dir"
} >/dev/null 2>&1
trap end EXIT

base=$(sed -n 's/^FROM \([^ ]*\)$/\1/p' packaging/Dockerfile)
suite=${base#*:}
if ! buildah inspect --type image "$base" >/dev/null 2>&1 &&
    ! buildah pull -q "$base" >"$dir/out" 2>&1; then
    echo "note: $base cannot be pulled: it is made by debootstrap"
    debootstrap --variant=minbase "${suite%-slim}" "$dir/base" >"$dir/out" 2>&1 &&
        container=$(buildah from scratch) && buildah add -q "$container" "$dir/base" / &&
        buildah commit -q "$container" "docker.io/library/$base" && buildah rm "$container"
    container=
fi >/dev/null

git ls-files -z | xargs -0 cp --parents -t "$(mkdir "$dir/tree" && echo "$dir/tree")"
buildah build --pull-never -q -f packaging/Dockerfile -t $image "$dir/tree" >"$dir/out" 2>&1
built=$?
ok 'the image builds' $built 0
[ $built = 0 ] || { tail -5 "$dir/out"; finish; exit 1; }

# What the image says of itself is what runs, on the network of the machine.
port=$(python3 -c 'import sys; sys.path.insert(0, "tests/upstream")
from harness import free_port
print(free_port())')
container=$(buildah from --pull-never $image)
printf 'listen: 127.0.0.1:%s\n' "$port" >"$dir/weir.yaml"
buildah inspect --type image $image >"$dir/image.json"
(cd "$dir" && runc spec)
python3 - "$dir" "$(buildah mount "$container")" <<'EOF'
import json, sys
folder, root = sys.argv[1:]
with open(folder + '/image.json', encoding='utf-8') as file:
    image = json.load(file)['OCIv1']['config']
with open(folder + '/config.json', encoding='utf-8') as file:
    spec = json.load(file)
user, group = map(int, image['User'].split(':'))
process = spec['process']
process.pop('rlimits', None)
process.update(user={'uid': user, 'gid': group}, args=image['Entrypoint'] + image['Cmd'],
               terminal=False, noNewPrivileges=True, capabilities={})
spec['root'] = {'path': root, 'readonly': True}
spec['linux']['namespaces'] = [n for n in spec['linux']['namespaces'] if n['type'] != 'network']
spec['linux'].pop('resources', None)
spec['mounts'] = [m for m in spec['mounts'] if m['type'] not in ('cgroup', 'sysfs', 'mqueue')] + [
    {'destination': '/etc/weir/weir.yaml', 'type': 'bind', 'source': folder + '/weir.yaml',
     'options': ['bind', 'ro']},
    *({'destination': volume, 'type': 'tmpfs', 'source': 'tmpfs',
       'options': ['mode=700', f'uid={user}', f'gid={group}']} for volume in image['Volumes'])]
with open(folder + '/config.json', 'w', encoding='utf-8') as file:
    json.dump(spec, file)
EOF
runc --root "$dir/runc" run --bundle "$dir" $image >"$dir/out" 2>&1 &
get()
{
    curl -s --max-time 5 "http://127.0.0.1:$port$1"
}
for _ in $(seq 300); do
    [ "$(get /healthz)" = ok ] && break
    sleep 0.1
done
ok 'it lives' "$(get /healthz)" ok
ok 'and is ready, with its store' "$(get /readyz)" ok
pid=$(runc --root "$dir/runc" state $image | sed -n 's/.*"pid": \([0-9]*\).*/\1/p')
ok 'as nobody, and may nothing' \
    "$(awk '/^(Uid|CapEff|CapBnd|NoNewPrivs)/ { print $2 }' "/proc/$pid/status" | xargs)" \
    '65532 0000000000000000 0000000000000000 1'
ok 'its root is only read' "$(awk '$5 == "/" { print substr($6, 1, 2) }' "/proc/$pid/mountinfo")" ro
runc --root "$dir/runc" kill $image TERM
wait $!
ok 'it ends when it is told to' $? 0
finish
