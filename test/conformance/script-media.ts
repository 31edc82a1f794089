import { noEffect, rowsOf, type ScriptRow } from './script-rows.ts'

const joinAll = 'takes all that the verb has'
const tells = 'tells status_callback of the events that it names, as a form or a query'
const onTap = 'gives the audio of a direction to an RTP address, in a codec'
const background = 'goes on at once, and is found again by its control_id or as the last'
const detects = 'takes all that the verb has'

const recordParameters = (direction: string, terminators: string, initial: string, end: string) =>
  ({
    format: ['wav', 'takes all that the verb has', 'wav and mp3; mp4 is not there'],
    direction: [direction, 'takes all that the verb has'],
    beep: ['false', 'takes all that the verb has'],
    terminators: [terminators, 'takes all that the verb has'],
    initial_timeout: [initial, 'takes all that the verb has'],
    end_silence_timeout: [end, 'takes all that the verb has'],
    max_length: ['as long as the call', 'takes all that the verb has'],
    input_sensitivity: ['44', 'takes all that the verb has'],
  }) as const

/** Methods for conferences, queues, recordings and streams. */
export const mediaRows: readonly ScriptRow[] = [
  ...rowsOf('join_conference', 'conferencing.test.ts', ['has the defaults of the language'], {
    name: ['needed', 'has the defaults of the language'],
    muted: ['false', joinAll],
    beep: ['true', joinAll],
    start_on_enter: ['true', joinAll],
    end_on_exit: ['false', joinAll],
    wait_url: ['hold music', 'runs the script of wait_url on who waits, on the verbs that end with the wait'],
    max_participants: ['100', joinAll],
    record: ['do-not-record', joinAll],
    trim: ['trim-silence', joinAll],
    coach: ['', joinAll],
    status_callback: ['', 'tells status_callback what happens, as JSON'],
    status_callback_event: ['all', tells, 'modify and announcement never happen'],
    status_callback_event_type: ['relay', tells],
    status_callback_method: ['POST', tells],
    recording_status_callback: ['', 'tells recording_status_callback of the recording'],
    recording_status_callback_method: ['POST', 'tells recording_status_callback of the recording'],
    stream: ['', 'begins its stream when the caller has its place'],
    result: ['', 'runs the branch of result, and none when the call is over'],
    region: ['', 'refuses what it does not know, and warns of what has no effect', noEffect],
    recording_status_callback_event: [
      'completed',
      'tells what recording_status_callback_event names: %s, %j',
    ],
    recording_status_callback_event_type: [
      'cxml',
      'tells of the recording by JSON where recording_status_callback_event_type says so',
    ],
  }),
  ...rowsOf(
    'join_room',
    'rooms.test.ts',
    ['joins the conference of the room', 'audio; video in rooms is not there'],
    { name: ['needed', 'wants a name or an address, also from a variable'] },
  ),
  ...rowsOf('enter_queue', 'conferencing.test.ts', ['waits, and transfers when the caller was served'], {
    queue_name: ['needed', 'waits, and transfers when the caller was served'],
    transfer_after_bridge: ['needed', 'needs to know what comes after'],
    wait_url: ['hold music', 'plays wait_url to who waits'],
    wait_time: ['3600', 'waits, and transfers when the caller was served'],
    status_url: ['', 'tells status_url of the place'],
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
    wait: ['true', 'goes on at once where it does not wait, and sets its variables later'],
    status_url: ['', 'tells status_url of each finding and of the end'],
  }),
  ...rowsOf('record', 'recording.test.ts', ['has the defaults of the language'], {
    ...recordParameters('speak', '#', '4', '5'),
    stereo: ['false', 'in stereo has both sides, and contradicts any one'],
    status_url: ['', 'tells status_url that it records, and what came of it'],
  }),
  ...rowsOf(
    'record_call',
    'recording.test.ts',
    ['goes on at once, and is found again by its name or as the last'],
    {
      ...recordParameters('both', 'none', '0', '0'),
      control_id: [
        'a new one',
        'cannot have the name of one that is under way, and none can be stopped that is not',
      ],
      stereo: ['false', 'goes on at once, and is found again by its name or as the last'],
      status_url: ['', 'tells status_url of its beginning and its end'],
    },
  ),
  ...rowsOf('stop_record_call', 'recording.test.ts', ['sets its variables'], {
    control_id: ['the last', 'goes on at once, and is found again by its name or as the last'],
  }),
  ...rowsOf('tap', 'streaming.test.ts', [onTap], {
    uri: ['needed', onTap],
    control_id: ['a new one', 'sets its variables'],
    direction: ['speak', onTap],
    codec: ['PCMU', onTap],
    rtp_ptime: ['20', onTap],
    status_url: ['', 'tells status_url'],
  }),
  ...rowsOf('stop_tap', 'streaming.test.ts', ['sets its variables'], {
    control_id: ['the last', 'sets its variables'],
  }),
  ...rowsOf('stream', 'streaming.test.ts', ['takes all that the verb has'], {
    url: ['needed', 'takes all that the verb has'],
    control_id: ['a new one', background],
    name: ['', 'takes all that the verb has'],
    track: ['inbound_track', 'takes all that the verb has'],
    codec: ['PCMU', 'takes all that the verb has'],
    authorization_bearer_token: ['', 'takes all that the verb has'],
    custom_parameters: ['', 'takes all that the verb has'],
    status_url: ['', 'tells status_url by GET where it says so, and why it failed'],
    status_url_method: ['POST', 'tells status_url by GET where it says so, and why it failed'],
  }),
  ...rowsOf('stop_stream', 'streaming.test.ts', [background], { control_id: ['the last', background] }),
]
