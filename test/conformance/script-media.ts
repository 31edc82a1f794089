import { noEffect, rowsOf, type ScriptRow } from './script-rows.ts'

const joinAll = 'passes every parameter to the verb'
const tells = 'sends status_callback the requested events as a form or a query'
const onTap = 'sends the audio of a direction to an RTP address in a codec'
const background = 'continues at once, and is stopped by its control_id or as the last'
const detects = 'passes every parameter to the verb'

const recordParameters = (direction: string, terminators: string, initial: string, end: string) =>
  ({
    format: ['wav', 'passes every parameter to the verb', 'wav and mp3, not mp4'],
    direction: [direction, 'passes every parameter to the verb'],
    beep: ['false', 'passes every parameter to the verb'],
    terminators: [terminators, 'passes every parameter to the verb'],
    initial_timeout: [initial, 'passes every parameter to the verb'],
    end_silence_timeout: [end, 'passes every parameter to the verb'],
    max_length: ['as long as the call', 'passes every parameter to the verb'],
    input_sensitivity: ['44', 'passes every parameter to the verb'],
  }) as const

/** Methods for conferences, queues, recordings and streams. */
export const mediaRows: readonly ScriptRow[] = [
  ...rowsOf('join_conference', 'conferencing.test.ts', ['has the defaults of the language'], {
    name: ['needed', 'has the defaults of the language'],
    muted: ['false', joinAll],
    beep: ['true', joinAll],
    start_on_enter: ['true', joinAll],
    end_on_exit: ['false', joinAll],
    wait_url: ['hold music', 'runs the script of wait_url for the waiting caller, until the wait ends'],
    max_participants: ['100', joinAll],
    record: ['do-not-record', joinAll],
    trim: ['trim-silence', joinAll],
    coach: ['', joinAll],
    status_callback: ['', 'sends events to status_callback as JSON'],
    status_callback_event: ['all', tells, 'done; modify and announcement never occur'],
    status_callback_event_type: ['relay', tells],
    status_callback_method: ['POST', tells],
    recording_status_callback: ['', 'sends the state of the recording to recording_status_callback'],
    recording_status_callback_method: [
      'POST',
      'sends the state of the recording to recording_status_callback',
    ],
    stream: ['', 'starts its stream when the caller has joined'],
    result: ['', 'runs the branch of result, but none after the call has ended'],
    region: ['', 'rejects invalid values, and warns of parameters without an effect', noEffect],
    recording_status_callback_event: [
      'completed',
      'sends the events that recording_status_callback_event names: %s, %j',
    ],
    recording_status_callback_event_type: [
      'cxml',
      'sends the recording as JSON if recording_status_callback_event_type says so',
    ],
  }),
  ...rowsOf('join_room', 'rooms.test.ts', ['makes the caller a member of the room'], {
    name: ['needed', 'requires a name or an address, also from a variable'],
  }),
  ...rowsOf('enter_queue', 'conferencing.test.ts', ['waits, and transfers after the caller was served'], {
    queue_name: ['needed', 'waits, and transfers after the caller was served'],
    transfer_after_bridge: ['needed', 'requires transfer_after_bridge'],
    wait_url: ['hold music', 'plays wait_url to the waiting caller'],
    wait_time: ['3600', 'waits, and transfers after the caller was served'],
    status_url: ['', 'sends the position to status_url'],
  }),
  ...rowsOf('detect_machine', 'detecting.test.ts', ['has the defaults of the language'], {
    detectors: ['amd,fax', detects],
    detect_message_end: ['false', detects],
    initial_timeout: ['4.5', detects],
    end_silence_timeout: ['1', detects],
    machine_ready_timeout: ['as end_silence_timeout', detects],
    machine_voice_threshold: ['1.25', detects],
    machine_words_threshold: ['6', detects],
    timeout: ['30', detects],
    tone: ['CED', detects],
    wait: ['true', 'continues at once without wait, and sets its variables later'],
    status_url: ['', 'sends each finding and the end to status_url'],
  }),
  ...rowsOf('record', 'recording.test.ts', ['has the defaults of the language'], {
    ...recordParameters('speak', '#', '4', '5'),
    stereo: ['false', 'in stereo has both sides, and conflicts with a single direction'],
    status_url: ['', 'sends the start and the result to status_url'],
  }),
  ...rowsOf(
    'record_call',
    'recording.test.ts',
    ['continues at once, and is stopped by its control_id or as the last'],
    {
      ...recordParameters('both', 'none', '0', '0'),
      control_id: ['a new id', 'rejects the control_id of an active recording, and the stop of an ended one'],
      stereo: ['false', 'continues at once, and is stopped by its control_id or as the last'],
      status_url: ['', 'sends its start and its end to status_url'],
    },
  ),
  ...rowsOf('stop_record_call', 'recording.test.ts', ['sets its variables'], {
    control_id: ['the most recent one', 'continues at once, and is stopped by its control_id or as the last'],
  }),
  ...rowsOf('tap', 'streaming.test.ts', [onTap], {
    uri: ['needed', onTap],
    control_id: ['a new id', 'sets its variables'],
    direction: ['speak', onTap],
    codec: ['PCMU', onTap],
    rtp_ptime: ['20', onTap],
    status_url: ['', 'sends its state to status_url'],
  }),
  ...rowsOf('stop_tap', 'streaming.test.ts', ['sets its variables'], {
    control_id: ['the most recent one', 'sets its variables'],
  }),
  ...rowsOf('stream', 'streaming.test.ts', ['passes every parameter to the verb'], {
    url: ['needed', 'passes every parameter to the verb'],
    control_id: ['a new id', background],
    name: ['', 'passes every parameter to the verb'],
    track: ['inbound_track', 'passes every parameter to the verb'],
    codec: ['PCMU', 'passes every parameter to the verb'],
    authorization_bearer_token: ['', 'passes every parameter to the verb'],
    custom_parameters: ['', 'passes every parameter to the verb'],
    status_url: ['', 'sends its state to status_url, by GET if requested, with the reason of a failure'],
    status_url_method: [
      'POST',
      'sends its state to status_url, by GET if requested, with the reason of a failure',
    ],
  }),
  ...rowsOf('stop_stream', 'streaming.test.ts', [background], {
    control_id: ['the most recent one', background],
  }),
]
