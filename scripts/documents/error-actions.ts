import type { Code } from '../../gateway/core/errors/catalogue.ts'

const nothing = 'Nothing: this is an ordinary end of a call.'

/** Action on a rejection because of a limit on callers that are not in a known network. */
const listNetwork =
  'If the caller is a carrier, list its networks in `allow` of the carrier. Otherwise raise ' +
  '`limits.strangers` with care.'

/** Action on a fault of the gateway. */
const report = 'Look for a log line at level `error` with the same `call` or `request`, and report the fault.'

const correctRequest = 'Correct the request. `message` says what is wrong, and `attribute` names the field.'

/** Actions of an operator or a developer on each error code. */
export const errorActions: Readonly<Record<Code, string>> = {
  normal: nothing,
  canceled: nothing,
  busy: nothing,
  declined: nothing,
  no_answer: 'Nothing, or raise the ring time: `timeout` of the verb, or `limits.ring`.',
  answered_elsewhere: nothing,
  not_online:
    'The subscriber has no page open and no device with push notifications. The page must show *Online*.',
  far_refused:
    'Read the status in `sipStatus` of the log line `call ended`. It is the decision of the carrier ' +
    'or of the far phone.',
  unreachable:
    'Check the name, the port and the firewall of the target. `legs[].tries` of the call record has ' +
    'the reason of each attempt. If the detail is `no ACK`, the caller did not acknowledge the answer: ' +
    'check that the caller can reach the Contact address of the gateway.',
  max_duration: 'Nothing, or raise `limits.callDuration`.',
  media_timeout:
    'Check that RTP ports are open in the firewall, and that `media.rtp.announce` is the public address.',
  session_expired:
    'The far side disappeared without BYE. Check the network path, and whether a firewall forgets ' +
    'the connection.',
  client_lost:
    'The network of the browser failed. Check proxies in between for short time-outs of WebSockets.',
  draining: 'Wait for the restart. A carrier with a second target tries it at once.',
  internal: report,
  interrupted: 'Find out why the gateway stopped: see the last lines of its log, and the log of the system.',
  control_lost: 'Check the drachtio-server and the connection to it. The gateway connects again by itself.',
  document_unreachable:
    'Request the URL from the machine of the gateway. Private addresses must be in ' +
    '`limits.documentNetworks`.',
  document_invalid:
    'Read the log line: it lists each fault with its place. Check the document with `trunkline ' +
    'check`, or store it over the API, which checks it.',
  handler_failed: report,
  no_audio: 'The command needs audio, and the call has none yet. Answer the call first.',
  sound_failed:
    'Request the URL from the machine of the gateway, and check its format. Private addresses must ' +
    'be in `limits.documentNetworks`.',
  invalid_digits: 'Use the keys `0`–`9`, `*`, `#`, `A`–`D`, and `w` or `W` for pauses.',
  bad_stream: 'Correct the URL or the parameters of the stream. See [streams](streams.md).',
  stream_failed:
    'Check the WebSocket server of the stream: it closed the connection, or could not be reached.',
  agents_unavailable: 'Configure an engine in `agents.engines`. See [agents](agents.md).',
  agent_busy:
    'End the agent of the call before the next one starts, or raise `agents.limits.callsPerProject`.',
  agent_failed:
    'Read the log lines `agent.engine-failed` of the call: they name the engine and the cause. A second ' +
    'engine as `fallback` goes on with the conversation.',
  too_many_recordings: 'Stop a recording of the call before the next one starts.',
  too_many_detections: 'Stop a detection of the call before the next one starts.',
  bad_name: 'Use a shorter name, with letters, digits and simple punctuation.',
  conference_failed: report,
  room_failed: report,
  refer_unsupported: 'The far side cannot transfer by itself. Connect the call with `connect` instead.',
  user_event_too_large: 'Send at most 16 kB in one user event.',
  verb_unavailable: 'The kind of the call does not support this command. See [calling](calling.md).',
  no_application:
    'Start an application that subscribes to the topic of the domain or the resource. See ' +
    '[realtime](realtime.md).',
  source_not_allowed:
    'If the caller is yours, add its address to `allow` of the domain. `trunkline route-test ' +
    '--source <address> <SIP URI>` shows each check.',
  unknown_domain:
    'Add the host of the request URI to `domains`, or let the carrier send calls to a host that ' +
    'exists. The log line has the host.',
  no_handler: 'Give the domain application a `handler`.',
  over_call_limit:
    'Raise `maxCalls` of the domain, the carrier or the endpoint, or `limits.calls`. The log line ' +
    'names the limit.',
  number_not_allowed:
    'Add a prefix to `numbers.allow` of the carrier, or remove one from `numbers.refuse`. The log ' +
    'line has the prefix.',
  over_call_rate:
    'Raise `callsPerSecond` of the domain, the carrier or the endpoint. The log line names the limit.',
  over_source_limit: listNetwork,
  over_source_rate: listNetwork,
  over_unconfirmed_limit: listNetwork,
  over_stranger_share: listNetwork,
  overloaded: 'Look at `trunkline_load_percent`. Add a gateway, or avoid transcoding.',
  too_many_hops: 'Look for two addresses or servers that forward the call to each other.',
  too_many_branches: 'Look for an address that connects to itself, or to many addresses that do so.',
  no_common_codec:
    'Add a codec of the offer to `codecs` of the carrier, the domain or the endpoint. The Warning ' +
    'header and the log line list both sides.',
  bad_sdp:
    'Read the reason in the Warning header and in the log line. The far side sent an unusable description.',
  srtp_mismatch:
    'Set `srtp` of the carrier to `optional` or `required`, as the far side does. Keys in SDP need ' +
    'TLS, or `srtpWithoutTls`.',
  interval_too_small: 'Nothing: the far side repeats the request with a longer interval.',
  unknown_dialog: 'The call to replace has ended, or its tags differ. Repeat the transfer.',
  unsupported_body: 'Send `application/sdp`, alone or in `multipart/mixed`.',
  bad_request: correctRequest,
  unsupported_uri: 'Set `domain` of the carrier: its calls to `tel:` URIs go to that domain application.',
  bad_extension: 'Remove the extension from Require at the far side. The log line has its name.',
  no_ports: 'Enlarge `media.rtp.ports`. See [RTP ports](operations.md#rtp-ports).',
  sound_busy: 'Use fewer different long texts at the same time, or a faster speech engine.',
  recording_no_space: 'Free space on the disk, or shorten the retention time of recordings.',
  recording_failed: 'Check space and permissions of the folder of recordings.',
  recording_not_converted:
    'Check that `ffmpeg` with `libx264` is installed, and space in the folder of recordings.',
  recording_in_progress: 'Repeat the request after the recording has ended.',
  unknown_recording: 'Check the id. Recordings are removed after their retention time.',
  interval_too_brief: 'Nothing: the phone repeats the request with a longer expiry.',
  too_many_contacts: 'Register fewer contacts in one request, or raise `sip.registrar.contacts`.',
  no_outbound: 'Switch off “outbound” (RFC 5626) in the phone, or register without a proxy.',
  bad_event: 'Nothing: the phone subscribes to an event that the gateway does not have.',
  method_not_allowed: 'Nothing: the far side sent a request that the gateway does not support.',
  unknown_resource: 'Check the id, and that the token belongs to the project of the object.',
  trace_unavailable:
    'Use the log of drachtio-server or a packet capture, or let the gateway run its own SIP agent.',
  unknown_call: 'Check the id. A call that has ended is in the call records.',
  call_elsewhere: 'Go on with the page that has the call, or dial again.',
  invalid_field: correctRequest,
  address_taken: 'Choose another name, or change the resource that has the address.',
  email_taken: 'Change the existing subscriber instead, or use another e-mail address.',
  username_taken: 'Choose another user name.',
  domain_taken: 'Choose another name for the domain application.',
  name_taken: 'Choose another name.',
  store_unavailable: 'Repeat the request later. The operator checks the disk, or PostgreSQL.',
  over_quota: 'Remove entries that are not needed, or ask the operator for a higher limit.',
  managed_by_file: 'Change the entry in the configuration file, and reload it.',
  insufficient_scope: 'Use a token with the permission that `message` names. See [tokens](tokens.md).',
  too_many_parties: 'Remove the added persons first, or transfer to another call of the page.',
  call_not_in_progress: 'Wait until the call is in the required state, or stop: it may have ended.',
  call_in_progress: 'Repeat the request after the call has ended.',
  idempotency_conflict: 'Use a new `Idempotency-Key` for each different request.',
  unsupported_media_type: 'Send the `Content-Type` that `message` names.',
  not_found: 'Check the path and the method. The [REST API](rest-api.md) lists them.',
  missing_required_parameter: correctRequest,
  unknown_parameter: correctRequest,
  body_too_large: 'Send a shorter body.',
  request_in_progress: 'Wait for the first request. After an interruption, use a new key.',
  unknown_address: 'Check the spelling: addresses have the form `/context/name`.',
  no_carrier:
    'Set `default: true` for the carrier of calls to telephone numbers, or create one over the API.',
  not_permitted:
    'Give the subscriber or endpoint `mayDialOut`, or permit the target in `sip.dialNetworks`. The ' +
    'log line has the check that failed.',
  unauthorized:
    'Check user and password. Applications use the id of the project and an API token; see ' +
    '[tokens](tokens.md).',
  oauth_refused: 'Correct the request as the response says. See [OAuth](oauth.md).',
  over_connection_limit:
    'Close connections that are not needed, or raise the limits in `limits.webSockets` and `http`.',
  origin_refused: 'Add the origin of the page to `http.origins`.',
  bad_user_variables: 'Send a small, flat object as `userVariables`.',
  slow_client:
    'The page or the application was suspended, or its network is too slow. It connects again by itself.',
  too_many_requests: 'Wait for the seconds in `Retry-After`, or raise `limits.api`.',
  room_full: 'Raise the maximum number of members of the room, or wait until a member has left.',
  room_locked: 'Ask a member of the room to unlock it.',
  room_not_open: 'Join between the times that the settings of the room give.',
  room_ended: 'Join the room again: a new session starts.',
  room_elsewhere: 'Send the request to the gateway that has the session.',
  room_member_unknown: 'Read the list of members again: the member may have left.',
  room_layout_unknown:
    'Choose one of the layouts that the room lists. The list changes with its kind of picture.',
  room_position_unknown: 'Use `auto`, `off-canvas`, `playback`, `full-screen`, `standard-N` or `reserved-N`.',
  room_meta_too_large: 'Store less data in the room or the member, for example an id of a record elsewhere.',
  ffmpeg_missing:
    'Install ffmpeg on the machine of the gateway, and start it again. `trunkline check` names the fault.',
  unknown_playback: 'List the playbacks of the room. A playback that has ended cannot be changed.',
  too_many_playbacks: 'Stop the present playback first, or wait for its end.',
  ffmpeg_busy: 'Wait for the end of another playback or stream, or raise `media.rooms.ffmpeg.maxProcesses`.',
  unknown_room_stream: 'List the streams of the room. A stream that has ended cannot be changed.',
  too_many_room_streams: 'End or remove another stream of the room first.',
  room_stream_exists: 'List the streams of the room. Change or remove the other stream first.',
  bad_room_stream_url: 'Give the address of the server with the application and the key of the stream.',
  bad_conference_token:
    'Read the present token at `GET /api/video/conferences/{id}/conference_tokens`, and give it to the page.',
  bad_playback_url: 'Give the http: or https: URL of a file, such as an MP4, a WebM or an MP3.',
}
