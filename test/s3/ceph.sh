#!/usr/bin/env bash
# One monitor, one in-memory OSD and a gateway: a private Ceph on loopback that speaks S3.
# Usage: ceph.sh FOLDER GATEWAY_PORT MONITOR_PORT KEY SECRET; ends all it started when standard input closes.
set -eu
D=$1 PORT=$2 MONITOR=$3 KEY=$4 SECRET=$5
C="-c $D/ceph.conf"
mkdir -p "$D/mon" "$D/osd" "$D/sock" "$D/crash" "$D/rgw"
touch "$D/keyring"
FSID=$(cat /proc/sys/kernel/random/uuid)
# The short proposal interval cuts a start from ten seconds to two.
cat > "$D/ceph.conf" <<CONF
[global]
fsid = $FSID
mon_host = v1:127.0.0.1:$MONITOR
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
mon_data = $D/mon
osd_data = $D/osd
keyring = $D/keyring
run_dir = $D/sock
admin_socket = $D/sock/\$name.asok
log_file = $D/\$name.log
mon_cluster_log_file = $D/cluster.log
crash_dir = $D/crash
pid_file =
osd_objectstore = memstore
memstore_device_bytes = 8589934592
osd_memory_target = 939524096
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 1
osd_pool_default_pgp_num = 1
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
paxos_propose_interval = 0.05
paxos_min_wait = 0.01
mon_data_avail_crit = 1
mon_data_avail_warn = 2
osd_fast_shutdown = false
osd_class_update_on_start = false
osd_crush_update_on_start = false
monmap = $D/monmap
osd_max_object_name_len = 2048
rgw_dns_name = localhost
rgw_frontends = beast endpoint=127.0.0.1:$PORT
rgw_enable_apis = s3, admin
rgw_enable_usage_log = false
rgw_enable_ops_log = false
rgw_enable_quota_threads = false
rgw_enable_gc_threads = false
rgw_enable_lc_threads = false
rgw_run_sync_thread = false
rgw_thread_pool_size = 16
rgw_num_rados_handles = 1
rgw_data = $D/rgw
CONF
STARTED=()
down() {
  trap - EXIT TERM INT
  [ ${#STARTED[@]} -eq 0 ] || kill -KILL "${STARTED[@]}" 2>/dev/null || true
  wait
}
trap down EXIT
trap 'exit 0' TERM INT
# A monitor that has just started may reject its first commands.
patiently() {
  for _ in $(seq 1 60); do
    "$@" >&2 && return
    sleep 0.3
  done
  return 1
}
monmaptool --create --clobber --addv a "[v1:127.0.0.1:$MONITOR]" --fsid "$FSID" "$D/monmap" >&2
ceph-mon $C --mkfs -i a --monmap "$D/monmap" >&2
ceph-mon $C -i a -f >&2 & STARTED+=($!)
OSD=$(cat /proc/sys/kernel/random/uuid)
patiently ceph $C --connect-timeout 10 osd new "$OSD"
ceph-osd $C -i 0 --mkfs --osd-uuid "$OSD" >&2
patiently ceph $C --connect-timeout 10 osd crush add osd.0 1.0 root=default host=localhost
ceph-osd $C -i 0 -f >&2 & STARTED+=($!)
patiently radosgw-admin $C user create --uid=test --display-name=test --access-key="$KEY" --secret-key="$SECRET"
radosgw $C -n client.rgw.a -f >&2 & STARTED+=($!)
echo started
# Until the process that started this closes its end or dies.
cat > /dev/null
