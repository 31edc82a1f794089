/** Action on an event whose cause lies in the store. */
const checkStore = 'Check the disk, or PostgreSQL and the network to it. `err` has the reason.'

/** Action on an event whose cause lies in the folder of recordings. */
const checkRecordings = 'Check space and permissions of the folder of recordings.'

/** Action on an event that only a fault of the gateway causes. */
const reportFault = 'Report a fault of the gateway, with `err` and the lines of the same call.'

/** Actions of an operator on log events, by event key. Every event at `error` and `fatal` has one. */
export const eventActions: Readonly<Record<string, string>> = {
  'address.audio-failed': reportFault,
  'address.call-failed': reportFault,
  'agent.failed':
    'Read the lines `agent.engine-failed` of the call, and check the server that they name. `fallback` of ' +
    'an engine names another one for such calls.',
  'browser.call-failed': reportFault,
  'call.digits-failed': reportFault,
  'call.replace-failed': reportFault,
  'call.ringing-failed': reportFault,
  'call.start-failed': reportFault,
  'callback.store-failed': checkStore,
  'callbacks.store-failed': checkStore,
  'carrier.unusable': 'Correct the carrier in the API. Calls do not use it until then.',
  'cdr.build-failed': reportFault,
  'cdr.cleanup-failed': checkStore,
  'cdr.entries-lost': 'Restore the store before the next stop. `records` CDRs of the last calls are missing.',
  'cdr.entry-rejected': reportFault,
  'cdr.writes-delayed': 'Check the load of the disk or of the database. CDRs wait in memory.',
  'cdr.writes-failed': checkStore,
  'certificate.expiring': 'Replace the files of the certificate. The gateway reads them without a restart.',
  'certificates.rejected': 'Correct the files of certificates and keys. The old ones stay in use.',
  'chat.message-not-delivered': checkStore,
  'chat.message-unreadable': checkStore,
  'chat.removal-failed': checkStore,
  'cluster.heartbeat-failed': checkStore,
  'conference.listener-failed': reportFault,
  'conference.recording-listener-failed': reportFault,
  'config.commit-failed': 'Restart the gateway. `part` still has the old configuration.',
  'config.reload-failed':
    'Run `scripts/trunkline check`, correct the file, and reload. The old one stays in force.',
  'config.restart-needed': 'Restart the gateway when calls permit. Until then `path` keeps its old value.',
  'config.setting-questionable': 'Read the warning, and change the setting unless it is intended.',
  'control.failed': 'Reload by SIGHUP. Restart the gateway if `trunkline reload` must work.',
  'control.request-failed': reportFault,
  'control.socket-missing': 'Reload by SIGHUP, or correct the permissions of the data folder and restart.',
  'database.lost': 'Restore PostgreSQL or the network to it. The gateway reconnects.',
  'database.unreachable':
    'Check `store.url`, PostgreSQL and the network. The start fails after `store.startTimeout`.',
  'directory.refresh-failed': checkStore,
  'gateway.close-failed': reportFault,
  'gateway.close-timed-out': 'None: the process has ended. Report it with the lines before it if it repeats.',
  'systemd.notification-failed':
    'Look at `err`: `systemctl start` waits for the notification. `systemd-notify` must be in `PATH`.',
  'gateway.error-uncaught':
    'Report it with `err`. The gateway ends its calls and stops; the supervisor must restart it.',
  'gateway.listener-failed': reportFault,
  'gateway.open-files-limited':
    'Raise the limit of open files (`LimitNOFILE`, `--ulimit nofile`) to `needed`.',
  'http.pages-skipped': 'Run `npm run build` if the gateway must serve the pages.',
  'http.request-failed': reportFault,
  'http.schema-rejected': reportFault,
  'invite.setup-failed': reportFault,
  'media.mediasoup-died':
    'Report it with `err`. Pages renew their calls in a new process. SIP endpoints over WebRTC lost theirs.',
  'rooms.composer-died':
    'Report it with `err` if it repeats. The rooms show the speaker until the next process runs.',
  'media.native-sockets-missing':
    'Install a C compiler and run `scripts/worker`. Relayed packets cost twice the CPU.',
  'media.open-failed': 'Widen `media.rtp.ports` if `code` is `no_ports`; else check `media.rtp.bind`.',
  'media.port-failures-suppressed': 'As for `media.open-failed`.',
  'media.thread-died': 'Report it with `err`. The calls of its ports have ended.',
  'oauth.cleanup-failed': checkStore,
  'oauth.request-failed': reportFault,
  'oauth.response-failed': reportFault,
  'push.device-not-removed': checkStore,
  'push.device-unreadable': checkStore,
  'push.devices-unreadable': checkStore,
  'push.notification-failed': reportFault,
  'queue.listener-failed': reportFault,
  'queue.take-failed': reportFault,
  'recording.completion-failed': checkRecordings,
  'recording.conversion-failed': 'Look at `err`. The WebM stays. Check `ffmpeg` and the space in the folder.',
  'recording.failed': checkRecordings,
  'recording.conversion-put-off': checkStore,
  'recording.files-not-read': checkRecordings,
  'recording.manifest-not-saved': checkRecordings,
  'recording.orphan-search-failed': checkRecordings,
  'recording.removal-failed': checkRecordings,
  'recording.row-not-saved': checkStore,
  'recording.settling-failed': checkStore,
  'recording.space-unknown': checkRecordings,
  'recording.tidying-failed': checkRecordings,
  'recording.unreported-query-failed': checkStore,
  'recording.upload-failed': reportFault,
  'recording.source-not-removed': checkRecordings,
  'room.member-file-failed': checkRecordings,
  'room.member-files-failed': reportFault,
  'room.stream-failed':
    'Check the server and the key of the stream, and the network. With `waitMs`, the gateway tries again.',
  'room.stream-unusable': 'Set the URL of the stream again in the API. Its room is not streamed until then.',
  'rpc.follow-up-failed': reportFault,
  'rpc.request-failed': reportFault,
  'sip-agent.connection-lost':
    'Check drachtio-server. The gateway reconnects; its calls end after `graceMs`.',
  'sip-agent.secret-rejected': 'Correct `sip.drachtio.secret`.',
  'sip.agent-died': 'Report it with `err`. The gateway stops; the supervisor must restart it.',
  'sip.agent-faulted': reportFault,
  'speech.folder-unusable': 'Correct the permissions of the folder.',
  'store.unavailable':
    'Free disk space, or repair the disk or its permissions. Until then the API rejects changes; calls ' +
    'continue.',
  'trunk.registration-failed': 'Check the address of the carrier and the network. The gateway tries again.',
  'trunk.registration-rejected':
    'Correct user name and password of the carrier, or ask the carrier. Then reload.',
  'trunk.target-failed': 'Check the target and the network, or ask the carrier. Calls use the next target.',
}
